/*
 * suite_deadline.c -- priorities, preferences and deadlines of preparations, and deadlines of executions (Q-1, Q-12
 * to Q-16, P-30).
 *
 * A silent miss is a call that ends with NONE long after its deadline. The HAL lets a driver finish late; the
 * driver interface (nnb/driver.h, look) does not. Only a model that runs long can show a silent miss, so the duration
 * without a deadline is measured first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/sys.h"
#include "conformance/validate/abort_unless.h"
#include "conformance/validate/subject.h"
#include "nnb/policy.h"

#define SUITE "deadline"
#define MS UINT64_C(1000000)
/*
 * The tolerated lateness of an answer, beyond the time for which other programs kept the calling thread off the cpus.
 */
#define GRACE_NS (20 * MS)
#define SHORTEST_NS (50 * MS) /* a shorter duration cannot be shown to be late */
#define ENOUGH_NS (500 * MS)  /* the duration of work without a deadline */
enum { LENGTH = 16, PAST_NS = 1, TRIES = 5, AGREEING = 3 };

struct scene {
	const struct subject *subject;
	struct checks *checks;
	struct nnb_model *model; /* a small model that the driver supports */
};

static bool is_missed(enum nnb_status s)
{
	return s == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || s == NNB_STATUS_MISSED_DEADLINE_PERSISTENT;
}

/* ---- preparing ---- */

static void prepare_row(const struct scene *s, const struct nnb_model *m, struct nnb_prepare how,
                        enum nnb_status wanted, const char *what)
{
	struct nnb_reason reason = { "" };
	struct prepared p;

	wants_status(s->checks, prepared_new(&p, s->subject, m, &how, &reason), wanted, what, &reason);
	prepared_free(&p);
}

static void terms_of_preparing(const struct scene *s)
{
	char what[64];

	for (uint32_t preference = 0; preference < 3; preference++)
		for (uint32_t priority = 0; priority < 3; priority++) {
			snprintf(what, sizeof(what), "preference %u, priority %u", preference, priority);
			prepare_row(s, s->model, (struct nnb_prepare){ .preference = preference, .priority = priority },
			            NNB_STATUS_NONE, what);
		}
	prepare_row(s, s->model, (struct nnb_prepare){ .preference = 1, .priority = 3 }, NNB_STATUS_INVALID_ARGUMENT,
	            "priority 3");
	prepare_row(s, s->model, (struct nnb_prepare){ .preference = 1, .priority = UINT32_MAX },
	            NNB_STATUS_INVALID_ARGUMENT, "priority 2^32 - 1");
	prepare_row(s, s->model, (struct nnb_prepare){ .preference = 3, .priority = 1 }, NNB_STATUS_INVALID_ARGUMENT,
	            "preference 3");
	prepare_row(s, s->model, (struct nnb_prepare){ .preference = UINT32_MAX, .priority = 1 },
	            NNB_STATUS_INVALID_ARGUMENT, "preference 2^32 - 1");
}

static struct nnb_prepare prepare_until(uint64_t deadline_ns)
{
	return (struct nnb_prepare){ .preference = 1, .priority = 1, .deadline_ns = deadline_ns };
}

static void past_preparation(const struct scene *s)
{
	prepare_row(s, s->model, prepare_until(PAST_NS), NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	            "a deadline that has passed");
	prepare_row(s, s->model, prepare_until(nnb__now()), NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	            "a deadline that is now");
}

static void far_preparation(const struct scene *s)
{
	prepare_row(s, s->model, prepare_until(nnb__now() + 3600 * 1000 * MS), NNB_STATUS_NONE,
	            "a deadline in an hour");
	prepare_row(s, s->model, prepare_until(INT64_MAX), NNB_STATUS_NONE, "a deadline of 2^63 - 1");
	prepare_row(s, s->model, prepare_until(UINT64_MAX), NNB_STATUS_NONE, "a deadline of 2^64 - 1");
}

static void invalid_comes_first(const struct scene *s)
{
	struct nnb_model *m = chain_model(LENGTH, 1);

	m->operations[0].inputs[0] = m->n_operands;
	prepare_row(s, m, prepare_until(PAST_NS), NNB_STATUS_INVALID_ARGUMENT,
	            "an invalid model and a deadline that has passed");
	nnb_model_free(m);
}

