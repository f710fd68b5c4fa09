/* changes.c -- parses the changes for a replay. */
#include "whatif/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numbers.h"
#include "base/quantity.h"
#include "base/text.h"

#define CHANGE_MOST INT64_C(1000000000000000)

/* One "APP/MODEL=VALUE" of a list. */
struct one {
	const char *option;
	char who[256], value[64];
};

/* ---- numbers ---- */

/* Parse "1.5x". */
static bool factor_read(const char *text, double *ret)
{
	const char *end = bsv_number_read(text, ret);

	return end && !strcmp(end, "x") && *ret >= 0.001 && *ret <= 1000;
}

/* Parse "-3ms", "20ms" or "400us": eleven days at most. */
static bool change_read(const char *text, int64_t *ret_ns)
{
	return bsv_difference_read(text, ret_ns) && *ret_ns >= -CHANGE_MOST && *ret_ns <= CHANGE_MOST;
}

/* ---- who is meant ---- */

static bool is_meant(const struct bsv_past_group *g, const char *who, bool by_model)
{
	size_t n = strlen(g->app_name);

	if (by_model && !strcmp(g->model_name, who))
		return true;
	if (strncmp(g->app_name, who, n) != 0)
		return false;
	return !who[n] || (who[n] == '/' && !strcmp(who + n + 1, g->model_name));
}

/* Set it for one group. 0, or BSA_E_USAGE. */
typedef int (*setter)(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                      const char **cannot, struct bsa_err *err);

/* APP/MODEL of each group, or with @apps or @models one of the two alone. False: no memory. */
static bool names_list(const struct bsv_past *p, bool apps, bool models, char **ret)
{
	bool done = true;

	for (size_t i = 0; i < p->n_groups; i++) {
		const struct bsv_past_group *g = &p->groups[i];

		ret[i] = bsv_text("%s%s%s", models ? "" : g->app_name, apps || models ? "" : "/",
		                  apps ? "" : g->model_name);
		done &= ret[i] != NULL;
	}
	return done;
}

/* @by_model: the option takes a model without its app, too. */
static int unknown_who(const struct bsv_past *p, const struct one *one, bool by_model, struct bsa_err *err)
{
	bool both = strchr(one->who, '/') != NULL;
	char **names = calloc(p->n_groups + 1, sizeof(*names));
	const char *nearest = NULL;
	int r;

	for (int models = 0; names && !nearest && models <= (by_model && !both); models++) {
		for (size_t i = 0; i < p->n_groups; i++)
			free(names[i]);
		if (names_list(p, !both && !models, models, names))
			nearest = bsv_nearest(one->who, (const char *const *)names, p->n_groups, sizeof(*names));
	}
	if (nearest)
		r = bsa_fail(err, BSA_E_USAGE, "--%s: there is no '%s' in the recording; did you mean '%s'?",
		             one->option, one->who, nearest);
	else
		r = bsa_fail(err, BSA_E_USAGE,
		             "--%s: there is no '%s' in the recording: burstscope latency names apps and models",
		             one->option, one->who);
	for (size_t i = 0; names && i < p->n_groups; i++)
		free(names[i]);
	free(names);
	return r;
}

static int value_unreadable(const struct one *one, const char *wanted, struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_USAGE, "--%s %s=%s: '%s' is not valid; write %s", one->option, one->who, one->value,
	                one->value, wanted);
}

