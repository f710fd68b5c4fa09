/* rules.c -- the parser: cuts each line into words, and has one function for each kind of rule. */
#include "slo/rules.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "base/scoped.h"
#include "base/vector.h"
#include "bsa/regular.h"

enum { FILE_MAX = 1 << 20, LINE_MAX_BYTES = 1024, WORDS_MAX = 64, RULES_MAX = 200, SHOWN_MAX = 48 };

/* One line, cut into words. */
struct line {
	char text[LINE_MAX_BYTES + WORDS_MAX + 1]; /* the words, each terminated by 0 */
	const char *words[WORDS_MAX + 1];
	bool quoted[WORDS_MAX];
	size_t n, at; /* number of words; index of the next word to read */
	struct bsa_err *err;
};

/* ---- error sentences ---- */

/* Copy @word with its control bytes replaced, shortened to SHOWN_MAX. */
static const char *word_printable(char to[SHOWN_MAX], const char *word)
{
	size_t n = 0;

	for (; *word && n < SHOWN_MAX - 4; word++)
		to[n++] = (unsigned char)*word < ' ' || (unsigned char)*word >= 127 ? '?' : *word;
	strcpy(to + n, *word ? "..." : "");
	return to;
}

/* Fail because the next word is not @what. */
static int fail_expected(const struct line *l, const char *what)
{
	char word[SHOWN_MAX];

	if (l->at >= l->n)
		return bsa_fail(l->err, BSA_E_INPUT, "expected %s, but the line ends", what);
	return bsa_fail(l->err, BSA_E_INPUT, "expected %s, not '%s'", what, word_printable(word, l->words[l->at]));
}

/* Fail because the next word is not one of the @n @words, which @what describes together. Suggests the nearest one. */
static int fail_none_of(const struct line *l, const char *const *words, size_t n, const char *what)
{
	const char *nearest;
	char word[SHOWN_MAX];

	if (l->at >= l->n)
		return fail_expected(l, what);
	nearest = bsv_nearest(l->words[l->at], words, n, sizeof(*words));
	if (!nearest)
		return fail_expected(l, what);
	return bsa_fail(l->err, BSA_E_INPUT, "expected %s, not '%s'; did you mean '%s'?", what,
	                word_printable(word, l->words[l->at]), nearest);
}

/* ---- words ---- */

/* The length of the operator at @s, which is a word even without spaces around it; 0: no operator. */
static size_t mark_length(const char *s, const char *end)
{
	if (end - s > 1 && (*s == '<' || *s == '>') && s[1] == '=')
		return 2;
	return strchr("<>=+%", *s) ? 1 : 0;
}

static int quoted_word_cut(struct line *l, const char **s, const char *end, char **to)
{
	const char *p = *s + 1;

	for (; p < end && *p != '"'; p++) {
		if (*p == '\\' && end - p > 1 && (p[1] == '"' || p[1] == '\\'))
			p++;
		*(*to)++ = *p;
	}
	if (p == end)
		return bsa_fail(l->err, BSA_E_INPUT, "a \" is not closed");
	*s = p + 1;
	return 0;
}

/* Cut the text from @s to @end into words; a # begins a comment. */
static int line_cut(struct line *l, const char *s, const char *end)
{
	char *to = l->text;

	while (s < end && *s != '#') {
		size_t n = *s == ' ' || *s == '\t' ? 0 : mark_length(s, end);

		if (*s == ' ' || *s == '\t') {
			s++;
			continue;
		}
		if (l->n == WORDS_MAX)
			return bsa_fail(l->err, BSA_E_INPUT, "too many words");
		l->quoted[l->n] = *s == '"';
		l->words[l->n++] = to;
		if (*s == '"' && quoted_word_cut(l, &s, end, &to) < 0)
			return BSA_E_INPUT;
		if (!l->quoted[l->n - 1] && !n)
			while (s + n < end && !strchr(" \t#\"", s[n]) && !mark_length(s + n, end))
				n++;
		memcpy(to, s, n);
		to += n;
		s += n;
		*to++ = 0;
	}
	l->words[l->n] = NULL;
	return 0;
}

