/* export.c -- burstscope export: rows for other tools, as many as there are, into a file that is whole or not there. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/answer.h"
#include "answer/scoped.h"
#include "answer/template.h"
#include "command.h"
#include "input/relations.h"
#include "render/render.h"

static const char *const formats[] = { "json", "csv", NULL };

struct options {
	int format;
	bool csv_safe;
	const char *relation, *output;
};

static const struct bsv_option options[] = {
	{ .name = "format",
	  .kind = BSV_CHOICE,
	  .argument = "json|csv",
	  .says = "what the other tool reads",
	  .offset = offsetof(struct options, format),
	  .choices = formats },
	{ .name = "csv-safe",
	  .says = "in CSV, put a ' before texts that spreadsheets take for formulas",
	  .offset = offsetof(struct options, csv_safe) },
	{ .name = "relation",
	  .kind = BSV_TEXT,
	  .argument = "TABLE",
	  .says = "its rows; otherwise executions, with the names of app and model",
	  .offset = offsetof(struct options, relation) },
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "FILE",
	  .says = "written when it is whole; otherwise the standard output",
	  .offset = offsetof(struct options, output) },
	{ .name = NULL },
};

/* ---- what ---- */

/* Owned by the caller. */
static char *query(const struct bsv_input *input, const char *relation)
{
	if (!relation || !strcmp(relation, "execution"))
		return bsv_text("%sSELECT * FROM picked ORDER BY id", input->with);
	if (input->picks)
		return bsv_text("%sSELECT * FROM %s WHERE execution_id IN (SELECT id FROM picked)", input->with,
		                relation);
	return bsv_text("SELECT * FROM %s", relation);
}

static int check(const struct bsv_input *input, const char *relation, struct bsa_err *err)
{
	int r = relation ? bsv_relation_check(input->db, relation, err) : 0;

	if (r < 0 || !relation || !input->picks || !strcmp(relation, "execution") ||
	    bsv_relation_has(input->db, relation, "execution_id"))
		return r;
	return bsa_fail(err, BSA_E_USAGE,
	                "--where, --from and --to choose executions, and a row of %s does not say of which one it is",
	                relation);
}

/* ---- where to ---- */

/* A file that becomes @name when it is whole. */
struct output {
	FILE *to;
	char path[PATH_MAX];
};

static char unfinished[PATH_MAX]; /* for who stops us */

static void stopped(int number)
{
	unlink(unfinished);
	raise(number); /* which ends us when this is over: SA_RESETHAND */
}

/* Whoever stops us leaves no half of a file behind. */
static void watch(const char *path)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction way = { .sa_handler = stopped, .sa_flags = SA_RESETHAND }, before;

	snprintf(unfinished, sizeof(unfinished), "%s", path);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &way, NULL);
}

static void output_fini(struct output *o)
{
	if (o->to)
		fclose(o->to);
	if (*o->path)
		unlink(o->path);
}

static int output_open(struct output *o, const char *name, struct bsa_err *err)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (snprintf(o->path, sizeof(o->path), "%s.XXXXXX", name) >= (int)sizeof(o->path)) {
		*o->path = 0;
		return bsa_fail(err, BSA_E_USAGE, "-o: too long a name");
	}
	fd = mkstemp(o->path);
	if (fd < 0) {
		*o->path = 0;
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	}
	watch(o->path);
	fchmod(fd, 0666 & ~mask);
	o->to = fdopen(fd, "w");
	if (!o->to)
		close(fd);
	return o->to ? 0 : bsv_no_memory(err);
}

static int output_done(struct output *o, const char *name, struct bsa_err *err)
{
	bool fine = !fflush(o->to) && !ferror(o->to) && !fsync(fileno(o->to));

	fine = !fclose(o->to) && fine;
	o->to = NULL;
	if (!fine || rename(o->path, name))
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	*o->path = 0;
	return 0;
}

/* A device or a pipe is written as it is. */
static bool is_special(const char *name)
{
	struct stat st;

	return !stat(name, &st) && !S_ISREG(st.st_mode);
}

static bool is_same(const char *a, const char *b)
{
	struct stat as, bs;

	return !stat(a, &as) && !stat(b, &bs) && as.st_dev == bs.st_dev && as.st_ino == bs.st_ino;
}

static int print(struct bsv_answer *a, const char *name, struct bsa_err *err)
{
	__attribute__((cleanup(output_fini))) struct output o = { 0 };
	int r = 0;

	if (!name)
		return bsv_answer_print(a, false, err);
	if (is_special(name)) {
		o.to = fopen(name, "we");
		if (!o.to)
			return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	} else {
		r = output_open(&o, name, err);
	}
	if (r >= 0) {
		bsv_answer_to(a, o.to);
		r = bsv_answer_print(a, false, err);
	}
	if (r >= 0 && *o.path)
		r = output_done(&o, name, err);
	else if (r >= 0 && (fflush(o.to) || ferror(o.to)))
		r = bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	return r;
}

static int run(const struct bsv_call *call, struct bsa_err *err)
{
	static const int forms[] = { BSV_JSON, BSV_CSV };
	const struct options *o = call->options;
	bsv_scoped_input input = { 0 };
	bsv_scoped_answer *a = NULL;
	struct bsv_call as = *call;
	int r = bsv_input_open(&input, call->operands[0], call, err);

	if (r >= 0)
		r = check(&input, o->relation, err);
	if (r >= 0 && o->output && is_same(o->output, input.path))
		r = bsa_fail(err, BSA_E_USAGE, "-o %s would replace what is to be exported", o->output);
	if (r < 0)
		return r;
	as.asked.format = forms[o->format];
	as.asked.csv_safe = o->csv_safe;
	a = bsv_answer_new(&as, &input);
	bsv_answer_sql(a, o->relation ? o->relation : "execution", NULL, query(&input, o->relation));
	return print(a, o->output, err);
}

const struct bsv_command bsv_export = {
	.name = "export",
	.operands = "[INPUT]",
	.says = "write rows for other tools: JSON or CSV",
	.examples = "  burstscope export --format csv -o executions.csv bursts.db\n"
		    "  burstscope export --relation wait --where \"miss IS NOT NULL\" | jq .rows[0]\n",
	.more = "Times and durations are in ns. -o writes FILE whole or not at all.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.max = 1,
	.asks = BSV_ASK_WHERE | BSV_ASK_WHEN | BSV_ASK_ANY | BSV_ASK_LIMIT,
	.run = run,
};
