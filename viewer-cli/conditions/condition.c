/*
 * condition.c -- parses a word of --on by tables of conditions and their filters, and lists the
 * events that can fire it.
 */
#include "conditions/condition.h"

#include <stddef.h>
#include <string.h>

#include "base/causes.h"
#include "base/nearest.h"
#include "conditions/sliding.h"

/* As execution.status has them: the number of each is its place (docs/events.md, "Named numbers"). */
static const char *const statuses[] = { "NONE",
	                                "DEVICE_UNAVAILABLE",
	                                "GENERAL_FAILURE",
	                                "OUTPUT_INSUFFICIENT_SIZE",
	                                "INVALID_ARGUMENT",
	                                "MISSED_DEADLINE_TRANSIENT",
	                                "MISSED_DEADLINE_PERSISTENT",
	                                "RESOURCE_EXHAUSTED_TRANSIENT",
	                                "RESOURCE_EXHAUSTED_PERSISTENT",
	                                "DEAD_OBJECT" };

enum { N_STATUSES = sizeof(statuses) / sizeof(*statuses) };

static const char *const misses[] = { "transient", "persistent", "late" }; /* numbered likewise */

static const char *const watched[] = {
	[BSV_WATCH_MISS] = "miss",           [BSV_WATCH_ERROR] = "error",
	[BSV_WATCH_DEATH] = "death",         [BSV_WATCH_STARVATION] = "starvation",
	[BSV_WATCH_INVERSION] = "inversion", [BSV_WATCH_SILENCE] = "silence",
	[BSV_WATCH_RULE] = "rule",
};

static const int64_t least_longer = 1000000;    /* shorter waits are how work is handed over */
static const int64_t least_silence = 100000000; /* a shorter one is no silence to the fold (bsa/live.h) */

/* Filters of conditions, and the conditions that accept them: bits of enum bsv_watched. */
static const struct {
	const char *name;
	unsigned of;
	size_t offset, size;
} keys[] = {
#define KEY(name, of)                                                                                         \
	{                                                                                                     \
#name, of, offsetof(struct bsv_condition, name), sizeof(((struct bsv_condition *)NULL)->name) \
	}
	KEY(app, 1 << BSV_WATCH_MISS | 1 << BSV_WATCH_ERROR | 1 << BSV_WATCH_DEATH | 1 << BSV_WATCH_STARVATION |
	                 1 << BSV_WATCH_INVERSION),
	KEY(model, 1 << BSV_WATCH_MISS | 1 << BSV_WATCH_ERROR | 1 << BSV_WATCH_STARVATION | 1 << BSV_WATCH_INVERSION),
	KEY(cause, 1 << BSV_WATCH_MISS),
	KEY(culprit, 1 << BSV_WATCH_MISS),
	KEY(kind, 1 << BSV_WATCH_MISS),
	KEY(status, 1 << BSV_WATCH_ERROR),
#undef KEY
};

enum { N_KEYS = sizeof(keys) / sizeof(*keys) };

static size_t place_of(const char *word, const char *const *of, size_t n)
{
	size_t i = 0;

	while (i < n && strcmp(word, of[i]))
		i++;
	return i;
}

const char *bsv_condition_name(const struct bsv_condition *c)
{
	return watched[c->watched];
}

/* ---- reading one ---- */

static int unknown_word(const char *what, const char *word, const char *const *of, size_t n, struct bsa_err *err)
{
	const char *nearest = bsv_nearest(word, of, n, sizeof(*of));

	if (nearest)
		return bsa_fail(err, BSA_E_USAGE, "--on: no %s '%s'; did you mean '%s'?", what, word, nearest);
	return bsa_fail(err, BSA_E_USAGE, "--on: no %s '%s'; see burstscope watch --help", what, word);
}

/* "100ms", as the rules of check have it, in ns. NULL: no time was given. */
static int read_longer(struct bsv_condition *c, const char *text, struct bsa_err *err)
{
	struct bsv_slo slo = { .rules = NULL };
	char rule[sizeof(c->text) + 32];
	int r = 0, n = snprintf(rule, sizeof(rule), "starvation none over %s", text ? text : "");

	if (!text || !*text)
		r = bsa_fail(err, BSA_E_USAGE, "--on %s: longer than what? Write %s>100ms", c->text,
		             bsv_condition_name(c));
	else if (strchr(text, '\n') || bsv_slo_parse(&slo, rule, (size_t)n, NULL) < 0 || slo.n != 1)
		r = bsa_fail(err, BSA_E_USAGE, "--on %s: '%s' is not a time; write %s>100ms", c->text, text,
		             bsv_condition_name(c));
	else if (c->watched == BSV_WATCH_SILENCE && slo.rules[0].bound < (double)least_silence)
		r = bsa_fail(err, BSA_E_USAGE, "--on %s: %s is too short; write silence>100ms or longer", c->text,
		             text);
	else if (slo.rules[0].bound < (double)least_longer)
		r = bsa_fail(err, BSA_E_USAGE, "--on %s: %s is too short; write %s>1ms or longer", c->text, text,
		             bsv_condition_name(c));
	else
		c->longer_than = (int64_t)slo.rules[0].bound;
	bsv_slo_fini(&slo);
	return r;
}

