/* group.c -- compares groups, and collects the times of each. */
#include "input/group.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

const char *const bsv_phase_names[BSV_PHASES] = {
	[BSV_E2E] = "e2e",       [BSV_OVERHEAD] = "overhead",   [BSV_PREPARE] = "prepare", [BSV_SEND] = "send",
	[BSV_DECODE] = "decode", [BSV_FENCE] = "fence",         [BSV_SLOTS] = "slots",     [BSV_QUEUE] = "queue",
	[BSV_RUN] = "run",       [BSV_PREEMPTED] = "preempted", [BSV_REPLY] = "reply",     [BSV_RETURN] = "return",
	[BSV_FINISH] = "finish", [BSV_SIGNAL] = "signal",
};

bool bsv_phase_is_of(enum bsv_phase phase, const char *path)
{
	bool fenced = path && !strcmp(path, "fenced");

	switch (phase) {
	case BSV_FENCE:
	case BSV_SIGNAL:
		return fenced || !path;
	case BSV_REPLY:
	case BSV_RETURN:
	case BSV_FINISH:
		return !fenced;
	default:
		return true;
	}
}

int bsv_group_compare(const struct bsv_group *a, const struct bsv_group *b)
{
	int r = strcmp(a->app, b->app);

	r = r ? r : strcmp(a->model, b->model);
	r = r ? r : strcmp(a->path, b->path);
	r = r ? r : a->cold - b->cold;
	return r ? r : strcmp(a->sides, b->sides);
}

int bsv_tally_compare(const struct bsv_tally *a, const struct bsv_tally *b)
{
	int r = strcmp(a->app, b->app);

	r = r ? r : strcmp(a->model, b->model);
	return r ? r : strcmp(a->path, b->path);
}

bool bsv_times_add(struct bsv_times *t, int64_t ns, int64_t at)
{
	if (!bsv_array_grow(&t->ns, t->n, sizeof(*t->ns)) || !bsv_array_grow(&t->at, t->n, sizeof(*t->at)))
		return false;
	t->ns[t->n] = ns;
	t->at[t->n++] = at;
	return true;
}

void bsv_times_fini(struct bsv_times *t)
{
	free(t->ns);
	free(t->at);
	*t = (struct bsv_times){ 0 };
}
