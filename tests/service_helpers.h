/*
 * service_helpers.h -- a real nnburstd for tests: started on a socket of its own, watched, stopped by its pid; and
 * what an app of it needs.
 *
 * What is waited for is polled, for as long as PATIENCE; what does not come by then fails the test, with what is
 * known of the service. A service dies with the test that started it.
 */
#ifndef SERVICE_HELPERS_H
#define SERVICE_HELPERS_H

#include <sys/types.h>

#include "unit/device_helpers.h"
#include "unit/fmq_helpers.h"
#include "unit/gate.h"

#include "nnb/client.h"

/* ---- the service ---- */

/* What it holds, as the kernel sees it. Memory that is only its own is for a sanitizer to see. */
struct footprint {
	unsigned fds, threads, maps; /* maps: of shared memory */
};

struct service {
	pid_t pid; /* 0: it does not run */
	char dir[32], socket[64], gate_path[64], log[64];
	int notify; /* where it tells how it is */
	struct gate *gate;
	struct footprint baseline; /* as it was when it said that it was ready */
	unsigned files;            /* how many file descriptors it may have; 0: as many as the test */
	unsigned threads;          /* how many threads its user may have, who is not root; 0: as many as the test's */
	uid_t user;                /* who runs it, by service_run_as; 0: the test's */
};

/* Make the directory, its gate, and the socket to be told on. No other user can enter the directory. */
void service_init(struct service *s);

/* Let other users enter it, and reach the service's socket. */
void service_admit_other_users(const struct service *s);

/* Have it run by @user from now on, who may enter the directory. For root only. */
void service_run_as(struct service *s, uid_t user);

/*
 * Run nnburstd with the gate's driver, lanes for all who are held at once, and these options, the last one NULL, and wait
 * until it is ready. To be called again after service_stop or service_kill.
 */
void service_start(struct service *s, const char *const *options);
#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Run it only. */
void service_spawn(struct service *s, const char *const *options);

/* Wait for its next message to NOTIFY_SOCKET. False: it ended instead. */
bool service_told(struct service *s, char ret[256]);

int service_reap(struct service *s); /* wait for its end: its wait status */
int service_stop(struct service *s); /* SIGTERM, and the same */
void service_kill(struct service *s);

/* It ends with exit status 0 (so no sanitizer has anything to say), and nothing of it is left. */
void service_fini(struct service *s);

struct footprint service_footprint(const struct service *s);

/* It holds what it held when it was ready, or will soon. */
void service_settles(const struct service *s);

/* It has no more mappings than @maps, now. */
void service_maps(const struct service *s, unsigned maps);

void service_show(const struct service *s); /* what it holds and has said, to standard error */

/* Wait until *@word is @value. */
void await(const atomic_uint *word, unsigned value);
void breathe(void); /* a millisecond between two looks */

/* Remove a directory and all in it. */
void remove_all(const char *dir);

/* ---- processes: this program again, for a scene of main() ---- */

struct child {
	pid_t pid;
	int says; /* its standard output */
};

/* Run "PROGRAM --scene NAME SOCKET ARGUMENT". */
void child_start(struct child *c, const char *name, const struct service *s, const char *argument);
int child_hears(struct child *c); /* the next byte it says, or -1: it ended */
void child_kill(struct child *c); /* SIGKILL; until then it lives */
int child_end(struct child *c);   /* wait for its end: its exit status, or -1 */

/* In a scene: say @byte, and sleep for ever. */
void say(char byte);
void stay(void) __attribute__((noreturn));

/* ---- an app ---- */

struct nnb_client *app_open(const struct service *s);
struct nnb_remote *app_prepare(struct nnb_client *client, const struct nnb_model *model);
struct nnb_service_counts app_counts(struct nnb_client *client);

/*
 * Wait until a count that the service has of what apps hold, as `app.pools`, equals @n. The service gives back what a call
 * or a channel held after the client has its answer, so that the next call can still see it.
 */
#define app_comes_to_hold(client, count, n)                                     \
	do {                                                                    \
		uint64_t until_ns_ = now_ns() + PATIENCE;                       \
		while (app_counts(client).count != (n) && now_ns() < until_ns_) \
			breathe();                                              \
		assert_int_equal(app_counts(client).count, (n));                \
	} while (0)

struct nnb_burst *app_burst(struct nnb_remote *remote);

/* One input and one output of @n floats each, in one pool. */
struct io {
	struct nnb_pool *pool;
	float *x, *y;
	uint32_t n;
	struct nnb_argument in, out;
	struct nnb_output_shape shape;
	struct nnb_call call;
	struct nnb_answer answer;
};

void io_init(struct io *io, uint32_t n);                           /* and refreshed: the gate takes notice of it */
void io_init_on(struct io *io, uint32_t n, struct nnb_pool *pool); /* which is taken */
void io_fini(struct io *io);
/* Other inputs, and outputs that are wrong. */
void io_refresh(struct io *io, float first);
bool io_right(const struct io *io, enum nnb_op op, uint32_t first); /* as vector_model says? */

/* Execute it, freshly filled, and look at every output. */
void expect_sync(struct nnb_remote *remote, struct io *io, enum nnb_op op);
void expect_burst(struct nnb_burst *burst, struct io *io, enum nnb_op op);

#define assert_none(call)                                                             \
	do {                                                                          \
		struct nnb_reason why = { "" };                                       \
		enum nnb_status is = (call);                                          \
		if (is)                                                               \
			fail_msg("%s: %s: %s", #call, nnb_status_name(is), why.text); \
	} while (0)

#endif