/* ---- rules of check ---- */

int bsv_condition_rule(struct bsv_slo *ret, const struct bsv_condition *c, struct bsa_err *err)
{
	int r = bsv_slo_parse(ret, c->text, strlen(c->text), err);

	if (r >= 0 && ret->n == 1)
		return 0;
	if (r >= 0)
		r = bsa_fail(err, BSA_E_INPUT, "that is not one rule");
	bsv_slo_fini(ret);
	return r;
}

/*
 * A rule has a limit behind "<=" or ">=", which no other condition has. A rule whose limit is
 * missing begins as a rule does: with a word of which no condition is made ("fairness"), or with a
 * word that more words follow ("miss ratio").
 */
static bool is_rule(const char *text)
{
	char word[BSV_NAME_MOST];
	size_t n = strcspn(text, " \t<>=:");

	if (strstr(text, "<=") || strstr(text, ">="))
		return true;
	if (n >= sizeof(word))
		return false;
	memcpy(word, text, n);
	word[n] = 0;
	return bsv_slo_begins_with(word) &&
	       (place_of(word, watched, BSV_WATCH_RULE) == BSV_WATCH_RULE || text[n] == ' ' || text[n] == '\t');
}

static int read_rule(struct bsv_condition *c, struct bsa_err *err)
{
	struct bsv_slo slo = { .rules = NULL };
	struct bsa_err why = { "" };
	const char *colon;
	int r = bsv_condition_rule(&slo, c, &why);

	c->watched = BSV_WATCH_RULE;
	c->decided = BSV_BY_FOLD;
	colon = strncmp(why.text, "line 1: ", 8) ? why.text : why.text + 8;
	if (r < 0)
		return bsa_fail(err, BSA_E_USAGE, "--on '%s': %s (burstscope-slo(5) has the rules)", c->text, colon);
	if (slo.rules[0].kind == BSV_SLO_INVERSION && slo.rules[0].bound >= (double)least_longer) {
		c->watched = BSV_WATCH_INVERSION;
		c->longer_than = (int64_t)slo.rules[0].bound;
	} else if (!bsv_sliding_takes(&slo.rules[0])) {
		r = bsa_fail(err, BSA_E_USAGE,
		             "--on '%s': that rule cannot be held against the last seconds; percentiles, miss ratios, "
		             "executions, starvation>T and inversion>T can",
		             c->text);
	}
	bsv_slo_fini(&slo);
	return r < 0 ? r : 0;
}

/* ---- what it is narrowed down by ---- */

/* An error has a status other than NONE and other than a missed deadline, so that only those are suggested. */
static int status_check(const char *status, struct bsa_err *err)
{
	static const char missed[] = "MISSED_DEADLINE_";
	const char *errors[N_STATUSES];
	size_t n = 0;

	for (size_t i = 1; i < N_STATUSES; i++)
		if (strncmp(statuses[i], missed, strlen(missed)) != 0)
			errors[n++] = statuses[i];
	if (place_of(status, errors, n) < n)
		return 0;
	if (!strcmp(status, statuses[0]))
		return bsa_fail(err, BSA_E_USAGE, "--on: status NONE is no error");
	if (place_of(status, statuses, N_STATUSES) < N_STATUSES)
		return bsa_fail(err, BSA_E_USAGE, "--on: status %s is a missed deadline; write miss:kind=%s", status,
		                strstr(status, "TRANSIENT") ? misses[0] : misses[1]);
	return unknown_word("status", status, errors, n, err);
}

