/*
 * store.h -- the directory that cases are kept in: one watcher writes to it at a time, and it does
 * not grow without end.
 */
#ifndef BSV_STORE_H
#define BSV_STORE_H

#include "watch/case.h"

/* All 0: not open. */
struct bsv_store {
	char directory[PATH_MAX];
	int lock; /* descriptor of the lock file */
	bool is_open;
};

/*
 * Make @directory, if it is not there, and be the only watcher that writes to it. BSA_E_ENV:
 * another one does, or it cannot be written.
 */
int bsv_store_open(struct bsv_store *ret, const char *directory, struct bsa_err *err);
void bsv_store_close(struct bsv_store *s);

/* Make the directory of a case that begins now: NAME.half, in @path. Its name goes into @c. BSA_E_ENV. */
int bsv_store_begin(const struct bsv_store *s, struct bsv_case *c, char path[PATH_MAX], struct bsa_err *err);

/* All of it is there: NAME.half becomes NAME, which goes into @path. BSA_E_ENV. */
int bsv_store_finish(const struct bsv_store *s, char path[PATH_MAX], struct bsa_err *err);

/*
 * Cases, the oldest first; or, @half, those that were never finished. Owned by the caller, as are
 * the names; *ret NULL if there are none.
 */
int bsv_store_list(const char *directory, bool half, char ***ret, size_t *ret_n, struct bsa_err *err);
void bsv_store_list_free(char **names, size_t n);

/*
 * Remove cases, until there are no more than @keep, in no more than @bytes (0: any number): each
 * time of the user with the most cases, of that user the app with the most, and of that app the
 * oldest case. A case of several users or apps counts for each of them, and goes last if one of its
 * users has no more than an equal share. Never the newest case. Returns how many.
 */
unsigned bsv_store_prune(const struct bsv_store *s, size_t keep, uint64_t bytes);

#endif