static bool word_is(const struct line *l, const char *word)
{
	return l->at < l->n && !l->quoted[l->at] && !strcmp(l->words[l->at], word);
}

static bool word_take(struct line *l, const char *word)
{
	bool is = word_is(l, word);

	l->at += is;
	return is;
}

static int word_require(struct line *l, const char *word)
{
	char what[16];

	if (word_take(l, word))
		return 0;
	snprintf(what, sizeof(what), "'%s'", word);
	return fail_expected(l, what);
}

/* ---- numbers ---- */

static int count_read(struct line *l, unsigned least, unsigned most, unsigned *ret)
{
	char what[48];
	double value;

	snprintf(what, sizeof(what), "a number from %u to %u", least, most);
	if (l->at >= l->n || l->quoted[l->at] || l->words[l->at][strspn(l->words[l->at], "0123456789")] ||
	    !bsv_number_read(l->words[l->at], &value) || value < least || value > most)
		return fail_expected(l, what);
	*ret = (unsigned)value;
	l->at++;
	return 0;
}

/* Parse "1 %", of which each half is a word. */
static int percent_read(struct line *l, double most, double *ret)
{
	const char *word = l->at < l->n && !l->quoted[l->at] ? l->words[l->at] : "";

	if (!bsv_percent_read(word, most, ret))
		return fail_expected(l, most > 100 ? "a percentage as in '10 %'"
		                                   : "a percentage as in '1 %', of 100 % at most");
	l->at++;
	return word_require(l, "%");
}

/* Parse "5ms", or the words of "5 ms", into ns. */
static int duration_read(struct line *l, double *ret)
{
	const char *word = l->at < l->n && !l->quoted[l->at] ? l->words[l->at] : "", *unit;
	double number;
	int64_t ns;
	size_t words = 1;
	char both[64];

	unit = bsv_number_read(word, &number);
	if (unit && !*unit && l->at + 1 < l->n) {
		unit = l->words[l->at + 1];
		words = 2;
	}
	if (!unit || (size_t)snprintf(both, sizeof(both), "%s%s", word, words > 1 ? unit : "") >= sizeof(both) ||
	    !bsv_duration_read(both, &ns))
		return fail_expected(l, "a time as in '5ms' (ns, us, ms, s, min or h)");
	*ret = (double)ns;
	l->at += words;
	return 0;
}

/* Parse "p99.9". */
static bool percentile_parse(const char *word, double *ret)
{
	const char *end = *word == 'p' ? bsv_number_read(word + 1, ret) : NULL;

	return end && !*end && *ret > 0 && *ret <= 100;
}

/* ---- selections ---- */

static int word_check(struct line *l, const char *const *words, size_t n, const char *what)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(l->words[l->at], words[i]))
			return 0;
	return fail_none_of(l, words, n, what);
}

/* @may_end: is one there already, so that the operator may follow? */
static int key_value_read(struct line *l, struct bsv_slo_selection *of, bool may_end)
{
	static const char *const keys[] = { "app", "model", "path", "priority", "cold", "warm" };
	static const char *const paths[] = { "burst", "sync", "fenced", "async" };
	static const char *const priorities[] = { "low", "medium", "high" };
	char **const values[] = { &of->app, &of->model, &of->path, &of->priority };
	size_t i = 0;
	int r = 0;

	while (i < 4 && !word_take(l, keys[i]))
		i++;
	if (i < 4) {
		r = word_require(l, "=");
		if (r >= 0 &&
		    (l->at >= l->n || (!l->quoted[l->at] && mark_length(l->words[l->at], l->words[l->at] + 1))))
			r = fail_expected(l, "a name");
		if (r >= 0 && i == 2)
			r = word_check(l, paths, 4, "burst, sync, fenced or async");
		if (r >= 0 && i == 3)
			r = word_check(l, priorities, 3, "low, medium or high");
		if (r < 0)
			return r;
		if (*values[i])
			return bsa_fail(l->err, BSA_E_INPUT, "%s is given twice", keys[i]);
		*values[i] = strdup(l->words[l->at++]);
		return *values[i] ? 0 : bsv_no_memory(l->err);
	}
	if (word_is(l, "cold") || word_is(l, "warm")) {
		if (of->cold >= 0)
			return bsa_fail(l->err, BSA_E_INPUT, "give cold or warm, once");
		of->cold = !strcmp(l->words[l->at++], "cold");
		return 0;
	}
	return fail_none_of(l, keys, 6,
	                    may_end ? "app=, model=, path=, priority=, cold, warm, <= or >="
	                            : "app=, model=, path=, priority=, cold or warm");
}