/* Each of a list with commas. @p NULL: only find out whether they can be read. */
static int set_all(struct bsv_whatif_change *ret, const struct bsv_past *p, const char *option, const char *list,
                   setter set, const char **cannot, struct bsa_err *err)
{
	struct bsv_group_change unused = { .speed = 1 };
	int r = 0;

	do { /* an empty list names no app: a script's variable may be unset */
		size_t n = strcspn(list, ","), equals = 0;
		struct one one = { .option = option };
		bool by_model = !strcmp(option, "speed"), any = false;

		for (size_t i = 0; i < n; i++)
			equals = list[i] == '=' ? i : equals;
		if (!strcmp(option, "without"))
			equals = n;
		if (!equals || equals >= sizeof(one.who) || (equals < n && n - equals > sizeof(one.value)))
			return bsa_fail(err, BSA_E_USAGE, "--%s: '%.*s' is not valid; write %s", option, (int)n, list,
			                strcmp(option, "without") ? "APP=VALUE or APP/MODEL=VALUE"
			                                          : "APP or APP/MODEL");
		memcpy(one.who, list, equals);
		if (equals < n)
			memcpy(one.value, list + equals + 1, n - equals - 1);
		if (!p)
			r = set(&unused, &(struct bsv_past_group){ .closed = false }, &one, cannot, err);
		for (size_t i = 0; p && r >= 0 && i < p->n_groups; i++)
			if (is_meant(&p->groups[i], one.who, by_model)) {
				any = true;
				r = set(&ret->groups[i], &p->groups[i], &one, cannot, err);
			}
		if (p && !any)
			r = unknown_who(p, &one, by_model, err);
		list += n + (list[n] == ',');
	} while (r >= 0 && *list);
	return r;
}

/* ---- the changes ---- */

static int set_priority(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                        const char **cannot, struct bsa_err *err)
{
	static const char *const names[] = { "low", "medium", "high" };

	(void)g;
	(void)cannot;
	for (int i = 0; i < 3; i++)
		if (!strcmp(one->value, names[i])) {
			c->priority = i + 1;
			return 0;
		}
	return value_unreadable(one, "low, medium or high", err);
}

static int set_deadline(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                        const char **cannot, struct bsa_err *err)
{
	int64_t ns;

	(void)g;
	(void)cannot;
	if (!strcmp(one->value, "none")) {
		c->budget_ns = BSA_REPLAY_NEVER;
		return 0;
	}
	if (!change_read(one->value, &ns) || ns < 1)
		return value_unreadable(one, "a time, such as 20ms, or none", err);
	c->budget_ns = (uint64_t)ns;
	return 0;
}

static int set_speed(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                     const char **cannot, struct bsa_err *err)
{
	int64_t ns;
	double x;

	(void)g;
	(void)cannot;
	if (factor_read(one->value, &x)) {
		c->speed = x;
	} else if (change_read(one->value, &ns)) {
		c->run_ns = ns;
	} else {
		return value_unreadable(one, "a factor from 0.001x to 1000x or a difference, such as 2x or -1ms", err);
	}
	return 0;
}

static int set_rate(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                    const char **cannot, struct bsa_err *err)
{
	(void)g;
	(void)cannot;
	return factor_read(one->value, &c->rate)
	               ? 0
	               : value_unreadable(one, "a factor from 0.001x to 1000x, such as 1.5x", err);
}

static int set_without(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                       const char **cannot, struct bsa_err *err)
{
	(void)g;
	(void)one;
	(void)cannot;
	(void)err;
	c->without = true;
	return 0;
}

static int set_submit(struct bsv_group_change *c, const struct bsv_past_group *g, const struct one *one,
                      const char **cannot, struct bsa_err *err)
{
	int64_t ns;

	if (!change_read(one->value, &ns) || ns > 0)
		return value_unreadable(one, "how much earlier, such as -3ms", err);
	if (g->closed)
		*cannot = "what is submitted when the answer before it is there cannot be submitted earlier (--submit)";
	c->earlier_ns = (uint64_t)-ns;
	return 0;
}

/* ---- runs that become shorter by a difference ---- */

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Whole runs that were recorded of @group, in @ret unless that is NULL. Returns their number. */
static size_t runs_of(const struct bsv_past *p, size_t group, uint64_t *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];

		if (!c->whole || c->trial || c->imagined || p->models[c->model].group != group)
			continue;
		if (ret)
			ret[n] = c->run_ns;
		n++;
	}
	return n;
}

static double run_under(const struct bsv_group_change *c, uint64_t run_ns)
{
	return (double)run_ns / c->speed + (double)c->run_ns;
}

