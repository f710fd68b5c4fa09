/*
 * options.c -- reads a command line by getopt_long, with options made from our tables; and prints
 * help from the same tables. Names of options are never abbreviated.
 */
#include "options/options.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/letters.h"
#include "base/nearest.h"
#include "base/numbers.h"
#include "base/quantity.h"
#include "base/screen.h"
#include "render/render.h"

enum { MOST_OPTIONS = 32, LONG_ONLY = 256 };

static const struct bsv_option common[] = {
	{ .name = "quiet", .letter = 'q', .says = "print errors only", .offset = offsetof(struct bsv_common, quiet) },
	{ .name = "verbose", .letter = 'v', .says = "print more", .offset = offsetof(struct bsv_common, verbose) },
	{ .name = "help", .letter = 'h', .says = "print this text", .offset = offsetof(struct bsv_common, help) },
	{ .name = NULL },
};

static const char *const colors[] = { "auto", "always", "never", NULL };

/* Options that many commands share; the asks of a command have its choice of them. */
static const struct {
	unsigned asks;
	struct bsv_option option;
} shared[] = {
	{ BSV_ASK_WHERE,
	  { .name = "where",
	    .kind = BSV_TEXT,
	    .argument = "EXPR",
	    .says = "only executions for which this holds, in SQL: \"app = 'camera' AND NOT cold\"",
	    .offset = offsetof(struct bsv_asked, where) } },
	{ BSV_ASK_WHEN,
	  { .name = "from",
	    .kind = BSV_DURATION,
	    .argument = "TIME",
	    .says = "only what began at this time or later, counted from the first event: 1.5s",
	    .offset = offsetof(struct bsv_asked, from) } },
	{ BSV_ASK_WHEN,
	  { .name = "to",
	    .kind = BSV_DURATION,
	    .argument = "TIME",
	    .says = "only what began before this time",
	    .offset = offsetof(struct bsv_asked, to) } },
	{ BSV_ASK_LIMIT,
	  { .name = "limit",
	    .kind = BSV_NUMBER,
	    .argument = "N",
	    .says = "print at most this many rows of each table, and how many more there are",
	    .offset = offsetof(struct bsv_asked, limit),
	    .least = 1,
	    .most = 1000000000 } },
	{ BSV_ASK_VERDICT,
	  { .name = "verdict",
	    .says = "exit with 1 if the verdict is fail, with 3 if it is cannot tell",
	    .offset = offsetof(struct bsv_asked, verdict) } },
	{ BSV_ASK_FORMAT,
	  { .name = "format",
	    .kind = BSV_CHOICE,
	    .argument = "table|json|csv",
	    .says = "for people, or for programs",
	    .offset = offsetof(struct bsv_asked, format),
	    .choices = bsv_formats } },
	{ BSV_ASK_FORMAT,
	  { .name = "csv-safe",
	    .says = "in CSV, put a ' before texts that spreadsheets take for formulas",
	    .offset = offsetof(struct bsv_asked, csv_safe) } },
	{ BSV_ASK_FORMAT,
	  { .name = "part",
	    .kind = BSV_TEXT,
	    .argument = "NAME",
	    .says = "only this part of the answer",
	    .offset = offsetof(struct bsv_asked, part) } },
	{ BSV_ASK_FORMAT,
	  { .name = "show-sql",
	    .says = "print the queries behind the answer, and not the answer",
	    .offset = offsetof(struct bsv_asked, show_sql) } },
	{ BSV_ASK_FORMAT,
	  { .name = "color",
	    .kind = BSV_CHOICE,
	    .argument = "auto|always|never",
	    .says = "whether to use colours",
	    .offset = offsetof(struct bsv_asked, color),
	    .choices = colors } },
	{ BSV_ASK_FORMAT,
	  { .name = "no-pager", .says = "do not start a pager", .offset = offsetof(struct bsv_asked, no_pager) } },
};

enum { N_SHARED = sizeof(shared) / sizeof(*shared) };

/* The options of a command, in the form that getopt needs. */
struct table {
	struct option longs[MOST_OPTIONS + 1];
	char shorts[2 * MOST_OPTIONS + 2];
	const struct bsv_option *of[MOST_OPTIONS];
	void *base[MOST_OPTIONS];
	int n;
};