/* The time for which this thread has been ready and on no cpu. 0: the kernel does not report it. */
static uint64_t delay_ns(void)
{
	uint64_t ns = nnb__cpu_delay();

	return ns == UINT64_MAX ? 0 : ns;
}

/* A time, and for how long other programs had kept the calling thread off the cpus until then. */
struct instant {
	uint64_t ns, delayed;
};

static struct instant instant_now(void)
{
	struct instant i;

	do {
		i.delayed = delay_ns();
		i.ns = nnb__now();
	} while (delay_ns() != i.delayed); /* else there was a delay between the two */
	return i;
}

/* The duration since then, less delays by other programs. */
static uint64_t undelayed_since(struct instant began)
{
	struct instant now = instant_now();
	uint64_t ns = now.ns - began.ns, delayed = now.delayed - began.delayed;

	return ns > delayed ? ns - delayed : 0;
}

typedef enum nnb_status ends(void *arg, uint64_t deadline);

/* The result of a call with a deadline. Durations are without the delays of the calling thread. */
struct ending {
	enum nnb_status status;
	uint64_t budget, took; /* from the call to the deadline, and to the answer */
	uint64_t undue;        /* how long the same work took right after it, without a deadline; 0: not measured */
};

/* The shortest of several durations without a deadline, or of fewer where they are long. */
static enum nnb_status alone_ns(ends *end, void *arg, uint64_t *ret)
{
	enum nnb_status status = NNB_STATUS_NONE;
	uint64_t sum = 0;

	*ret = UINT64_MAX;
	for (int i = 0; i < TRIES && !status && *ret >= SHORTEST_NS && sum < ENOUGH_NS; i++) {
		struct instant began = instant_now();
		uint64_t ns;

		status = end(arg, 0);
		ns = undelayed_since(began);
		*ret = ns < *ret ? ns : *ret;
		sum += ns;
	}
	return status;
}

/*
 * Tolerated lateness. Other programs slow down the threads of a service, too, which this one cannot measure. But they
 * slow down the work without a deadline as much.
 */
static uint64_t grace_ns(const struct ending *e)
{
	return e->undue / 4 > GRACE_NS ? e->undue / 4 : GRACE_NS;
}

/* Did the answer arrive in time, or report the miss without arriving much later? */
static bool is_kept(const struct ending *e)
{
	return (is_missed(e->status) || !e->status) && e->took <= e->budget + grace_ns(e);
}

/* The deadline was refused before it had passed, by an estimate: the work did not begin. */
static bool is_refused(const struct ending *e)
{
	return is_missed(e->status) && e->took < e->budget;
}

/*
 * Judge calls whose deadline is after a quarter of the work. A driver that ignores deadlines is late each time; a
 * busy machine is not. A call counts only if a driver that ignores deadlines would have been late by clearly more
 * than is tolerated: it takes as long as without a deadline, which is measured after each call. False: the work is
 * too short for that, or too few calls agree; no row was added.
 */
static bool judge_endings(const struct scene *s, ends *end, void *arg, uint64_t alone)
{
	unsigned kept = 0, late = 0, refused = 0;
	struct ending e = { 0 };

	for (int i = 0; i < 2 * TRIES && kept < AGREEING && late < TRIES && refused < AGREEING; i++) {
		struct instant began;
		uint64_t undue;

		if (alone < SHORTEST_NS)
			return false;
		e = (struct ending){ .budget = alone / 4 };
		began = instant_now();
		e.status = end(arg, began.ns + e.budget);
		e.took = undelayed_since(began);
		/* the duration of the work without a deadline; 0: it failed */
		began = instant_now();
		undue = end(arg, 0) ? 0 : undelayed_since(began);
		if (undue && undue < alone) /* the threads of a service were delayed each time before */
			alone = undue;
		e.undue = is_kept(&e) ? 0 : undue;
		if (alone < e.budget || grace_ns(&e) > (alone - e.budget) / 6 * 5)
			continue;
		refused += is_refused(&e);
		kept += is_kept(&e) && !is_refused(&e);
		late += !is_kept(&e);
	}
	if (refused == AGREEING) {
		checks_skip(s->checks,
		            "a deadline of %.1f ms for work of %.1f ms is refused before it has passed: whether "
		            "it ends the work was not seen",
		            (double)e.budget / 1e6, (double)alone / 1e6);
		return true;
	}
	if ((kept < AGREEING || late) && (late < TRIES || kept))
		return false;
	checks_row(s->checks, !late, "work of %.1f ms ended %.1f ms after its deadline with %s%s", (double)alone / 1e6,
	           ((double)e.took - (double)e.budget) / 1e6, nnb_status_name(e.status),
	           e.status ? "" : ": a silent miss");
	return true;
}

