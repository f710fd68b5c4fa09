/*
 * subuid.h -- to which account a uid belongs: a file such as /etc/subuid gives ranges of further uids to accounts.
 *
 * A user who has a range can run processes with each uid in it (newuidmap(1)), 65 536 of them by default. If each of
 * them were an app, one user could have the guaranteed parts of all apps, and all connections.
 *
 * CONCURRENCY  One thread: the one that accepts connections.
 */
#ifndef NNB_SERVICE_SUBUID_H
#define NNB_SERVICE_SUBUID_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct nnb__subuid_range {
	uint64_t first, end; /* the uids from @first to before @end */
	uint64_t reach;      /* the largest @end of this range and those before it */
	uint32_t owner; /* the uid of the account; the account's first subordinate uid if passwd has no such name */
	char *name;     /* of the account, while the file is read. Owned */
};

struct nnb__subuids {
	const char *file, *passwd;
	struct stat seen, seen_passwd;    /* the files as they were read */
	struct nnb__subuid_range *ranges; /* by @first */
	size_t n, room;
};

/* @file: as subuid(5); NULL: no ranges. @passwd: as passwd(5), for the names of accounts. Both are borrowed. */
void nnb__subuids_init(struct nnb__subuids *subuids, const char *file, const char *passwd);
void nnb__subuids_fini(struct nnb__subuids *subuids);

/*
 * Read both files if one of them has changed. 0 or -errno: the ranges are still those of the last time. Without @file
 * there are no ranges; without @passwd no name has a uid. A line that is no range is skipped.
 */
int nnb__subuids_refresh(struct nnb__subuids *subuids);

/* The owner of the range that contains @uid (of several, of the one that begins last); @uid itself if no range does. */
uint32_t nnb__subuid_owner(const struct nnb__subuids *subuids, uint32_t uid);

#endif
