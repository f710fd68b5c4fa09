/* group.c -- see group.h. */
#include "stats/group.h"

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
