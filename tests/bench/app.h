/*
 * app.h -- apps that use bursts in a benchmark: a client with a model, and users, each with a burst and pools of its
 * own.
 */
#ifndef APP_H
#define APP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "nnb/client.h"

/* ---- a client; what fails here ends the run ---- */

struct app {
	struct nnb_client *client;
	struct nnb_remote *remote;
	uint32_t in_bytes, out_bytes; /* bytes of the model's only input and only output */
};

/* Ends the run if there is a status; the reason may be NULL. */
_Noreturn void fail(enum nnb_status status, const char *what, const struct nnb_reason *reason);

static inline void must(enum nnb_status status, const char *what, const struct nnb_reason *reason)
{
	if (__builtin_expect(status != NNB_STATUS_NONE, 0))
		fail(status, what, reason);
}

/* A model that computes, in place of copy_model. */
enum net_kind { NET_MOBILENET, NET_ONE_OPERATION /* a CONV_2D of some 50 ms */, N_NETS };

/* RELU of @bytes of float32, which the null driver does not compute. Owned by the caller. */
struct nnb_model *copy_model(uint32_t bytes);

void app_open_net(struct app *a, enum net_kind kind, uint32_t priority, const char *socket);
void app_open(struct app *a, const char *socket, const struct nnb_model *model, uint32_t in_bytes, uint32_t out_bytes);
void app_open_at(struct app *a, uint32_t priority, const char *socket, const struct nnb_model *model, uint32_t in_bytes,
                 uint32_t out_bytes);
void app_close(struct app *a);

/* One who executes: its input is a pool, its output another. */
struct user {
	struct nnb_burst *burst;
	struct nnb_pool *pools[2];
	struct nnb_argument in, out;
	struct nnb_call call;
	struct nnb_output_shape shape;
	struct nnb_answer answer;
	struct nnb_reason reason;
};

void user_pools(struct user *u, const struct app *a);
void user_no_pools(struct user *u);
void user_burst(struct user *u, const struct app *a, uint64_t window_ns);
void user_open(struct user *u, const struct app *a, uint64_t window_ns); /* both, and execute once: warm */
void user_close(struct user *u);

static inline void run_burst(struct user *u)
{
	must(nnb_burst_execute(u->burst, &u->call, &u->answer, &u->reason), "a burst execution", &u->reason);
	if (u->answer.fallback)
		must(NNB_STATUS_GENERAL_FAILURE, "a burst execution that fell back", NULL);
}

static inline void run_sync(struct user *u, const struct app *a)
{
	must(nnb_remote_execute(a->remote, &u->call, &u->answer, &u->reason), "a synchronous execution", &u->reason);
}

/* ---- apps as processes: this program again, told what to do over a socket ---- */

enum { APP_BURSTS_MAX = 64 };

struct process {
	pid_t pid;
	int sock;
};

/* Start an app with @bursts warm bursts of copy_model(@bytes); it is ready when this returns. */
void process_start(struct process *p, const char *socket, uint32_t bytes, uint32_t bursts, uint64_t window_ns);

/* The same with one burst of such a model. */
void process_start_net(struct process *p, const char *socket, enum net_kind kind, uint32_t priority,
                       uint64_t window_ns);
void process_end(struct process *p);

/*
 * Get a thread for each of the first @bursts ready; then have each execute again and again for @ms, or until stopped;
 * then how often in all.
 */
void process_ready(const struct process *p, uint32_t bursts, uint32_t ms);
void process_go(const struct process *p);
void process_stop(const struct process *p); /* well before it would end by itself */
uint64_t process_report(const struct process *p);

/* Execute @n times on one thread, by burst or by @calls, between two marks (syscalls.h), upon process_go. */
void process_ready_marked(const struct process *p, uint32_t n, bool calls);

/* In a program started by process_start, before all else: be that app. -1: it was not. */
int process_main(int argc, char **argv);

#endif
