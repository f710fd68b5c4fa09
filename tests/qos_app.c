/* qos_app.c -- apps for tests of who gets the device and when. */
#include "qos_app.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>

#include "nnb/fence.h"

const char *const path_names[N_PATHS] = { "sync", "async", "burst", "fenced" };
const char *const priority_names[N_PRIORITIES] = { "LOW", "MEDIUM", "HIGH" };

#define must_not_fail(what)      \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

/* ---- the model ---- */

struct nnb_model *step_model(uint32_t n_ops)
{
	float one[ELEMENTS];
	uint32_t x, c, act, y[2], t;
	struct nnb_model *m;

	for (int i = 0; i < ELEMENTS; i++)
		one[i] = 1;
	must_not_fail(!nnb_model_new(&m, "steps", NNB_HAL_1_0));
	t = x = float_tensor(m, ELEMENTS);
	c = float_tensor(m, ELEMENTS);
	must_not_fail(!nnb_model_value(m, c, one, sizeof(one)));
	act = int_scalar(m, NNB_FUSED_NONE);
	y[0] = float_tensor(m, ELEMENTS);
	must_not_fail(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x, c, act }, 3, &y[0], 1) >= 0);
	for (uint32_t i = 1; i < n_ops; i++) {
		y[1] = float_tensor(m, ELEMENTS);
		must_not_fail(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ t, c, act }, 3, &y[1], 1) >= 0);
		t = y[1];
	}
	must_not_fail(!nnb_model_finish(m, &x, 1, y, 2));
	return m;
}

enum { BYTES = ELEMENTS * 4, X = 0, Y1 = BYTES, Y0 = 2 * BYTES, POOL = 3 * BYTES };

void steps_init(struct steps *s, uint32_t n_ops, enum placing placing, uint32_t tag)
{
	uint32_t y0 = placing == APART ? Y0 : X;

	*s = (struct steps){ .placing = placing, .n_ops = n_ops, .tag = tag, .in.location = { 0, X, BYTES } };
	s->out[0].location = (struct nnb_location){ placing == OVER_INPUT_ELSEWHERE, y0, BYTES };
	s->out[1].location = (struct nnb_location){ 0, Y1, BYTES };
	must_not_fail(!nnb_pool_new(&s->pools[0], POOL));
	must_not_fail(!nnb_pool_from(&s->pools[1], nnb_pool_memory(s->pools[0])));
	s->x = nnb_pool_data(s->pools[0]);
	s->y0 = s->x + y0 / 4;
	s->y1 = s->x + Y1 / 4;
	s->call = (struct nnb_call){
		.inputs = &s->in, .outputs = s->out, .pools = s->pools, .n_inputs = 1, .n_outputs = 2, .n_pools = 2
	};
	s->answer.shapes = s->shapes;
	steps_refresh(s);
}

void steps_refresh(struct steps *s)
{
	for (int i = 0; i < ELEMENTS; i++) {
		s->y0[i] = s->y1[i] = -1e9F;
		s->x[i] = (float)(s->tag + (uint32_t)i);
	}
}

bool steps_right(const struct steps *s)
{
	bool right = true;

	for (uint32_t i = 0; i < ELEMENTS; i++) {
		float x = (float)(s->tag + i);

		right &= s->y0[i] == x + 1 && s->y1[i] == x + (float)(s->n_ops - (s->placing == APART));
	}
	return right;
}

void steps_fini(struct steps *s)
{
	nnb_pool_free(s->pools[0]);
	nnb_pool_free(s->pools[1]);
}

/* ---- executing ---- */

static bool shapes_right(const struct nnb_output_shape *shapes, uint32_t n)
{
	bool right = true;

	for (uint32_t i = 0; i < n; i++)
		right &= shapes[i].rank == 1 && shapes[i].dims[0] == ELEMENTS && shapes[i].sufficient;
	return right;
}

struct told {
	sem_t told;
	atomic_uint times;
	struct outcome *to;
};

static void on_done(void *arg, const struct nnb_result *result)
{
	struct told *t = arg;

	if (atomic_fetch_add(&t->times, 1))
		return;
	t->to->status = result->status;
	t->to->n_shapes = result->n_shapes;
	t->to->shapes_right = shapes_right(result->shapes, result->n_shapes);
	t->to->timing = result->timing;
	sem_post(&t->told);
}

static void execute_async(struct nnb_remote *remote, struct steps *s, struct outcome *ret, struct nnb_reason *why)
{
	struct told t = { .to = ret };

	sem_init(&t.told, 0, 0);
	ret->launch = nnb_remote_execute_async(remote, &s->call, on_done, &t, why);
	while (sem_wait(&t.told))
		;
	ret->n_callbacks = atomic_load(&t.times);
	sem_destroy(&t.told);
}