static void skip_short(const struct scene *s, const char *what, uint64_t alone)
{
	checks_skip(s->checks,
	            "%s takes %.1f ms here; a deadline can only be judged if it takes %.0f ms, and longer on a busy "
	            "machine",
	            what, (double)alone / 1e6, (double)SHORTEST_NS / 1e6);
}

/*
 * A smaller model was tried before, which took @alone, and this larger one is refused for want of room: a service
 * limits what an app holds, which is no fault. Then there is nothing larger to try.
 */
static bool lacks_room(enum nnb_status status, uint64_t alone)
{
	return alone && (status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT ||
	                 status == NNB_STATUS_RESOURCE_EXHAUSTED_PERSISTENT);
}

struct preparation {
	const struct subject *subject;
	const struct nnb_model *model;
};

static enum nnb_status end_preparation(void *arg, uint64_t deadline)
{
	const struct preparation *a = arg;
	const struct nnb_prepare how = prepare_until(deadline);
	struct prepared p;
	enum nnb_status status = prepared_new(&p, a->subject, a->model, &how, NULL);

	prepared_free(&p);
	return status;
}

/* Add a row if @status is an error. Returns true if it is not. */
static bool wants_none(struct checks *c, enum nnb_status status, const char *what)
{
	return !status || wants_status(c, status, NNB_STATUS_NONE, what, NULL);
}

/* Larger and larger models, the last one of 64 MiB of weights, until preparing one of them takes long enough. */
static void long_preparation(const struct scene *s)
{
	static const uint32_t widths[] = { 512, 1024 };
	bool judged = false;
	uint64_t alone = 0;

	for (size_t i = 0; !judged && i < sizeof(widths) / sizeof(widths[0]); i++) {
		uint64_t before = alone;
		struct nnb_model *m =
			layers_model(widths[i], 16); /* takes long to prepare if the driver packs weights */
		struct preparation a;
		enum nnb_status status;

		if (!subject_takes(s->subject, m)) {
			nnb_model_free(m);
			m = chain_model(LENGTH, 1);
		}
		a = (struct preparation){ s->subject, m };
		status = alone_ns(end_preparation, &a, &alone);
		if (lacks_room(status, before)) {
			alone = before;
			nnb_model_free(m);
			break;
		}
		judged = !wants_none(s->checks, status, "to prepare without a deadline") ||
		         judge_endings(s, end_preparation, &a, alone);
		nnb_model_free(m);
	}
	if (!judged)
		skip_short(s, "a preparation", alone);
}

/* ---- executing, by a service only: a driver sees no deadlines, only the request to end ---- */

static bool has_deadlines(const struct scene *s)
{
	if (!s->subject->client)
		checks_skip(s->checks, "executions have deadlines only in a service: run nnburstd with the driver and "
		                       "validate the service");
	return s->subject->client;
}

static enum nnb_status execute_until(const struct prepared *p, const struct job *j, uint64_t deadline_ns)
{
	struct nnb_call call = j->call;

	call.terms.deadline_ns = deadline_ns;
	return prepared_execute(p, &call, NULL);
}