/* Parse an optional "of app=camera path=burst", up to an operator or the end of the line. */
static int selection_read(struct line *l, struct bsv_slo_rule *ret)
{
	bool may_end = false;

	if (!word_take(l, "of"))
		return 0;
	do {
		int r = key_value_read(l, &ret->of, may_end);

		if (r < 0)
			return r;
		may_end = true;
	} while (l->at < l->n && !word_is(l, "<=") && !word_is(l, ">="));
	return 0;
}

/* ---- rules ---- */

static int relation_read(struct line *l, struct bsv_slo_rule *ret, const char *mark_wanted)
{
	size_t before = l->at;
	int r = selection_read(l, ret);
	char what[48];

	ret->bounded = true;
	if (r < 0 || word_take(l, mark_wanted))
		return r;
	snprintf(what, sizeof(what), "%s'%s' and a limit", l->at == before ? "'of' and a selection, or " : "",
	         mark_wanted);
	return fail_expected(l, what);
}

/* Parse the rest of "baseline + 10 %". */
static int baseline_read(struct line *l, struct bsv_slo_rule *ret)
{
	struct line at;
	size_t first;
	double more;
	int r;

	ret->baseline = true;
	ret->times = 1;
	if (!word_take(l, "+"))
		return 0;
	first = l->at;
	at = *l;
	at.err = NULL;
	r = duration_read(&at, &more);
	if (r >= 0) {
		ret->bound = more;
		l->at = at.at;
		return 0;
	}
	r = percent_read(l, 10000, &more);
	if (r < 0) {
		l->at = first;
		return fail_expected(l, "how much more than the baseline, as in '+ 10 %' or '+ 50us' (ns, us, ms, s, "
		                        "min or h)");
	}
	ret->times = 1 + more / 100;
	return 0;
}

static int read_percentile(struct line *l, struct bsv_slo_rule *ret)
{
	int phase = 0, r;

	percentile_parse(l->words[l->at++], &ret->percent);
	while (phase < BSV_PHASES && !word_take(l, bsv_phase_names[phase]))
		phase++;
	if (phase == BSV_PHASES)
		return fail_none_of(l, bsv_phase_names, BSV_PHASES, "e2e, overhead, overhead share, or a phase");
	ret->phase = phase;
	if (ret->phase == BSV_OVERHEAD && word_take(l, "share")) {
		ret->kind = BSV_SLO_OVERHEAD;
		r = relation_read(l, ret, "<=");
		return r < 0 ? r : percent_read(l, 100, &ret->bound);
	}
	ret->kind = BSV_SLO_TIME;
	r = relation_read(l, ret, "<=");
	if (r >= 0)
		r = word_take(l, "baseline") ? baseline_read(l, ret) : duration_read(l, &ret->bound);
	return r;
}

static int read_misses(struct line *l, struct bsv_slo_rule *ret)
{
	int r = word_require(l, "ratio");

	ret->kind = BSV_SLO_MISSES;
	if (r >= 0)
		r = relation_read(l, ret, "<=");
	return r < 0 ? r : percent_read(l, 100, &ret->bound);
}

static int read_streak(struct line *l, struct bsv_slo_rule *ret)
{
	int r = word_require(l, "most");

	ret->kind = BSV_SLO_STREAK;
	ret->bounded = true;
	if (r >= 0)
		r = count_read(l, 0, 1000000, &ret->most);
	if (r >= 0 && !word_take(l, "miss"))
		r = word_require(l, "misses");
	if (r >= 0)
		r = word_require(l, "in");
	if (r >= 0)
		r = word_require(l, "any");
	if (r >= 0)
		r = count_read(l, 1, 1000000, &ret->window);
	if (r >= 0 && ret->most >= ret->window)
		r = bsa_fail(l->err, BSA_E_INPUT,
		             "no more than %u of %u executions can miss: give fewer misses than executions", ret->most,
		             ret->window);
	ret->bound = ret->most;
	return r < 0 ? r : selection_read(l, ret);
}