static void table_add(struct table *t, const struct bsv_option *o, void *base)
{
	bool takes = o->kind != BSV_SWITCH;

	assert(t->n < MOST_OPTIONS);
	t->longs[t->n] = (struct option){ o->name, takes, NULL, LONG_ONLY + t->n };
	if (o->letter) {
		size_t end = strlen(t->shorts);

		t->shorts[end] = o->letter;
		t->shorts[end + 1] = takes ? ':' : 0;
	}
	t->of[t->n] = o;
	t->base[t->n++] = base;
}

/* Add all options of @command. Values are stored in @own and @to. */
static void table_fill(struct table *t, const struct bsv_command *command, void *own, struct bsv_call *to)
{
	for (const struct bsv_option *o = command->options; o && o->name; o++)
		table_add(t, o, own);
	for (size_t i = 0; i < N_SHARED; i++) {
		/* A command may have an option of its own under the name of a shared one. */
		const struct bsv_option *same = command->options;

		while (same && same->name && strcmp(same->name, shared[i].option.name))
			same++;
		if (command->asks & shared[i].asks && !(same && same->name))
			table_add(t, &shared[i].option, &to->asked);
	}
	for (const struct bsv_option *o = common; o->name; o++)
		table_add(t, o, &to->common);
}

/* The index of the option for which getopt returned @c. */
static int table_index(const struct table *t, int c)
{
	if (c >= LONG_ONLY)
		return c - LONG_ONLY;
	for (int i = 0; i < t->n; i++)
		if (t->of[i]->letter == c)
			return i;
	return -1;
}

/* @what and @such_as are for the error: "'5x' is not a time; write 1.5s". */
static int read_quantity(const struct bsv_option *o, const char *text, bool (*read)(const char *text, int64_t *ret),
                         const char *what, const char *such_as, struct bsv_quantity *ret, struct bsa_err *err)
{
	size_t number = strspn(text, "0123456789.");

	ret->given = read(text, &ret->value);
	/* A number of minutes, or of milliseconds? */
	if (!ret->given && read == bsv_duration_read && number && !strcmp(text + number, "m"))
		return bsa_fail(err, BSA_E_USAGE, "--%s: '%s' is not a time; write %sin or %ss", o->name, text, text,
		                text);
	if (!ret->given)
		return bsa_fail(err, BSA_E_USAGE, "--%s: '%s' is not a %s; write %s", o->name, text, what, such_as);
	return 0;
}

static int read_choice(const struct bsv_option *o, const char *text, int *ret, struct bsa_err *err)
{
	const char *nearest;
	char words[256] = "";
	size_t n = 0, used = 0;

	for (; o->choices[n]; n++)
		if (!strcmp(text, o->choices[n])) {
			*ret = (int)n;
			return 0;
		}
	nearest = bsv_nearest(text, o->choices, n, sizeof(*o->choices));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "--%s: no '%s'; did you mean '%s'?", o->name, text, nearest);
	if (strchr(o->argument, '|'))
		return bsa_fail(err, BSA_E_USAGE, "--%s: no '%s'; write %s", o->name, text, o->argument);
	for (size_t i = 0; i < n; i++) /* the usage has a word for them, because they are many */
		used += (size_t)snprintf(words + used, used < sizeof(words) ? sizeof(words) - used : 0, "%s%s",
		                         i ? ", " : "", o->choices[i]);
	return bsa_fail(err, BSA_E_USAGE, "--%s: no '%s'; there are %s", o->name, text, words);
}

static int option_set(const struct bsv_option *o, void *base, const char *text, struct bsa_err *err)
{
	void *to = (char *)base + o->offset;
	struct bsv_texts *texts = to;
	unsigned long value;
	char *end;

	switch (o->kind) {
	case BSV_SWITCH:
		*(bool *)to = true;
		return 0;
	case BSV_TEXT:
		*(const char **)to = text;
		return 0;
	case BSV_TEXTS:
		if (texts->n == BSV_TEXTS_MOST)
			return bsa_fail(err, BSA_E_USAGE, "--%s: at most %d times", o->name, BSV_TEXTS_MOST);
		texts->of[texts->n++] = text;
		return 0;
	case BSV_NUMBER:
		errno = 0;
		value = strtoul(text, &end, 10);
		if (errno || *text < '0' || *text > '9' || *end || value < o->least || value > o->most)
			return bsa_fail(err, BSA_E_USAGE, "--%s: '%s' is not a number from %u to %u", o->name, text,
			                o->least, o->most);
		*(unsigned *)to = (unsigned)value;
		return 0;
	case BSV_CHOICE:
		return read_choice(o, text, to, err);
	case BSV_DURATION:
		return read_quantity(o, text, bsv_duration_read, "time", BSV_DURATIONS_SUCH_AS, to, err);
	case BSV_SIZE:
		return read_quantity(o, text, bsv_size_read, "size", BSV_SIZES_SUCH_AS, to, err);
	}
	return 0;
}