/* KEY=VALUE; or a kind of miss alone. @word is changed. */
static int read_key(struct bsv_condition *c, char *word, struct bsa_err *err)
{
	enum { CAUSES_MOST = 64 };
	char *equals = strchr(word, '=');
	const char *value = equals ? equals + 1 : word, *name = equals ? word : "kind";
	const char *names[N_KEYS], *causes[CAUSES_MOST], *nearest;
	size_t i, n = 0;
	int r;

	if (equals)
		*equals = 0;
	for (i = 0; i < N_KEYS; i++)
		names[i] = keys[i].name;
	i = place_of(name, names, N_KEYS);
	if (i == N_KEYS)
		return unknown_word("key", name, names, N_KEYS, err);
	if (!(keys[i].of & 1u << c->watched))
		return bsa_fail(err, BSA_E_USAGE, "--on: %s has no %s", bsv_condition_name(c), name);
	if (!*value || strlen(value) >= keys[i].size)
		return bsa_fail(err, BSA_E_USAGE, "--on: '%s' is no %s", value, name);
	strcpy((char *)c + keys[i].offset, value);

	/* Some keys have a list of values. */
	if (*c->kind && place_of(c->kind, misses, 3) == 3)
		return unknown_word("kind of miss", c->kind, misses, 3, err);
	r = *c->status ? status_check(c->status, err) : 0;
	if (r < 0)
		return r;
	if (!*c->cause || *bsv_cause_text(c->cause))
		return 0;
	while (n < CAUSES_MOST && (causes[n] = bsv_cause_name(n)))
		n++;
	nearest = bsv_nearest(c->cause, causes, n, sizeof(*causes));
	return bsa_fail(err, BSA_E_USAGE, "--on: no cause '%s'; %s%s%sburstscope-misses(1) has them all", c->cause,
	                nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? " : "");
}

int bsv_condition_read(struct bsv_condition *ret, const char *text, struct bsa_err *err)
{
	struct bsv_condition c = { .watched = BSV_WATCH_MISS };
	char words[sizeof(c.text)], *colon, *more, *word, *left;
	size_t i;
	int r = 0;

	if (strlen(text) >= sizeof(c.text))
		return bsa_fail(err, BSA_E_USAGE, "--on: that is too long");
	strcpy(c.text, text);
	if (is_rule(text)) {
		r = read_rule(&c, err);
		*ret = c;
		return r;
	}
	strcpy(words, text);
	colon = strchr(words, ':');
	if (colon)
		*colon = 0;

	/* A condition's name, and of some of them ">" and a time behind it. */
	more = strchr(words, '>');
	if (more)
		*more = 0;
	i = place_of(words, watched, BSV_WATCH_RULE);
	if (i == BSV_WATCH_RULE)
		return unknown_word("condition", words, watched, BSV_WATCH_RULE, err);
	c.watched = (enum bsv_watched)i;
	c.decided = i >= BSV_WATCH_STARVATION ? BSV_BY_FOLD : BSV_BY_EVENT;
	if (c.decided == BSV_BY_FOLD)
		r = read_longer(&c, more ? more + 1 : NULL, err);
	else if (more)
		r = bsa_fail(err, BSA_E_USAGE, "--on %s: %s is not longer or shorter", c.text, words);

	/* The filters of the condition. */
	for (word = colon ? strtok_r(colon + 1, ",", &left) : NULL; r >= 0 && word; word = strtok_r(NULL, ",", &left))
		r = read_key(&c, word, err);
	if (r >= 0)
		*ret = c;
	return r < 0 ? r : 0;
}

/* ---- its events ---- */

size_t bsv_condition_rules(const struct bsv_condition *c, enum bsv_detail detail,
                           struct bsv_rule ret[BSV_CONDITION_RULES], char filter[64])
{
	bool compact = detail == BSV_DETAIL_COMPACT;

	switch (c->watched) {
	case BSV_WATCH_MISS:
		if (*c->kind)
			snprintf(filter, 64, "kind == %zu", place_of(c->kind, misses, 3));
		ret[0] = (struct bsv_rule){ "nnburst:deadline_miss", *c->kind ? filter : NULL, { "exec", "model" } };
		return 1;
	case BSV_WATCH_ERROR:
		/*
		 * Both sides: a client knows, too, that its service has gone. The events are those
		 * that @detail records anyway.
		 */
		if (*c->status)
			snprintf(filter, 64, "status == %zu", place_of(c->status, statuses, N_STATUSES));
		else
			snprintf(filter, 64, "status != 0 && status != 5 && status != 6");
		ret[0] = compact ? (struct bsv_rule){ "nnburst:exec_service", filter, { "exec", "model" } }
		                 : (struct bsv_rule){ "nnburst:exec_end", filter, { "exec", "status" } };
		ret[1] = compact ? (struct bsv_rule){ "nnburst:exec_client", filter, { "exec", "model" } }
		                 : (struct bsv_rule){ "nnburst:exec_return", filter, { "exec", "status" } };
		ret[2] = (struct bsv_rule){ "nnburst:model_prepare", filter, { "model", "status" } };
		return 3;
	case BSV_WATCH_DEATH:
		ret[0] = (struct bsv_rule){ "nnburst:client_disconnect", "reason == 1", { "conn" } };
		return 1;
	case BSV_WATCH_STARVATION:
	case BSV_WATCH_INVERSION:
	case BSV_WATCH_SILENCE:
	case BSV_WATCH_RULE:
		return 0;
	}
	return 0;
}

bool bsv_condition_needs_database(const struct bsv_condition *c)
{
	return c->decided == BSV_BY_FOLD || *c->app || *c->model || *c->cause || *c->culprit;
}
