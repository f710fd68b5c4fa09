/* growing.c -- passes each call on to the reader of files or to the reader of a relay daemon. */
#include "growing.h"

int bsa_growing_open(struct bsa_growing *g, const char *directory, uint64_t settle_ns, const char *url,
                     struct bsa_err *err)
{
	const struct bsa_follow_options options = { directory, settle_ns };

	return directory ? bsa_follow_open(&g->follow, &options, err) : bsa_remote_open(&g->remote, url, err);
}

void bsa_growing_close(struct bsa_growing *g)
{
	g->follow = bsa_follow_free(g->follow);
	g->remote = bsa_remote_free(g->remote);
}

int bsa_growing_look(struct bsa_growing *g, uint64_t now, struct bsa_err *err)
{
	return g->follow ? bsa_follow_look(g->follow, now, err) : bsa_remote_look(g->remote, now == BSA_NEVER, err);
}

int bsa_growing_next(struct bsa_growing *g, const struct bsa_event **ret, struct bsa_err *err)
{
	return g->follow ? bsa_follow_next(g->follow, ret, err) : bsa_remote_next(g->remote, ret);
}

uint64_t bsa_growing_until(const struct bsa_growing *g)
{
	return g->follow ? bsa_follow_until(g->follow) : bsa_remote_until(g->remote);
}

const struct bsa_trace *bsa_growing_trace(const struct bsa_growing *g, size_t i)
{
	return g->follow ? bsa_follow_trace(g->follow, i) : bsa_remote_trace(g->remote, i);
}

struct bsa_decoded bsa_growing_decoded(const struct bsa_growing *g, size_t i)
{
	return g->follow ? bsa_follow_decoded(g->follow, i) : bsa_remote_decoded(g->remote, i);
}

struct bsa_followed bsa_growing_followed(const struct bsa_growing *g)
{
	return g->follow ? bsa_follow_followed(g->follow) : bsa_remote_followed(g->remote);
}

int bsa_growing_changes(const struct bsa_growing *g)
{
	return g->follow ? bsa_follow_changes(g->follow) : -1;
}

uint64_t bsa_growing_settles(const struct bsa_growing *g)
{
	return g->follow ? bsa_follow_settles(g->follow) : BSA_NEVER;
}
