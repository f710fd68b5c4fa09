/*
 * kept.h -- files that another process has, too, until this one has closed all its descriptors of them.
 *
 * The last process to close a file may wait for ever, and the kernel frees the pages of a file in memory in that close,
 * however many there are. The keeper, another process, has a duplicate of such a file before this process gets it, and
 * closes that when this process sends it the file's number: so this process is never the last one. All mappings of such
 * a file must have been unmapped before its last descriptor is closed.
 */
#ifndef NNB_BASE_KEPT_H
#define NNB_BASE_KEPT_H

#include <stdbool.h>
#include <stdint.h>

struct nnb__keeper;

enum { NNB__TOLD_TOGETHER = 64 }; /* numbers of small files */

/* In a number: the file is small and cannot grow. Such numbers are sent together, so the keeper has the file longer. */
#define NNB__KEPT_SMALL (UINT32_C(1) << 31)

/*
 * The keeper that reads the numbers from @pipe, whose ownership is taken, also on failure. @pipe does not block, and
 * SIGPIPE is ignored. The caller owns a reference. NULL: no memory.
 */
struct nnb__keeper *nnb__keeper_new(int pipe);
struct nnb__keeper *nnb__keeper_ref(struct nnb__keeper *keeper);
struct nnb__keeper *nnb__keeper_unref(struct nnb__keeper *keeper); /* NULL is fine. Returns NULL. */

/* Whether the keeper has ended, or keeps nothing any more. */
bool nnb__keeper_has_ended(const struct nnb__keeper *keeper);

/* Tell @keeper that this process has no descriptor of the file @number. */
void nnb__keeper_tell(struct nnb__keeper *keeper, uint32_t number);

/* @keeper gets no more files, and waits for those that it has: tell it of small ones at once, too. NULL is fine. */
void nnb__keeper_hurry(struct nnb__keeper *keeper);

/* @keeper has the file of @fd, as @number. It is told after the last nnb__close. 0; -ENOMEM: it is never told. */
int nnb__kept_add(struct nnb__keeper *keeper, int fd, uint32_t number);

/* Duplicate @fd, which may be kept, as 3 or above (F_DUPFD_CLOEXEC). The duplicate, or -errno. */
int nnb__dup(int fd);

/* The file of @fd stays mapped until this process has exited: its keeper is never told, if it has one. */
void nnb__kept_stay(int fd);
bool nnb__kept_stays(void); /* whether there is such a file with a keeper */

/* For nnb__close: take what is known of @fd before it is closed; and afterwards tell its keeper, if it was the last. */
struct nnb__kept;
struct nnb__kept *nnb__kept_take(int fd); /* owned; NULL: no other process keeps its file */
void nnb__kept_end(struct nnb__kept *kept);

#endif
