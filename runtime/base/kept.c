/*
 * kept.c -- files that another process has, too, until this one has closed all its descriptors of them.
 *
 * CONCURRENCY  Any thread. One lock guards the table, which is indexed by descriptors. No system call that could wait
 *           is made under it. A descriptor leaves the table before it is closed, because another thread may get the
 *           same number afterwards. A number that is in the table and was closed otherwise (not by nnb__close) is
 *           forgotten when it comes again. The lock of a keeper guards the numbers that wait to be written to its pipe.
 * ORDERING  A thread that has got a kept descriptor from another one finds n_kept above 0: it is counted until
 *           that thread closes it.
 * BOUND     A pipe never is full, because the keeper keeps no more files than it has room for numbers. A keeper keeps
 *           less than NNB__TOLD_TOGETHER small files longer than this process has them, until it is hurried.
 */
#include "base/kept.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lock.h"

struct nnb__keeper {
	_Atomic uint32_t refs; /* of its owner, and of each file */
	int pipe;
	pthread_mutex_t lock; /* guards the fields below */
	bool is_hurried;
	uint32_t n_later, later[NNB__TOLD_TOGETHER]; /* numbers that are not written yet */
};

struct nnb__kept {
	struct nnb__keeper *keeper;
	uint32_t number;
	uint32_t descriptors; /* the lock guards it */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nnb__kept **table;
static size_t table_room;
static _Atomic uint32_t n_kept; /* descriptors in the table */
static atomic_bool stays;       /* some file stays mapped */

struct nnb__keeper *nnb__keeper_new(int pipe)
{
	struct nnb__keeper *k = malloc(sizeof(*k));

	if (!k) {
		close(pipe);
		return NULL;
	}
	atomic_init(&k->refs, 1);
	k->pipe = pipe;
	pthread_mutex_init(&k->lock, NULL);
	k->is_hurried = false;
	k->n_later = 0;
	return k;
}

struct nnb__keeper *nnb__keeper_ref(struct nnb__keeper *k)
{
	atomic_fetch_add_explicit(&k->refs, 1, memory_order_relaxed);
	return k;
}

struct nnb__keeper *nnb__keeper_unref(struct nnb__keeper *k)
{
	if (k && atomic_fetch_sub_explicit(&k->refs, 1, memory_order_acq_rel) == 1) {
		nnb__keeper_hurry(k);
		close(k->pipe);
		pthread_mutex_destroy(&k->lock);
		free(k);
	}
	return NULL;
}

bool nnb__keeper_has_ended(const struct nnb__keeper *k)
{
	struct pollfd p = { .fd = k->pipe };

	return poll(&p, 1, 0) > 0; /* POLLERR: no process reads */
}

/* Write the numbers that wait. The lock of @k is held. */
static void keeper_write(struct nnb__keeper *k)
{
	assert(nnb__is_locked(&k->lock));
	while (k->n_later && write(k->pipe, k->later, k->n_later * sizeof(k->later[0])) < 0 && errno == EINTR)
		;
	k->n_later = 0;
}

void nnb__keeper_tell(struct nnb__keeper *k, uint32_t number)
{
	pthread_mutex_lock(&k->lock);
	k->later[k->n_later++] = number & ~NNB__KEPT_SMALL;
	if (!(number & NNB__KEPT_SMALL) || k->is_hurried || k->n_later == NNB__TOLD_TOGETHER)
		keeper_write(k);
	pthread_mutex_unlock(&k->lock);
}

void nnb__keeper_hurry(struct nnb__keeper *k)
{
	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->is_hurried = true;
	keeper_write(k);
	pthread_mutex_unlock(&k->lock);
}

/* Make the table have @fd. The lock is held. */
static bool table_reserve(int fd)
{
	size_t room = table_room ? table_room : 64;
	struct nnb__kept **larger;

	assert(nnb__is_locked(&lock) && fd >= 0);
	if ((size_t)fd < table_room)
		return true;
	while (room <= (size_t)fd)
		room *= 2;
	larger = realloc(table, room * sizeof(*table));
	if (!larger)
		return false;
	memset(larger + table_room, 0, (room - table_room) * sizeof(*table));
	table = larger;
	table_room = room;
	return true;
}

/* Take @fd out of the table. Returns its file if that was the last descriptor of it. The lock is held. */
static struct nnb__kept *table_remove(int fd)
{
	struct nnb__kept *kept = fd >= 0 && (size_t)fd < table_room ? table[fd] : NULL;

	assert(nnb__is_locked(&lock));
	if (!kept)
		return NULL;
	table[fd] = NULL;
	atomic_fetch_sub_explicit(&n_kept, 1, memory_order_relaxed);
	return --kept->descriptors ? NULL : kept;
}

/* Put @fd into the table, where there is room. Returns a file of which that number was the last. The lock is held. */
static struct nnb__kept *table_add(int fd, struct nnb__kept *kept)
{
	struct nnb__kept *before = table_remove(fd);

	table[fd] = kept;
	kept->descriptors++;
	atomic_fetch_add_explicit(&n_kept, 1, memory_order_relaxed);
	return before;
}

int nnb__kept_add(struct nnb__keeper *keeper, int fd, uint32_t number)
{
	struct nnb__kept *kept = malloc(sizeof(*kept)), *before = NULL;
	bool has_room;

	if (!kept)
		return -ENOMEM;
	*kept = (struct nnb__kept){ .keeper = keeper, .number = number };
	pthread_mutex_lock(&lock);
	has_room = table_reserve(fd);
	if (has_room)
		before = table_add(fd, kept);
	pthread_mutex_unlock(&lock);
	if (!has_room) {
		free(kept);
		return -ENOMEM;
	}
	nnb__keeper_ref(keeper);
	nnb__kept_end(before);
	return 0;
}

/* @own, a duplicate of @fd, is kept as that is. 0 or -ENOMEM. */
static int kept_share(int fd, int own)
{
	struct nnb__kept *before = NULL;
	int r = 0;

	pthread_mutex_lock(&lock);
	if ((size_t)fd < table_room && table[fd]) {
		if (table_reserve(own))
			before = table_add(own, table[fd]);
		else
			r = -ENOMEM;
	}
	pthread_mutex_unlock(&lock);
	nnb__kept_end(before);
	return r;
}

int nnb__dup(int fd)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 3), r;

	if (own < 0)
		return -errno;
	r = atomic_load_explicit(&n_kept, memory_order_relaxed) ? kept_share(fd, own) : 0;
	if (!r)
		return own;
	close(own);
	return r;
}

void nnb__kept_stay(int fd)
{
	if (!atomic_load_explicit(&n_kept, memory_order_relaxed))
		return;
	pthread_mutex_lock(&lock);
	if (fd >= 0 && (size_t)fd < table_room && table[fd]) {
		table[fd]->descriptors++; /* one that is never closed */
		atomic_store_explicit(&stays, true, memory_order_relaxed);
	}
	pthread_mutex_unlock(&lock);
}

bool nnb__kept_stays(void)
{
	return atomic_load_explicit(&stays, memory_order_relaxed);
}

struct nnb__kept *nnb__kept_take(int fd)
{
	struct nnb__kept *kept;

	if (!atomic_load_explicit(&n_kept, memory_order_relaxed))
		return NULL;
	pthread_mutex_lock(&lock);
	kept = table_remove(fd);
	pthread_mutex_unlock(&lock);
	return kept;
}

void nnb__kept_end(struct nnb__kept *kept)
{
	if (!kept)
		return;
	nnb__keeper_tell(kept->keeper, kept->number);
	nnb__keeper_unref(kept->keeper);
	free(kept);
}
