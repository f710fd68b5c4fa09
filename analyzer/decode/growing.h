/* growing.h -- a recording that still grows: in files of this machine (follow.h), or at a relay daemon (remote.h). */
#ifndef BSA_DECODE_GROWING_H
#define BSA_DECODE_GROWING_H

#include "follow.h"
#include "remote.h"

/* Exactly one pointer is set; both are NULL where no recording is open. */
struct bsa_growing {
	struct bsa_follow *follow;
	struct bsa_remote *remote;
};

/* @directory, or @url if @directory is NULL. 0; BSA_E_ENV. */
int bsa_growing_open(struct bsa_growing *g, const char *directory, uint64_t settle_ns, const char *url,
                     struct bsa_err *err);
void bsa_growing_close(struct bsa_growing *g);

/* The next functions are as in follow.h. */
int bsa_growing_look(struct bsa_growing *g, uint64_t now, struct bsa_err *err);
int bsa_growing_next(struct bsa_growing *g, const struct bsa_event **ret, struct bsa_err *err);
uint64_t bsa_growing_until(const struct bsa_growing *g);
const struct bsa_trace *bsa_growing_trace(const struct bsa_growing *g, size_t i);
struct bsa_decoded bsa_growing_decoded(const struct bsa_growing *g, size_t i);
struct bsa_followed bsa_growing_followed(const struct bsa_growing *g);

/* As in follow.h; of a relay -1, and BSA_NEVER. */
int bsa_growing_changes(const struct bsa_growing *g);
uint64_t bsa_growing_settles(const struct bsa_growing *g);

#endif