/*
 * A command may have a choice of its own under the name of a shared option that takes a duration:
 * an argument that begins like a number is then meant for the shared option. NULL: it is not.
 */
static const struct bsv_option *meant_for_shared(const struct bsv_command *command, const struct bsv_option *o,
                                                 const char *text)
{
	if (o->kind != BSV_CHOICE || !text || !*text || !strchr("0123456789.-+", *text))
		return NULL;
	for (size_t i = 0; i < N_SHARED; i++)
		if (command->asks & shared[i].asks && shared[i].option.kind == BSV_DURATION &&
		    !strcmp(o->name, shared[i].option.name))
			return &shared[i].option;
	return NULL;
}

/* getopt refused @word: find out why. */
static int option_refused(const struct table *t, const char *command, const char *word, int letter, struct bsa_err *err)
{
	int i = letter ? table_index(t, letter) : -1;
	const char *nearest;
	char name[64];

	if (i >= 0 && t->of[i]->kind != BSV_SWITCH)
		return bsa_fail(err, BSA_E_USAGE, "--%s: %s is missing", t->of[i]->name, t->of[i]->argument);
	if (i >= 0)
		return bsa_fail(err, BSA_E_USAGE, "--%s takes no argument", t->of[i]->name);
	if (letter)
		return bsa_fail(err, BSA_E_USAGE, "no option '-%c'; see burstscope %s --help", letter, command);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (i = 0; i < t->n; i++)
		if (t->of[i]->meant_by && !strcmp(t->of[i]->meant_by, name))
			return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; did you mean '--%s'?", name,
			                t->of[i]->name);
	if (!strcmp(name, "app") || !strcmp(name, "model")) /* of other commands; here a condition */
		for (i = 0; i < t->n; i++)
			if (!strcmp(t->of[i]->name, "where"))
				return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; write --where \"%s = 'NAME'\"",
				                name, name);
	nearest = bsv_nearest(name, &t->longs[0].name, (size_t)t->n, sizeof(t->longs[0]));
	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; did you mean '--%s'?", name, nearest);
	return bsa_fail(err, BSA_E_USAGE, "no option '--%s'; see burstscope %s --help", name, command);
}

static void free_words(char ***words)
{
	free(*words);
}

bool bsv_options_has_part(const struct bsv_command *command, const char *part)
{
	size_t i = 0;

	while (command->parts[i] && strcmp(command->parts[i], part))
		i++;
	return command->parts[i];
}

int bsv_options_no_part(const char *part, const char *const *names, size_t n, size_t stride, struct bsa_err *err)
{
	const char *nearest = bsv_nearest(part, names, n, stride);
	char there[256] = "";
	size_t used = 0;

	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "--part: no '%s'; did you mean '%s'?", part, nearest);
	for (size_t i = 0; i < n && used < sizeof(there); i++)
		used += (size_t)snprintf(there + used, sizeof(there) - used, "%s%s", i ? ", " : "",
		                         *(const char *const *)((const char *)names + i * stride));
	return bsa_fail(err, BSA_E_USAGE, "--part: no '%s'; there are %s", part, there);
}

/* What can be judged of the shared options before a recording is opened, which may take an import. */
static int check_shared(const struct bsv_call *call, struct bsa_err *err)
{
	const struct bsv_quantity *from = &call->asked.from, *to = &call->asked.to;
	char a[BSV_DURATION_TEXT], b[BSV_DURATION_TEXT];
	size_t n = 0;

	if (from->given && to->given && from->value >= to->value)
		return bsa_fail(err, BSA_E_USAGE, "--from %s is not before --to %s", bsv_duration(a, from->value),
		                bsv_duration(b, to->value));
	if (to->given && !to->value)
		return bsa_fail(err, BSA_E_USAGE, "--to 0: nothing begins before the recording");
	if (call->asked.where && !call->asked.where[strspn(call->asked.where, " \t\n")])
		return bsa_fail(err, BSA_E_USAGE,
		                "--where is empty; write a condition, as in --where \"app = 'camera'\"");
	if (!call->asked.part || bsv_options_has_part(call->command, call->asked.part))
		return 0;
	while (call->command->parts[n])
		n++;
	return bsv_options_no_part(call->asked.part, call->command->parts, n, sizeof(*call->command->parts), err);
}

