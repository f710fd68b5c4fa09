/* expect.c -- see expect.h. */
#include "analyzer/expect.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *written, *printed;
} labels[] = {
	{ "quality=complete", "quality=0" }, { "quality=head", "quality=1" }, { "quality=tail", "quality=2" },
	{ "quality=gap", "quality=3" },      { "quality=open", "quality=4" }, { "miss=none", "miss=0" },
	{ "miss=predicted", "miss=1" },      { "miss=aborted", "miss=2" },    { "miss=late", "miss=3" },
	{ "sides=both", "sides=0" },         { "sides=service", "sides=1" },  { "sides=client", "sides=2" },
};

/* One of the words of @line? */
static bool has_word(const char *line, size_t length, const char *word, size_t n)
{
	for (const char *at = line; at + n <= line + length; at++)
		if (!strncmp(at, word, n) && (at == line || at[-1] == ' ') && (at + n == line + length || at[n] == ' '))
			return true;
	return false;
}

static bool has_written(const char *line, size_t length, const char *word, size_t n)
{
	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (strlen(labels[i].written) == n && !strncmp(labels[i].written, word, n))
			return has_word(line, length, labels[i].printed, strlen(labels[i].printed));
	return has_word(line, length, word, n);
}

/* All words of @want, which ends at the end of its line? */
static bool has_all(const char *line, size_t length, const char *want)
{
	for (size_t n; (want += strspn(want, " \t")), (n = strcspn(want, " \t\n")); want += n)
		if (!has_written(line, length, want, n))
			return false;
	return true;
}

static size_t count_of(const char *text, const char *want)
{
	size_t found = 0, n;

	for (; *text; text += n + 1) {
		n = strcspn(text, "\n");
		found += has_all(text, n, want);
	}
	return found;
}

static char *left_text(const struct folded *f)
{
	static const char *const kinds[] = {
#define K(name) #name,
		BSA_KINDS(K)
#undef K
	};
	const struct bsa_left_out *l = &f->left_out;
	char absent[512] = "";
	size_t n = 0;
	char *text;

	for (unsigned kind = 0; kind < BSA_N_KINDS; kind++)
		if (l->absent >> kind & 1)
			n += (size_t)snprintf(absent + n, sizeof(absent) - n, "%s%s", n ? "," : "", kinds[kind]);
	if (asprintf(&text,
	             "left stragglers=%" PRIu64 " unusable=%" PRIu64 " absurd=%" PRIu64 " evicted=%" PRIu64
	             " late=%" PRIu64 " forgotten=%" PRIu64 " unseen=%" PRIu64 " latest_summary=%" PRIu64
	             " absent=%s\n",
	             l->stragglers, l->unusable, l->absurd, l->evicted, l->late, l->forgotten, l->unseen,
	             f->latest_summary, n ? absent : "-") < 0)
		abort();
	return text;
}

static bool expect_line(const char *what, const char *text, const char *line)
{
	bool none = !strncmp(line, "no ", 3);
	const char *want = none ? line + 3 : line;
	size_t n = isdigit(*line) ? strtoul(line, (char **)&want, 10) : !none, found = count_of(text, want), kind;

	if (found == n)
		return true;
	want += strspn(want, " ");
	kind = strcspn(want, " \n");
	fprintf(stderr, "%s: not so, but %zu times: %.*s\n", what, found, (int)strcspn(line, "\n"), line);
	for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
		if (!strncmp(at, want, kind) && at[kind] == ' ')
			fprintf(stderr, "   %.*s\n", (int)strcspn(at, "\n"), at);
	return false;
}

bool expect_facts(const char *what, const struct folded *f, const char *wants)
{
	char *facts = collect_text(&f->facts, false), *left = left_text(f);
	bool right = true;

	for (; *wants; wants += strcspn(wants, "\n"), wants += *wants == '\n') {
		wants += strspn(wants, " \t");
		if (*wants && *wants != '\n')
			right &= expect_line(what, strncmp(wants, "left ", 5) ? facts : left, wants);
	}
	free(facts);
	free(left);
	return right;
}
