/* checks.c -- counts rows, prints a line for each check, and writes JUnit's XML. */
#include "conformance/validate/checks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "options/narrow.h"

enum { SHOWN = 3, TEXT = 512 }; /* number of failed rows of a check that are printed in full */

struct check {
	char *suite, *rule, *name;
	unsigned rows, failed;
	bool skipped;
	char texts[SHOWN][TEXT]; /* texts of the first failed rows, or the reason for skipping */
};

struct checks {
	char *only;
	bool quiet;
	struct check *all;
	size_t n, room;
};

int checks_new(struct checks **ret, const char *only, bool quiet)
{
	struct checks *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->quiet = quiet;
	c->only = only ? strdup(only) : NULL;
	if (only && !c->only) {
		free(c);
		return -ENOMEM;
	}
	*ret = c;
	return 0;
}

void checks_free(struct checks *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->n; i++) {
		free(c->all[i].suite);
		free(c->all[i].rule);
		free(c->all[i].name);
	}
	free(c->all);
	free(c->only);
	free(c);
}

bool checks_wants(const struct checks *c, const char *suite, const char *rule)
{
	return !c->only || !strcmp(c->only, suite) || !strcmp(c->only, rule);
}

/* Abort if memory is out: a validation that cannot count its rows has no meaning. */
static void *or_abort(void *p)
{
	if (!p) {
		fputs("nnburst-conformance: no memory\n", stderr);
		abort();
	}
	return p;
}

void checks_begin(struct checks *c, const char *suite, const char *rule, const char *name)
{
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		c->all = or_abort(realloc(c->all, c->room * sizeof(*c->all)));
	}
	c->all[c->n++] = (struct check){ .suite = or_abort(strdup(suite)),
		                         .rule = or_abort(strdup(rule)),
		                         .name = or_abort(strdup(name)) };
}

static struct check *current_check(struct checks *c)
{
	return &c->all[c->n - 1];
}

bool checks_row(struct checks *c, bool good, const char *format, ...)
{
	struct check *now = current_check(c);
	va_list args;

	now->rows++;
	if (good)
		return true;
	if (now->failed < SHOWN) {
		va_start(args, format);
		vsnprintf(now->texts[now->failed], TEXT, format, args);
		va_end(args);
	}
	now->failed++;
	return false;
}

void checks_skip(struct checks *c, const char *format, ...)
{
	struct check *now = current_check(c);
	va_list args;

	if (now->skipped || now->failed)
		return;
	now->skipped = true;
	va_start(args, format);
	vsnprintf(now->texts[0], TEXT, format, args);
	va_end(args);
}

static bool is_failed(const struct check *k)
{
	return k->failed;
}

/* A check with rows before the skip is not skipped: those rows count. */
static bool is_skipped(const struct check *k)
{
	return !k->failed && !k->rows;
}

void checks_end(struct checks *c)
{
	const struct check *k = current_check(c);
	struct narrow fitted;

	narrow_begin(&fitted);
	if (is_failed(k)) {
		printf("FAILED  %s %s: %s: %u of %u rows\n", k->suite, k->rule, k->name, k->failed, k->rows);
		for (unsigned i = 0; i < k->failed && i < SHOWN; i++)
			printf("        %s\n", k->texts[i]);
	} else if (is_skipped(k)) {
		printf("skipped %s %s: %s: %s\n", k->suite, k->rule, k->name,
		       k->skipped ? k->texts[0] : "no row was possible");
	} else if (!c->quiet) {
		printf("passed  %s %s: %s: %u row%s\n", k->suite, k->rule, k->name, k->rows, k->rows == 1 ? "" : "s");
	}
	narrow_end(&fitted);
	fflush(stdout);
}

struct checks_counts checks_count(const struct checks *c)
{
	struct checks_counts n = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		n.failed += is_failed(&c->all[i]);
		n.skipped += is_skipped(&c->all[i]);
		n.passed += !is_failed(&c->all[i]) && !is_skipped(&c->all[i]);
		n.rows += c->all[i].rows;
	}
	return n;
}

/* ---- JUnit ---- */

/* A character that XML 1.0 cannot represent becomes a question mark. */
static void put_escaped(FILE *to, const char *s)
{
	for (; *s; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '<')
			fputs("&lt;", to);
		else if (ch == '&')
			fputs("&amp;", to);
		else if (ch == '"')
			fputs("&quot;", to);
		else if (ch == '>')
			fputs("&gt;", to);
		else
			fputc((ch < ' ' && ch != '\n' && ch != '\t') || ch >= 0x7f ? '?' : ch, to);
	}
}

static void put_attribute(FILE *to, const char *name, const char *value)
{
	fprintf(to, " %s=\"", name);
	put_escaped(to, value);
	fputc('"', to);
}

static void put_case(FILE *to, const struct check *k, const char *of)
{
	char name[TEXT];

	snprintf(name, sizeof(name), "%s: %s", k->rule, k->name);
	fputs("    <testcase", to);
	put_attribute(to, "classname", k->suite);
	put_attribute(to, "name", name);
	fprintf(to, " assertions=\"%u\"", k->rows);
	if (is_failed(k)) {
		fprintf(to, ">\n      <failure message=\"%u of %u rows\">", k->failed, k->rows);
		put_escaped(to, of);
		for (unsigned i = 0; i < k->failed && i < SHOWN; i++) {
			fputc('\n', to);
			put_escaped(to, k->texts[i]);
		}
		fputs("</failure>\n    </testcase>\n", to);
	} else if (is_skipped(k)) {
		fputs(">\n      <skipped", to);
		put_attribute(to, "message", k->skipped ? k->texts[0] : "no row was possible");
		fputs("/>\n    </testcase>\n", to);
	} else {
		fputs("/>\n", to);
	}
}

/* Write one suite; its checks are consecutive. */
static size_t put_suite(FILE *to, const struct checks *c, size_t from, const char *of)
{
	unsigned failed = 0, skipped = 0;
	size_t end = from;

	for (; end < c->n && !strcmp(c->all[end].suite, c->all[from].suite); end++) {
		failed += is_failed(&c->all[end]);
		skipped += is_skipped(&c->all[end]);
	}
	fputs("  <testsuite", to);
	put_attribute(to, "name", c->all[from].suite);
	fprintf(to, " tests=\"%zu\" failures=\"%u\" errors=\"0\" skipped=\"%u\">\n", end - from, failed, skipped);
	for (size_t i = from; i < end; i++)
		put_case(to, &c->all[i], of);
	fputs("  </testsuite>\n", to);
	return end;
}

int checks_junit(const struct checks *c, const char *of, FILE *to)
{
	const struct checks_counts n = checks_count(c);
	int r;

	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", to);
	put_attribute(to, "name", of);
	fprintf(to, " tests=\"%zu\" failures=\"%u\" errors=\"0\">\n", c->n, n.failed);
	for (size_t i = 0; i < c->n;)
		i = put_suite(to, c, i, of);
	fputs("</testsuites>\n", to);
	errno = EIO; /* for an earlier error, whose number is lost */
	r = fflush(to) || ferror(to) ? -errno : 0;
	return fclose(to) && !r ? -errno : r;
}
