/*
 * qos_app.h -- apps for tests of scheduling: child processes that execute a test's orders and report the outcomes;
 * and a service whose executions stop at a gate while the test arranges the order of the waiting ones.
 *
 * No test here depends on speed: an execution is on a lane when the gate holds it, and waits when the service reports
 * it.
 */
#ifndef QOS_APP_H
#define QOS_APP_H

#include "service_helpers.h"

enum { LOW, MEDIUM, HIGH, N_PRIORITIES };
enum path { BY_SYNC, BY_ASYNC, BY_BURST, BY_FENCED, N_PATHS };
extern const char *const path_names[N_PATHS], *const priority_names[N_PRIORITIES];

#define SECOND (1000 * MS)
#define UNLIMITED ((uint64_t)INT64_MAX) /* an unlimited deadline, as in VTS */

/*
 * ---- their model: x to y0 = x + 1, which is computed first, and y1 = x + n_ops - 1, which is computed step by step
 * ----
 */

enum { ELEMENTS = 16, N_OPS = 4 };

struct nnb_model *step_model(uint32_t n_ops);

/*
 * Where y0 lies: apart from x; over x, so that y1 = x + n_ops, in x's pool; or over x in another pool of the
 * same memory.
 */
enum placing { APART, OVER_INPUT, OVER_INPUT_ELSEWHERE };

struct steps {
	struct nnb_pool *pools[2];
	enum placing placing;
	uint32_t n_ops, tag;
	float *x, *y0, *y1;
	struct nnb_argument in, out[2];
	struct nnb_output_shape shapes[2];
	struct nnb_call call;
	struct nnb_answer answer;
};

/* Aborts if there is no memory. @tag is the first element of the input. */
void steps_init(struct steps *s, uint32_t n_ops, enum placing placing, uint32_t tag);
void steps_refresh(struct steps *s);
bool steps_right(const struct steps *s);
void steps_fini(struct steps *s);

/* ---- executing on each path, and waiting ---- */

struct outcome {
	uint32_t tag;
	enum nnb_status launch, status; /* equal, except for asynchronous executions */
	unsigned n_callbacks;           /* number of callbacks of an asynchronous execution */
	uint32_t n_shapes;
	bool right, shapes_right;
	struct nnb_timing timing;
	char why[120];
};

void steps_execute(struct nnb_remote *remote, enum path path, struct steps *s, struct outcome *ret);

/* ---- an app ---- */

struct order {
	enum { ORDER_PREPARE, ORDER_EXECUTE } what;
	uint32_t model; /* less than MODELS_MAX */
	uint32_t priority, n_ops;
	enum path path;
	uint32_t tag;
	enum placing placing;
	uint64_t deadline_ns; /* 0: no deadline */
	bool measure;
};
enum { MODELS_MAX = 8 };

struct app {
	struct child child;
	int line;
};

/* @hal: the app's HAL; 0: the newest. */
void app_start(struct app *a, const struct service *s, enum nnb_hal hal);

/* The app prepares the step model of @n_ops with @priority; orders call it @model. */
void app_prepare_steps(struct app *a, uint32_t model, uint32_t priority, uint32_t n_ops);

void app_send_order(struct app *a, const struct order *order); /* does not wait for the outcome */
bool app_has_outcome(struct app *a);
struct outcome app_read_outcome(struct app *a);     /* read the next outcome */
void app_expect_right(struct app *a, uint32_t tag); /* read the next outcome, which must be right */
void app_expect_status(struct app *a, uint32_t tag, enum nnb_status status);

void app_end(struct app *a);  /* the app exits by itself */
void app_kill(struct app *a); /* kill -9 */

/* The program's main() in the app's process. */
void app_scene(const char *socket_path, const char *argument) __attribute__((noreturn));

/* ---- the service ---- */

/* Hold each execution at operation @op, and clear the notes. */
void gate_hold(struct service *s, unsigned op);
void gate_open(struct service *s);
void gate_release_one(struct service *s); /* let one held execution go on */
void gate_has_seen(struct service *s, unsigned came);

/* Wait until @n executions, of all apps, wait for a lane. @watch is any client of this process. */
void await_waiting(struct nnb_client *watch, uint32_t n);

/*
 * The operations that have run, by tag and operation: "10:0 20:0 20:1 10:1"; if @first_only, the first
 * operations alone: "10 20". Static.
 */
const char *gate_notes(const struct service *s, bool first_only);

/*
 * ---- the fixture of a test: a service, a client that watches it, and apps with the step model once for each
 * priority ----
 */

enum { TURNS_APPS_MAX = 3 };

struct turns {
	struct service s;
	struct nnb_client *watch;
	struct app apps[TURNS_APPS_MAX];
	unsigned n_apps;
	const void *row; /* the state of the test, as add_test() was given it */
};

/* For add_test(). At the end all apps end, the last one first, and the service must hold nothing. */
int turns_set_up(void **state);
int turns_tear_down(void **state);

void turns_start(struct turns *t, const char *const *options);
void turns_add_app(struct turns *t);
void turns_end_app(struct turns *t);  /* the last one */
void turns_kill_app(struct turns *t); /* the last one */

/* Fail if the operations that have run are not @wanted, in the form of gate_notes(). */
void turns_expect_notes(const struct turns *t, bool first_only, const char *wanted);

#endif