static void execute_fenced(struct nnb_remote *remote, struct steps *s, struct outcome *ret, struct nnb_reason *why)
{
	struct nnb_fenced *fenced;
	struct nnb_timing since;
	int fence, state;

	ret->timing = NNB_NO_TIMING;
	ret->status = ret->launch = nnb_remote_execute_fenced(remote, &s->call, NULL, &fenced, &fence, why);
	if (ret->launch)
		return;
	do
		state = nnb_fence_wait(&fence, 1, 0);
	while (state == -EINTR);
	ret->status = nnb_fenced_info(fenced, &ret->timing, &since, why);
	if ((state == NNB_FENCE_SIGNALLED) != !ret->status)
		ret->status = NNB_STATUS_DEAD_OBJECT; /* an expectation that no test has, so the test fails */
	nnb_fenced_free(fenced);
	close(fence);
}

static void execute_by_burst(struct nnb_remote *remote, struct steps *s, struct nnb_reason *why, struct outcome *ret)
{
	struct nnb_burst *burst;

	ret->timing = NNB_NO_TIMING;
	ret->status = nnb_remote_burst(remote, NULL, &burst, why);
	if (ret->status)
		return;
	ret->status = nnb_burst_execute(burst, &s->call, &s->answer, why);
	if (s->answer.fallback)
		ret->status = NNB_STATUS_DEAD_OBJECT; /* an expectation that no test has, so the test fails */
	ret->timing = s->answer.timing;
	nnb_burst_free(burst);
}

void steps_execute(struct nnb_remote *remote, enum path path, struct steps *s, struct outcome *ret)
{
	struct nnb_reason why = { "" };

	*ret = (struct outcome){ .tag = s->tag, .shapes_right = true };
	switch (path) {
	case BY_ASYNC:
		execute_async(remote, s, ret, &why);
		break;
	case BY_FENCED:
		execute_fenced(remote, s, ret, &why);
		break;
	default:
		if (path == BY_BURST)
			execute_by_burst(remote, s, &why, ret);
		else
			ret->status = nnb_remote_execute(remote, &s->call, &s->answer, &why);
		ret->launch = ret->status;
		ret->timing = s->answer.timing;
		ret->n_shapes = s->answer.n_shapes;
		ret->shapes_right = shapes_right(s->shapes, ret->n_shapes);
	}
	ret->right = !ret->status && steps_right(s);
	snprintf(ret->why, sizeof(ret->why), "%.100s", why.text);
}

/* ---- an app's process ---- */

struct own_model {
	struct nnb_remote *remote;
	uint32_t n_ops;
};

struct work {
	const struct own_model *model;
	struct order order;
	int line;
};

static void tell(int line, const struct outcome *o)
{
	if (send(line, o, sizeof(*o), MSG_NOSIGNAL) != sizeof(*o))
		_exit(1);
}

static void *execute(void *arg)
{
	struct work *w = arg;
	struct outcome o;
	struct steps s;

	steps_init(&s, w->model->n_ops, w->order.placing, w->order.tag);
	s.call.terms.deadline_ns = w->order.deadline_ns;
	s.call.measure = w->order.measure;
	steps_execute(w->model->remote, w->order.path, &s, &o);
	steps_fini(&s);
	tell(w->line, &o);
	free(w);
	return NULL;
}

static void launch(const struct own_model *model, const struct order *order, int line)
{
	struct work *w = malloc(sizeof(*w));
	pthread_t thread;

	must_not_fail(w);
	*w = (struct work){ model, *order, line };
	must_not_fail(!pthread_create(&thread, NULL, execute, w));
	pthread_detach(thread);
}

static void prepare(struct nnb_client *client, struct own_model *ret, const struct order *order, int line)
{
	const struct nnb_prepare how = { .preference = 1, .priority = order->priority };
	struct nnb_model *m = step_model(order->n_ops);
	struct outcome o = { 0 };

	ret->n_ops = order->n_ops;
	o.status = nnb_remote_prepare(client, m, &how, NULL, &ret->remote, NULL);
	nnb_model_free(m);
	tell(line, &o);
}

void app_scene(const char *socket_path, const char *argument)
{
	struct nnb_client_config config = { .socket = socket_path };
	struct own_model models[MODELS_MAX] = { 0 };
	struct nnb_client *client;
	struct order order;
	unsigned hal;
	int line;

	if (sscanf(argument, "%d %u", &line, &hal) != 2)
		_exit(1);
	config.hal = (enum nnb_hal)hal;
	if (nnb_client_open(&client, &config, NULL))
		_exit(2);
	scene_report('.');
	while (recv(line, &order, sizeof(order), 0) == sizeof(order)) {
		if (order.what == ORDER_PREPARE)
			prepare(client, &models[order.model], &order, line);
		else
			launch(&models[order.model], &order, line);
	}
	_exit(0); /* real apps end without cleaning up, too */
}

/* ---- the test's side of an app ---- */

void app_start(struct app *a, const struct service *s, enum nnb_hal hal)
{
	char argument[32];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETFD, 0), 0);
	snprintf(argument, sizeof(argument), "%d %u", ends[1], (unsigned)hal);
	child_start(&a->child, "app", s, argument);
	close(ends[1]);
	a->line = ends[0];
	assert_int_equal(child_read(&a->child), '.');
}

void app_send_order(struct app *a, const struct order *order)
{
	assert_int_equal(send(a->line, order, sizeof(*order), MSG_NOSIGNAL), sizeof(*order));
}