static int read_starvation(struct line *l, struct bsv_slo_rule *ret)
{
	int r = word_require(l, "none");

	ret->kind = BSV_SLO_STARVATION;
	if (r < 0 || !word_take(l, "over"))
		return r;
	ret->bounded = true;
	return duration_read(l, &ret->bound);
}

static int read_fairness(struct line *l, struct bsv_slo_rule *ret)
{
	int r;

	ret->kind = BSV_SLO_FAIRNESS;
	if (!word_take(l, "lag"))
		return 0;
	ret->bounded = true;
	r = word_require(l, "<=");
	return r < 0 ? r : duration_read(l, &ret->bound);
}

static int read_priority(struct line *l, struct bsv_slo_rule *ret)
{
	int r = 0;

	ret->kind = BSV_SLO_PRIORITY;
	if (word_take(l, "inversion")) {
		ret->kind = BSV_SLO_INVERSION;
		ret->bounded = true;
		r = word_require(l, "<=");
		return r < 0 ? r : duration_read(l, &ret->bound);
	}
	if (word_take(l, "honoured")) {
		ret->kind = BSV_SLO_HONOURED;
		ret->bounded = true;
		r = word_require(l, ">=");
		return r < 0 ? r : percent_read(l, 100, &ret->bound);
	}
	return r;
}

static int read_coverage(struct line *l, struct bsv_slo_rule *ret)
{
	int r = word_require(l, ">=");

	ret->kind = BSV_SLO_COVERAGE;
	ret->bounded = true;
	return r < 0 ? r : percent_read(l, 100, &ret->bound);
}

static int read_executions(struct line *l, struct bsv_slo_rule *ret)
{
	unsigned least = 0;
	int r = relation_read(l, ret, ">=");

	ret->kind = BSV_SLO_EXECUTIONS;
	if (r >= 0)
		r = count_read(l, 1, 1000000000, &least);
	ret->bound = least;
	return r;
}

static const struct {
	const char *word;
	int (*read)(struct line *l, struct bsv_slo_rule *ret);
} rules[] = {
	{ "miss", read_misses },           { "at", read_streak },         { "starvation", read_starvation },
	{ "fairness", read_fairness },     { "priority", read_priority }, { "coverage", read_coverage },
	{ "executions", read_executions },
};

enum { N_RULES = sizeof(rules) / sizeof(*rules) };

bool bsv_slo_begins_with(const char *word)
{
	double percent;
	size_t i = 0;

	while (i < N_RULES && strcmp(word, rules[i].word))
		i++;
	return i < N_RULES || percentile_parse(word, &percent);
}

/* The words joined by single spaces, without spaces around =. The caller owns the text; NULL: no memory. */
static char *rule_text(const struct line *l)
{
	char *text = malloc(4 * sizeof(l->text)), *to = text; /* a byte may be escaped, a word quoted */

	for (size_t i = 0; text && i < l->n; i++) {
		bool apart = i && strcmp(l->words[i], "=") && strcmp(l->words[i - 1], "=");

		to += apart ? (*to = ' ', 1) : 0;
		if (l->quoted[i])
			*to++ = '"';
		for (const char *s = l->words[i]; *s; s++) {
			if (l->quoted[i] && (*s == '"' || *s == '\\'))
				*to++ = '\\';
			*to++ = (unsigned char)*s < ' ' || *s == 127 ? '?' : *s;
		}
		if (l->quoted[i])
			*to++ = '"';
	}
	if (text)
		*to = 0;
	return text;
}

static void rule_fini(struct bsv_slo_rule *r)
{
	free(r->text);
	free(r->of.app);
	free(r->of.model);
	free(r->of.path);
	free(r->of.priority);
}