/* Execute by a call and by a burst. */
static void past_execution(const struct scene *s)
{
	struct nnb_reason reason = { "" };
	struct nnb_burst *burst;
	struct nnb_call call;
	struct prepared p;
	struct job j;

	if (!has_deadlines(s) || !wants_status(s->checks, prepared_new(&p, s->subject, s->model, NULL, &reason),
	                                       NNB_STATUS_NONE, "to prepare", &reason))
		return;
	abort_unless(job_init(&j, s->model));
	wants_status(s->checks, execute_until(&p, &j, PAST_NS), NNB_STATUS_MISSED_DEADLINE_PERSISTENT,
	             "a call whose deadline has passed", NULL);
	wants_status(s->checks, execute_until(&p, &j, nnb__now() + 3600 * 1000 * MS), NNB_STATUS_NONE,
	             "a call with a deadline in an hour", NULL);
	wants_status(s->checks, execute_until(&p, &j, UINT64_MAX), NNB_STATUS_NONE,
	             "a call with a deadline of 2^64 - 1", NULL);
	call = j.call;
	call.n_inputs = 0;
	call.terms.deadline_ns = PAST_NS;
	wants_status(s->checks, prepared_execute(&p, &call, NULL), NNB_STATUS_INVALID_ARGUMENT,
	             "an invalid request whose deadline has passed (P-30)", NULL);
	if (wants_status(s->checks, nnb_remote_burst(p.there, NULL, &burst, &reason), NNB_STATUS_NONE, "a burst",
	                 &reason)) {
		call = j.call;
		call.terms.deadline_ns = PAST_NS;
		wants_status(s->checks, nnb_burst_execute(burst, &call, NULL, NULL),
		             NNB_STATUS_MISSED_DEADLINE_PERSISTENT, "a burst's request whose deadline has passed",
		             NULL);
		wants_status(s->checks, nnb_burst_execute(burst, &j.call, NULL, NULL), NNB_STATUS_NONE,
		             "the burst's next request", NULL);
		nnb_burst_free(burst);
	}
	job_fini(&j);
	prepared_free(&p);
}

struct execution {
	const struct prepared *prepared;
	const struct job *job;
};

static enum nnb_status end_execution(void *arg, uint64_t deadline)
{
	const struct execution *a = arg;

	return execute_until(a->prepared, a->job, deadline);
}

/* True: there is nothing left to try. @alone: how long an execution of the model before took; 0: there was none. */
static bool execution_judged(const struct scene *s, const struct nnb_model *m, uint64_t *alone)
{
	struct execution a;
	bool judged = true;
	struct prepared p;
	struct job j;
	enum nnb_status status = prepared_new(&p, s->subject, m, NULL, NULL);

	if (lacks_room(status, *alone)) {
		skip_short(s, "an execution", *alone);
		return true;
	}
	if (!wants_none(s->checks, status, "to prepare"))
		return true;
	abort_unless(job_init(&j, m));
	a = (struct execution){ &p, &j };
	status = alone_ns(end_execution, &a, alone);
	if (wants_none(s->checks, status, "an execution without a deadline"))
		judged = judge_endings(s, end_execution, &a, *alone);
	job_fini(&j);
	prepared_free(&p);
	return judged;
}

/* Longer and longer models, until executing one of them takes long enough. */
static void long_execution(const struct scene *s)
{
	bool judged = false;
	uint64_t alone = 0;

	if (!has_deadlines(s))
		return;
	if (nnb_client_info(s->subject->client)->deadlines != NNB_DEADLINES_ABORT) {
		checks_skip(s->checks, "the service finishes executions after their deadline (--deadline)");
		return;
	}
	for (uint32_t operations = 64; !judged && operations <= 1024; operations *= 4) {
		struct nnb_model *m = chain_model(1 << 20, operations);

		judged = execution_judged(s, m, &alone);
		nnb_model_free(m);
	}
	if (!judged)
		skip_short(s, "an execution", alone);
}

static const struct {
	const char *rule, *name;
	void (*run)(const struct scene *s);
} deadline_checks[] = {
	{ "Q-1", "unknown priorities and preferences are refused, the others accepted", terms_of_preparing },
	{ "Q-12", "a deadline that is far away changes nothing", far_preparation },
	{ "Q-13", "a preparation whose deadline has passed is refused", past_preparation },
	{ "P-30", "an invalid request is refused as such, with any deadline", invalid_comes_first },
	{ "Q-14", "a long preparation is ended by its deadline", long_preparation },
	{ "Q-16", "an execution whose deadline has passed is refused", past_execution },
	{ "Q-14", "a long execution is ended by its deadline", long_execution },
};

void suite_deadline(const struct subject *subject, struct checks *c)
{
	struct scene s = { subject, c, chain_model(LENGTH, 1) };

	for (size_t i = 0; i < sizeof(deadline_checks) / sizeof(deadline_checks[0]); i++) {
		if (!checks_wants(c, SUITE, deadline_checks[i].rule))
			continue;
		checks_begin(c, SUITE, deadline_checks[i].rule, deadline_checks[i].name);
		if (subject_takes(subject, s.model))
			deadline_checks[i].run(&s);
		else
			checks_skip(c, "the driver does not support ADD of float32");
		checks_end(c);
	}
	nnb_model_free(s.model);
}