static bool has_news(struct app *a, int ms)
{
	struct pollfd at = { .fd = a->line, .events = POLLIN };

	return poll(&at, 1, ms) == 1;
}

bool app_has_outcome(struct app *a)
{
	return has_news(a, 0);
}

struct outcome app_read_outcome(struct app *a)
{
	struct outcome o;

	if (!has_news(a, (int)(PATIENCE / MS)))
		fail_msg("an app hears nothing of what it began");
	if (recv(a->line, &o, sizeof(o), 0) != sizeof(o))
		fail_msg("an app has ended");
	return o;
}

void app_expect_status(struct app *a, uint32_t tag, enum nnb_status status)
{
	struct outcome o = app_read_outcome(a);

	assert_int_equal(o.tag, tag);
	if (o.status != status)
		fail_msg("%u: %s (%s), not %s", tag, nnb_status_name(o.status), o.why, nnb_status_name(status));
	assert_true(o.status || o.right);
}

void app_expect_right(struct app *a, uint32_t tag)
{
	app_expect_status(a, tag, NNB_STATUS_NONE);
}

void app_prepare_steps(struct app *a, uint32_t model, uint32_t priority, uint32_t n_ops)
{
	app_send_order(a,
	               &(struct order){ .what = ORDER_PREPARE, .model = model, .priority = priority, .n_ops = n_ops });
	assert_int_equal(app_read_outcome(a).status, NNB_STATUS_NONE);
}

void app_end(struct app *a)
{
	close(a->line);
	assert_int_equal(child_end(&a->child), 0);
}

void app_kill(struct app *a)
{
	child_kill(&a->child);
	close(a->line);
}

/* ---- the service ---- */

void gate_hold(struct service *s, unsigned op)
{
	atomic_store(&s->gate->let, 0);
	atomic_store(&s->gate->came, 0);
	atomic_store(&s->gate->n_ops, 0);
	atomic_store(&s->gate->hold_op, op);
	atomic_store(&s->gate->hold_runs, 1);
}

void gate_open(struct service *s)
{
	atomic_store(&s->gate->hold_runs, 0);
}

void gate_release_one(struct service *s)
{
	atomic_store(&s->gate->let, 1);
	await(&s->gate->let, 0);
}

void gate_has_seen(struct service *s, unsigned came)
{
	await(&s->gate->came, came);
}

enum { APPS_MAX = 64 };

static uint32_t waiting(struct nnb_client *watch)
{
	struct nnb_app_counts apps[APPS_MAX];
	uint32_t n = 0, all = 0;

	assert_none(nnb_client_apps(watch, apps, APPS_MAX, &n, &why));
	assert_true(n <= APPS_MAX);
	while (n)
		all += apps[--n].waiting;
	return all;
}

void await_waiting(struct nnb_client *watch, uint32_t n)
{
	uint64_t end = now_ns() + PATIENCE;

	for (; waiting(watch) != n; poll_pause())
		if (now_ns() >= end)
			fail_msg("%u executions wait for a lane, not %u", waiting(watch), n);
}

const char *gate_notes(const struct service *s, bool first_only)
{
	static char text[2048];
	unsigned n = atomic_load(&s->gate->n_ops);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < n && i < GATE_OPS && used + 32 < sizeof(text); i++) {
		const struct gate_op *op = &s->gate->ops[i];
		const char *between = used ? " " : "";

		if (!first_only)
			used += (size_t)snprintf(text + used, 32, "%s%g:%u", between, op->tag, op->op);
		else if (!op->op)
			used += (size_t)snprintf(text + used, 32, "%s%g", between, op->tag);
	}
	return text;
}

/* ---- the fixture of a test ---- */

int turns_set_up(void **state)
{
	struct turns *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->row = *state;
	service_init(&t->s);
	*state = t;
	return 0;
}

int turns_tear_down(void **state)
{
	struct turns *t = *state;

	gate_open(&t->s);
	while (t->n_apps)
		turns_end_app(t);
	nnb_client_close(t->watch);
	if (t->s.pid)
		service_settles(&t->s);
	service_fini(&t->s);
	free(t);
	return 0;
}

void turns_start(struct turns *t, const char *const *options)
{
	service_start(&t->s, options);
	t->watch = app_open(&t->s);
}

void turns_add_app(struct turns *t)
{
	struct app *a = &t->apps[t->n_apps];

	assert_true(t->n_apps < TURNS_APPS_MAX);
	app_start(a, &t->s, 0);
	t->n_apps++;
	for (uint32_t i = 0; i < N_PRIORITIES; i++)
		app_prepare_steps(a, i, i, N_OPS);
}

void turns_end_app(struct turns *t)
{
	app_end(&t->apps[--t->n_apps]);
}

void turns_kill_app(struct turns *t)
{
	app_kill(&t->apps[--t->n_apps]);
}

void turns_expect_notes(const struct turns *t, bool first_only, const char *wanted)
{
	const char *is = gate_notes(&t->s, first_only);

	if (strcmp(is, wanted) != 0)
		fail_msg("operations ran as '%s', not '%s'", is, wanted);
}