int bsv_options_read(const struct bsv_command *command, int argc, char **argv, void *own, struct bsv_call *ret,
                     struct bsa_err *err)
{
	struct table t = { .shorts = ":" };
	__attribute__((cleanup(free_words))) char **before = malloc(((size_t)argc + 1) * sizeof(*before));
	const char *dashes;
	int c, r, at = 1;

	assert(command->options_size <= BSV_OPTIONS_MAX);
	memset(own, 0, command->options_size);
	*ret = (struct bsv_call){ .command = command, .options = own };
	if (!before)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	table_fill(&t, command, own, ret);
	/* SQL may begin with a comment, "-- purpose", which is not an option. */
	for (int i = 1; i < argc; i++)
		while (!strncmp(argv[i], "-- ", 3) && strchr(argv[i], '\n'))
			argv[i] = strchr(argv[i], '\n') + 1;
	memcpy(before, argv, (size_t)argc * sizeof(*before));
	optind = 0; /* restart getopt, which may have been used before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, t.shorts, t.longs, NULL)) >= 0) {
		const struct bsv_option *other;
		const bool refused = c == '?' || c == ':';
		const char *word = argv[optind - 1 - (!refused && optarg == argv[optind - 1])];
		int i = table_index(&t, refused ? optopt : c);

		/*
		 * getopt takes the beginning of a name for the name, until another option begins like that: a script
		 * that relies on it fails with a later version.
		 */
		if (i >= 0 && (refused ? optopt : c) >= LONG_ONLY && strcspn(word + 2, "=") < strlen(t.of[i]->name))
			return bsa_fail(err, BSA_E_USAGE, "no option '--%.*s'; did you mean '--%s'?",
			                (int)strcspn(word + 2, "="), word + 2, t.of[i]->name);
		if (refused)
			return option_refused(&t, command->name, word, optopt, err);
		assert(i >= 0);
		other = meant_for_shared(command, t.of[i], optarg);
		r = other ? option_set(other, &ret->asked, optarg, err) : option_set(t.of[i], t.base[i], optarg, err);
		if (r < 0)
			return r;
	}
	ret->operands = (const char *const *)argv + optind;
	ret->n_operands = (size_t)(argc - optind);
	ret->n_before = ret->n_operands;

	/*
	 * A `--` ends getopt's work: find the word at which getopt stopped in the original line,
	 * because getopt reorders the words.
	 */
	dashes = argv[optind - 1];
	while (at < argc && before[at] != dashes)
		at++;
	if (at < argc && !strcmp(dashes, "--"))
		ret->n_before -= (size_t)(argc - at - 1);
	if (ret->common.help)
		return 0;
	if (ret->n_operands < command->min)
		return bsa_fail(err, BSA_E_USAGE, "expected %s; see burstscope %s --help", command->operands,
		                command->name);
	if (ret->n_operands > command->max)
		return bsa_fail(err, BSA_E_USAGE, "unexpected operand '%s'; see burstscope %s --help",
		                ret->operands[command->max], command->name);
	return check_shared(ret, err);
}

void bsv_options_each(const struct bsv_command *command, void (*take)(void *ctx, const struct bsv_option *o), void *ctx)
{
	struct table t = { .shorts = "" };
	struct bsv_call call;

	table_fill(&t, command, NULL, &call);
	for (int i = 0; i < t.n; i++)
		take(ctx, t.of[i]);
}

enum { LEFT_MAX = 80, LEFT_USUAL = 30, USUAL_COLUMNS = 80 };

/* "-o, --output DB" */
static int left_of(const struct bsv_option *o, char to[LEFT_MAX])
{
	char letter[8] = "";

	if (o->letter)
		snprintf(letter, sizeof(letter), "-%c, ", o->letter);
	return snprintf(to, LEFT_MAX, "%s--%s%s%s", letter, o->name, o->argument ? " " : "",
	                o->argument ? o->argument : "");
}

/* A position in a command line, as a shell reads it: inside which quotes, or outside. */
struct shell_place {
	char quote;
	bool blank; /* after a blank outside of quotes, or at the beginning */
};

