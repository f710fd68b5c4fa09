/*
 * service_helpers.h -- a real nnburstd for tests: started on a socket of its own, observed, stopped by its pid;
 * and what an app needs to use it.
 *
 * Helpers that wait poll for up to PATIENCE; then they fail the test and print the state of the service. A
 * service dies with the test that started it.
 */
#ifndef SERVICE_HELPERS_H
#define SERVICE_HELPERS_H

#include <sys/types.h>

#include "unit/device_helpers.h"
#include "unit/fmq_helpers.h"
#include "unit/gate.h"

#include "nnb/client.h"

/* ---- the service ---- */

/* The service's resources, as the kernel sees them. A sanitizer checks the service's private memory. */
struct footprint {
	unsigned fds, threads, maps; /* maps: mappings of shared memory */
};

struct service {
	pid_t pid; /* 0: the service does not run */
	char dir[32], socket[64], gate_path[64], log[64];
	int notify; /* the socket on which the service reports its state */
	struct gate *gate;
	struct footprint baseline; /* its resources when it reported READY */
	unsigned files;            /* limit of file descriptors; 0: the test's own */
	unsigned threads;          /* limit of threads of its user, who is not root; 0: the test's own */
	uid_t user;                /* the user that service_run_as sets; 0: the test's own */
};

/* End the program as skipped where it may not have @n file descriptors: tests that attack a service open hundreds. */
void skip_without_files(unsigned n);

/* Make the directory, its gate, and the socket for the service's reports. No other user can enter the directory. */
void service_init(struct service *s);

/* Let other users enter the directory, and reach the service's socket. */
void service_admit_other_users(const struct service *s);

/* Run the service as @user from now on; @user may enter the directory. For root only. */
void service_run_as(struct service *s, uid_t user);

/*
 * Run nnburstd with the gate's driver, a lane for each execution that tests hold at once, and these options, the last
 * one NULL. Wait until it is ready. Call this again after service_stop or service_kill.
 */
void service_start(struct service *s, const char *const *options);
#define OPTIONS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Run it only. */
void service_spawn(struct service *s, const char *const *options);

/* Wait for its next message to NOTIFY_SOCKET. False: it ended instead. */
bool service_read_state(struct service *s, char ret[256]);

int service_reap(struct service *s); /* wait for its end: its wait status */
int service_stop(struct service *s); /* SIGTERM, and the same */
void service_kill(struct service *s);

/*
 * The service must end with exit status 0 (so a sanitizer found nothing), and leave no process and no file
 * behind.
 */
void service_fini(struct service *s);

/* cmocka's tear-down: the same, of the service *@state, which is freed. */
int service_tear_down(void **state);

struct footprint service_footprint(const struct service *s);

/* The service must come back to the resources of its baseline. */
void service_settles(const struct service *s);

/* The service must have no more than @maps mappings, now. */
void service_maps(const struct service *s, unsigned maps);

void service_show(const struct service *s); /* print its resources and its log to standard error */

/* Wait until *@word is @value. */
void await(const atomic_uint *word, unsigned value);
void poll_pause(void); /* sleep a millisecond between two polls */

/* Remove a directory with all its files. */
void remove_all(const char *dir);

/* ---- processes: this program again, for a scene of main() ---- */

struct child {
	pid_t pid;
	int output; /* the read end of its standard output */
};

/* Run "PROGRAM --scene NAME SOCKET ARGUMENT". */
void child_start(struct child *c, const char *name, const struct service *s, const char *argument);
int child_read(struct child *c);  /* the next byte that the child writes; -1: the child ended */
void child_kill(struct child *c); /* SIGKILL; without it the child does not end */
int child_end(struct child *c);   /* wait for the child's end; its exit status, or -1 */

/* In a scene: write @byte to the test, and sleep forever. */
void scene_report(char byte);
void scene_stay(void) __attribute__((noreturn));

/* ---- an app ---- */

struct nnb_client *app_open(const struct service *s);
struct nnb_remote *app_prepare(struct nnb_client *client, const struct nnb_model *model);
struct nnb_service_counts app_counts(struct nnb_client *client);

/*
 * Wait until one of the service's counts of what apps hold, such as `app.pools`, equals @n. The service
 * releases what a call or channel held only after the client has its answer, so the next call can still see the
 * old count.
 */
#define app_comes_to_hold(client, count, n)                                     \
	do {                                                                    \
		uint64_t until_ns_ = now_ns() + PATIENCE;                       \
		while (app_counts(client).count != (n) && now_ns() < until_ns_) \
			poll_pause();                                           \
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

/* The inputs are filled, because the gate reads them. */
void io_init(struct io *io, uint32_t n);
void io_init_on(struct io *io, uint32_t n, struct nnb_pool *pool); /* @pool is taken */
void io_fini(struct io *io);
/* Fill in new inputs, and outputs that are wrong. */
void io_refresh(struct io *io, float first);
bool io_right(const struct io *io, enum nnb_op op, uint32_t first); /* whether outputs are those of vector_model */

/* Refresh @io, execute, and check each output. */
void expect_sync(struct nnb_remote *remote, struct io *io, enum nnb_op op);
void expect_burst(struct nnb_burst *burst, struct io *io, enum nnb_op op);

#define assert_none(call)                                                             \
	do {                                                                          \
		struct nnb_reason why = { "" };                                       \
		enum nnb_status is = (call);                                          \
		if (is)                                                               \
			fail_msg("%s: %s: %s", #call, nnb_status_name(is), why.text); \
	} while (0)

/* What a callback reported: told_note is one for nnb_remote_execute_async, with a struct told_status. */
struct told_status {
	atomic_uint times;
	enum nnb_status status;
};

void told_note(void *arg, const struct nnb_result *result);

/*
 * Launch @call, and wait for its callback. Returns the status of the launch; *ret_told is the callback's. @why: NULL is
 * fine.
 */
enum nnb_status execute_and_await(struct nnb_remote *remote, const struct nnb_call *call, enum nnb_status *ret_told,
                                  struct nnb_reason *why);

/* ---- a service with one app, which has a model that adds ---- */

struct one_app {
	struct service s;
	struct nnb_model *adds;
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst; /* NULL: the test needs none */
	struct io io;
};

/* Connect the app to the service, which runs, and let it prepare its model of @n elements. */
void one_app_open(struct one_app *a, uint32_t n);

/* Close what is open; the service must come back to its baseline, and end. */
void one_app_close(struct one_app *a);

/* cmocka's tear-down: the same, of the struct one_app *@state, which is freed. */
int one_app_tear_down(void **state);

/* A visit to the service: connect, prepare @adds, execute it by a call and by a burst, leave. */
void visit_service(const struct service *s, const struct nnb_model *adds, uint32_t n);

#endif
