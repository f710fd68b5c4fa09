/*
 * peers.h -- shared by benchmarks of two processes: cpus, a peer that dies with us, round trips over any transport,
 * and the limit these are held against: two cache lines, one each way.
 *
 * What fails here ends the run. A bench is single-threaded where it starts a peer, as far as the peer is concerned.
 */
#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "bench.h"

enum { CLIENT = 0, SERVER = 1 };
enum { MESSAGE_MAX = 256 };

_Noreturn void die(const char *what); /* with the text of errno; exit status 5 */
void write_fully(int fd, const void *p, size_t n);
void read_fully(int fd, void *p, size_t n);

/* ---- placements ---- */

enum { TWO_CPUS, UNPINNED, ONE_CPU, N_PLACEMENTS };

extern const char *const placements[N_PLACEMENTS];

void find_cpus(void);                 /* two that we may use; exits 5 where there is one only */
int cpu_of(int placement, int side);  /* -1: any */
void settle(int placement, int side); /* this thread */
void settle_all(pid_t pid, int cpu);  /* all threads of a process; those it makes from now on follow */

/* The threads of a process, so that those which it makes next can be distinguished. */
enum { TASKS_MAX = 256 };

struct tasks {
	pid_t tids[TASKS_MAX];
	unsigned n;
};

void tasks_of(pid_t pid, struct tasks *ret);
void settle_new(pid_t pid, const struct tasks *before, int cpu);

/* ---- peers ---- */

struct link; /* the transport between the two sides of a bench */

/* Run @body in a child that dies with us, after @attach (NULL: nothing); it has got there when this returns. */
pid_t start_peer(struct link *l, void (*attach)(struct link *l), int placement,
                 void (*body)(struct link *l, const void *arg), const void *arg);
void end_peer(pid_t pid);

/* ---- round trips ---- */

struct transport {
	const char *name;
	void (*open)(struct link *l);
	void (*send)(struct link *l, int side, const void *p); /* from this side */
	void (*recv)(struct link *l, int side, void *p);       /* on this side */
	bool polls;                                            /* never sleeps in the kernel */
};

/* The number every message begins with. Before a receive the buffer holds the number before the expected one. */
static inline uint64_t number_of(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void check(const void *p, uint64_t want, const struct transport *t);

/* How often: polling transports in batches, so that the clock does not count, and singly for the p99. */
struct plan {
	const struct transport *t;
	unsigned warm_up, batches, batch, singles;
};

struct plan plan_for(const struct bench *b, const struct transport *t, int placement);

/* Measure a round of @row over @l, which is open. */
void round_trips(struct bench *b, size_t row, struct link *l, void (*attach)(struct link *l), const struct transport *t,
                 int placement);

/* The limit's transports: a store and a load, with and without a pause between looks. They use no link. */
void lines_open(struct link *l);
void line_send(struct link *l, int side, const void *p);
void line_recv(struct link *l, int side, void *p);
void line_recv_pause(struct link *l, int side, void *p);

/* The cost of two wakes: a word each way, FUTEX_WAKE and FUTEX_WAIT, nothing else. No link either. */
void futex_open(struct link *l);
void futex_send(struct link *l, int side, const void *p);
void futex_recv(struct link *l, int side, void *p);

#endif