static int add_line(struct bsv_slo *to, const char *s, const char *end, unsigned number_of_line, struct bsa_err *err)
{
	struct line l = { .err = err };
	struct bsv_slo_rule rule = { .line = number_of_line, .of = { .cold = -1 } };
	const char *words[N_RULES + 1];
	double percent;
	size_t i = 0;
	int r;

	if (end - s > LINE_MAX_BYTES)
		return bsa_fail(err, BSA_E_INPUT, "the line is longer than %d bytes", LINE_MAX_BYTES);
	if (memchr(s, 0, (size_t)(end - s)))
		return bsa_fail(err, BSA_E_INPUT, "the line contains a byte of value 0");
	r = line_cut(&l, s, end);
	if (r < 0 || !l.n)
		return r;
	if (to->n == RULES_MAX)
		return bsa_fail(err, BSA_E_INPUT, "there are more than %d rules", RULES_MAX);

	/* The first word is the kind of the rule. */
	for (; i < N_RULES && !word_is(&l, rules[i].word); i++)
		words[i] = rules[i].word;
	if (!l.quoted[0] && percentile_parse(l.words[0], &percent)) {
		r = read_percentile(&l, &rule);
	} else if (i < N_RULES) {
		l.at++;
		r = rules[i].read(&l, &rule);
	} else {
		r = fail_none_of(&l, words, N_RULES,
		                 "p50, p99 or the like, 'miss ratio', 'at most', starvation, fairness, priority, "
		                 "coverage or executions");
	}
	if (r >= 0 && l.at != l.n)
		r = fail_expected(&l, "the end of the line");

	if (r >= 0) {
		rule.text = rule_text(&l);
		if (rule.text && bsv_array_grow(&to->rules, to->n, sizeof(*to->rules))) {
			to->rules[to->n++] = rule;
			return 0;
		}
		r = bsv_no_memory(err);
	}
	rule_fini(&rule);
	return r;
}

int bsv_slo_parse(struct bsv_slo *ret, const char *text, size_t bytes, struct bsa_err *err)
{
	const char *end = text + bytes;
	unsigned line = 1;

	*ret = (struct bsv_slo){ NULL, 0 };
	for (const char *s = text; s < end; line++) {
		const char *stop = memchr(s, '\n', (size_t)(end - s));
		const char *last = stop = stop ? stop : end;
		int r;

		if (last > s && last[-1] == '\r')
			last--;
		r = add_line(ret, s, last, line, err);
		if (r < 0) {
			bsv_slo_fini(ret);
			return bsa_wrap(err, r, "line %u", line);
		}
		s = stop + 1;
	}
	if (!ret->n)
		return bsa_fail(err, BSA_E_INPUT, "the file has no rule; see burstscope-slo(5)");
	return 0;
}

static void file_fini(FILE **f)
{
	if (*f)
		fclose(*f);
}

int bsv_slo_read(struct bsv_slo *ret, const char *path, struct bsa_err *err)
{
	int fd = bsa_open_regular(path), error = fd < 0 ? -fd : 0;
	__attribute__((cleanup(file_fini))) FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	bsv_scoped_text *text = malloc(FILE_MAX + 1);
	size_t bytes;
	int r;

	*ret = (struct bsv_slo){ NULL, 0 };
	if (fd < 0)
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", path,
		                error == EINVAL ? "it is not a regular file; write the rules to a file"
		                                : strerror(error));
	if (!f)
		close(fd);
	if (!f || !text)
		return bsv_no_memory(err);
	bytes = fread(text, 1, FILE_MAX + 1, f);
	if (ferror(f))
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", path, strerror(errno));
	if (bytes > FILE_MAX)
		return bsa_fail(err, BSA_E_INPUT, "%s: the file is larger than 1 MiB, the limit for a file of rules",
		                path);
	r = bsv_slo_parse(ret, text, bytes, err);
	return r < 0 ? bsa_wrap(err, r, "%s", path) : 0;
}

void bsv_slo_fini(struct bsv_slo *slo)
{
	for (size_t i = 0; i < slo->n; i++)
		rule_fini(&slo->rules[i]);
	free(slo->rules);
	*slo = (struct bsv_slo){ NULL, 0 };
}