/* Refuse a difference that would leave nothing of the median run of a model: a wrong unit, most likely. */
static int check_differences(const struct bsv_whatif_change *change, const struct bsv_past *p, struct bsa_err *err)
{
	int r = 0;

	for (size_t i = 0; i < p->n_groups && r >= 0; i++) {
		const struct bsv_group_change *c = &change->groups[i];
		size_t n = c->run_ns < 0 ? runs_of(p, i, NULL) : 0;
		uint64_t *runs = n ? calloc(n, sizeof(*runs)) : NULL;
		char shorter[BSV_DURATION_TEXT], median[BSV_DURATION_TEXT];

		if (n && !runs)
			return bsa_fail(err, BSA_E_ENV, "out of memory");
		if (!n)
			continue;
		runs_of(p, i, runs);
		qsort(runs, n, sizeof(*runs), by_length);
		if (run_under(c, runs[n / 2]) < 0)
			r = bsa_fail(err, BSA_E_USAGE,
			             "--speed: a difference of %s is longer than the runs of %s/%s (median %s)",
			             bsv_duration(shorter, -c->run_ns), p->groups[i].app_name, p->groups[i].model_name,
			             bsv_duration(median, (int64_t)runs[n / 2]));
		free(runs);
	}
	return r;
}

size_t bsv_whatif_cut_runs(const struct bsv_whatif_change *change, const struct bsv_past *p, size_t *ret_of)
{
	size_t cut = 0;

	*ret_of = 0;
	for (size_t i = 0; i < p->n_calls; i++) {
		const struct bsv_past_call *c = &p->calls[i];
		const struct bsv_group_change *by = &change->groups[p->models[c->model].group];

		if (!c->whole || c->trial || c->imagined || by->run_ns >= 0)
			continue;
		*ret_of += 1;
		cut += run_under(by, c->run_ns) < BSV_LEAST_RUN_NS;
	}
	return cut;
}

/* Read all lists into @ret, of the groups of @p, as set_all does. */
static int set_lists(struct bsv_whatif_change *ret, const struct bsv_past *p, const struct bsv_name_in_words *said,
                     const char **cannot, struct bsa_err *err)
{
	const struct {
		const char *option;
		struct bsv_lists lists;
		setter set;
	} changes[] = { { "priority", said->priority, set_priority }, { "deadline", said->deadline, set_deadline },
		        { "speed", said->speed, set_speed },          { "rate", said->rate, set_rate },
		        { "without", said->without, set_without },    { "submit", said->submit, set_submit } };
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(changes) / sizeof(*changes); i++)
		for (size_t k = 0; r >= 0 && k < changes[i].lists.n; k++)
			r = set_all(ret, p, changes[i].option, changes[i].lists.of[k], changes[i].set, cannot, err);
	return r;
}

int bsv_whatif_check(const struct bsv_name_in_words *said, struct bsa_err *err)
{
	const char *cannot;

	return set_lists(NULL, NULL, said, &cannot, err);
}

int bsv_whatif_read(struct bsv_whatif_change *ret, const struct bsv_past *p, const struct bsv_name_in_words *said,
                    const char **cannot, struct bsa_err *err)
{
	int r;

	*ret = (struct bsv_whatif_change){ .groups = calloc(p->n_groups + 1, sizeof(*ret->groups)) };
	if (!ret->groups)
		return bsa_fail(err, BSA_E_ENV, "out of memory");
	for (size_t i = 0; i < p->n_groups; i++)
		ret->groups[i] = (struct bsv_group_change){ .budget_ns = BSV_UNCHANGED, .speed = 1, .rate = 1 };
	ret->rules = p->rules;
	ret->rules.deadlines %= 3; /* unknown: there are no deadlines */
	ret->step_ns = said->step_ns;
	if (said->policy)
		ret->rules.policy = (uint32_t)said->policy - 1;
	if (said->preempt)
		ret->rules.preempt = (uint32_t)said->preempt - 1;
	if (said->deadlines)
		ret->rules.deadlines = (uint32_t)said->deadlines - 1;
	if (said->lanes)
		ret->rules.lanes = said->lanes;
	r = set_lists(ret, p, said, cannot, err);
	return r < 0 ? r : check_differences(ret, p, err);
}

void bsv_whatif_fini(struct bsv_whatif_change *change)
{
	free(change->groups);
	change->groups = NULL;
}
