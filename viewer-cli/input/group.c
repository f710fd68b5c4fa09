#include "input/group.h"

#include <stdlib.h>
#include <string.h>

const char *const bsv_phase_names[BSV_PHASES] = {
	[BSV_E2E] = "e2e",       [BSV_OVERHEAD] = "overhead",   [BSV_PREPARE] = "prepare", [BSV_SEND] = "send",
	[BSV_DECODE] = "decode", [BSV_FENCE] = "fence",         [BSV_SLOTS] = "slots",     [BSV_QUEUE] = "queue",
	[BSV_RUN] = "run",       [BSV_PREEMPTED] = "preempted", [BSV_REPLY] = "reply",     [BSV_RETURN] = "return",
	[BSV_FINISH] = "finish", [BSV_SIGNAL] = "signal",
};

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
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 64;
		int64_t *all_ns = realloc(t->ns, room * sizeof(*all_ns)), *all_at;

		t->ns = all_ns ? all_ns : t->ns;
		all_at = all_ns ? realloc(t->at, room * sizeof(*all_at)) : NULL;
		if (!all_at)
			return false;
		t->at = all_at;
		t->room = room;
	}
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