static void shell_place_pass(struct shell_place *p, char c)
{
	if (p->quote)
		p->quote = c == p->quote ? 0 : p->quote;
	else if (c == '\'' || c == '"')
		p->quote = c;
	p->blank = !p->quote && c == ' ';
}

/*
 * Where to break the @n letters of the command line at @s: at the last blank before @room that is
 * not quoted, as a shell sees it. 0: nowhere.
 */
static size_t command_break(const char *s, size_t n, size_t room)
{
	struct shell_place place = { .blank = true };
	size_t ret = 0;

	for (size_t i = 0; i < n && i <= room; i++) {
		bool word_ends = i && !place.blank;

		shell_place_pass(&place, s[i]);
		if (place.blank && word_ends)
			ret = i;
	}
	return ret;
}

/*
 * Print the examples, so that they can be copied: a command that is too long goes on behind a
 * backslash, and its comment is below it.
 */
static void examples_print(const char *s, size_t width)
{
	static const char indent[] = "      ", continued[] = " \\", hash[] = "# ";
	const size_t taken = strlen(indent) + strlen(hash);
	const int room = width > 2 * taken ? (int)(width - taken) : (int)taken;

	for (const char *end; *s; s = end + (*end == '\n')) {
		struct shell_place place = { .blank = true };
		const char *comment = s;
		size_t length, used = 0, at;

		end = s + strcspn(s, "\n");
		if ((size_t)(end - s) <= width) {
			printf("%.*s\n", (int)(end - s), s);
			continue;
		}

		/* the command ends before its comment, and before the blanks between them */
		while (comment < end && !(place.blank && *comment == '#'))
			shell_place_pass(&place, *comment++);
		for (length = (size_t)(comment - s); length && s[length - 1] == ' ';)
			length--;
		while (used + length > width && (at = command_break(s, length, width - used - strlen(continued))) > 0) {
			printf("%.*s%s\n%s", (int)at, s, continued, indent);
			used = strlen(indent);
			s += at + 1;
			length -= at + 1;
		}
		printf("%.*s\n", (int)length, s);

		/* A backslash would not continue a comment, so each of its lines begins with a #. */
		for (s = comment + strspn(comment, "# "); *s && *s != '\n'; s += strspn(s, " ")) {
			size_t n = bsv_line(s, room);

			printf("%s%s%.*s\n", indent, hash, (int)n, s);
			s += n;
		}
	}
}

struct bsv_screen bsv_options_screen(void)
{
	struct bsv_screen ret = bsv_screen_get(BSV_COLOR_NEVER);

	if (!ret.width)
		ret.width = USUAL_COLUMNS;
	return ret;
}

void bsv_options_help(const struct bsv_command *command)
{
	const struct bsv_screen screen = bsv_options_screen();
	struct table t = { .shorts = "" };
	struct bsv_call call;
	char left[LEFT_MAX];
	int widest = 0;

	table_fill(&t, command, NULL, &call);
	printf("burstscope %s -- ", command->name);
	bsv_print_painted(stdout, &screen, BSV_PLAIN, "", command->says,
	                  (int)strlen("burstscope  -- ") + (int)strlen(command->name), 2);
	putchar('\n');
	examples_print(command->examples, (size_t)screen.width);
	printf("\nusage: burstscope %s ", command->name);
	bsv_print_painted(stdout, &screen, BSV_PLAIN, "[OPTION...] ", command->operands,
	                  (int)strlen("usage: burstscope  ") + (int)strlen(command->name), 7);
	putchar('\n');
	for (int i = 0; i < t.n; i++) {
		int width = left_of(t.of[i], left);

		widest = width > widest && width <= LEFT_USUAL ? width : widest;
	}
	for (int i = 0; i < t.n; i++) {
		if (left_of(t.of[i], left) > widest)
			printf("  %s\n%*s", left, widest + 4, "");
		else
			printf("  %-*s  ", widest, left);
		bsv_print_painted(stdout, &screen, BSV_PLAIN, "", t.of[i]->says, widest + 4, widest + 4);
	}
	if (command->more) {
		putchar('\n');
		for (const char *s = command->more; *s;) {
			size_t n = strcspn(s, "\n");
			char *line = strndup(s, n);

			bsv_print_wrapped(stdout, &screen, BSV_PLAIN, line ? line : "", 0);
			free(line);
			s += n + (s[n] == '\n');
		}
	}
}
