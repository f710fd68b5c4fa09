/*
 * suite_hooks.c -- the hints that a driver gets beside the computation, and must not be misled by: the roles of a
 * buffer (M-3), the priority and deadline of a run, when a device is to be fast (B-2), and contexts of bursts
 * (B-3).
 *
 * A driver may use a hint or not. Its results are right for every value of a hint.
 */
#include <stdio.h>
#include <string.h>

#include "base/sys.h"
#include "conformance/validate/abort_unless.h"
#include "conformance/validate/subject.h"
#include "nnb/burst.h"

#define SUITE "hooks"
#define FAR UINT64_C(600000000000)
enum { LENGTH = 16, BYTES = LENGTH * 4, CHAIN = 3, BURSTS = 4, PRIORITIES = 3, PREFERENCES = 3 };

struct scene {
	const struct subject *subject;
	struct checks *checks;
	struct nnb_model *model;
};

/* ---- calls ---- */

static void job_fill(struct job *j, float first)
{
	float *x = nnb_pool_data(j->pools[0]);

	for (uint32_t i = 0; i < LENGTH; i++)
		x[i] = first + (float)i;
	memset(nnb_pool_data(j->pools[1]), 0, nnb_pool_size(j->pools[1]));
}

static bool is_right(const float *y, float first)
{
	for (uint32_t i = 0; i < LENGTH; i++)
		if (y[i] != chain_expected(first + (float)i, CHAIN))
			return false;
	return true;
}

static void expect_right(const struct scene *s, enum nnb_status status, const struct nnb_reason *reason,
                         const struct job *j, float first, const char *what)
{
	if (wants_status(s->checks, status, NNB_STATUS_NONE, what, reason))
		checks_row(s->checks, is_right(nnb_pool_data(j->pools[1]), first), "%s: the output is wrong", what);
}

static void expect_plain(const struct scene *s, const struct prepared *p, struct job *j, float first, const char *what)
{
	struct nnb_reason reason = { "" };
	enum nnb_status status;

	job_fill(j, first);
	status = prepared_execute(p, &j->call, &reason);
	expect_right(s, status, &reason, j, first, what);
}

static bool burst_open(const struct scene *s, struct nnb_burst **ret, const struct prepared *p)
{
	struct nnb_reason reason = { "" };
	enum nnb_status status = p->here ? nnb_burst_local(ret, p->here, true, NULL, &reason)
	                                 : nnb_remote_burst(p->there, NULL, ret, &reason);

	return wants_status(s->checks, status, NNB_STATUS_NONE, "to open a burst", &reason);
}

static void expect_by_burst(const struct scene *s, struct nnb_burst *b, struct job *j, float first, const char *what)
{
	struct nnb_answer answer = { 0 };
	struct nnb_reason reason = { "" };
	enum nnb_status status;

	job_fill(j, first);
	status = nnb_burst_execute(b, &j->call, &answer, &reason);
	expect_right(s, status, &reason, j, first, what);
}

/* ---- M-3: what a buffer is for ---- */

/* Copy to the buffer and back; @what describes its roles. */
static void expect_kept(const struct scene *s, const struct buffer *b, float first, const char *what)
{
	struct nnb_reason reason = { "" };
	struct nnb_pool *pool;
	float *x, sum = 0;

	abort_unless(!nnb_pool_new(&pool, BYTES));
	x = nnb_pool_data(pool);
	for (uint32_t i = 0; i < LENGTH; i++)
		x[i] = first + (float)i;
	wants_status(s->checks, buffer_copy_from(b, nnb_pool_memory(pool), 0, NULL, &reason), NNB_STATUS_NONE, what,
	             &reason);
	memset(x, 0, BYTES);
	if (wants_status(s->checks, buffer_copy_to(b, nnb_pool_memory(pool), &reason), NNB_STATUS_NONE, what,
	                 &reason)) {
		for (uint32_t i = 0; i < LENGTH; i++)
			sum += x[i] == first + (float)i;
		checks_row(s->checks, sum == LENGTH, "%s: %.0f of %d elements came back", what, (double)sum, LENGTH);
	}
	nnb_pool_free(pool);
}

/* A refusal is the driver's right (M-2); a buffer that it gives holds its tensor. False: it gives none. */
static bool buffers_of(const struct scene *s, const struct prepared *models, uint32_t preference, uint32_t priority)
{
	static const float frequencies[] = { 1, 0.5F, 1e-30F };
	uint32_t given = 0;
	char what[96];

	for (unsigned roles = 1; roles < 4; roles++) /* an input, an output, both */
		for (unsigned i = 0; i < sizeof(frequencies) / sizeof(frequencies[0]); i++) {
			const struct nnb_buffer_role role[] = { { 0, 0, frequencies[i] }, { 1, 0, 1 } };
			const struct nnb_buffer_desc desc = { .inputs = role,
				                              .n_inputs = roles & 1 ? 2 : 0,
				                              .outputs = role,
				                              .n_outputs = roles & 2 ? 1 : 0 };
			struct nnb_reason reason = { "" };
			struct buffer b;

			if (buffer_new(&b, s->subject, models, 2, &desc, &reason))
				continue;
			given++;
			snprintf(what, sizeof(what), "preference %u, priority %u, %u roles, a frequency of %g",
			         preference, priority, desc.n_inputs + desc.n_outputs, (double)frequencies[i]);
			expect_kept(s, &b, (float)(10 * i + roles), what);
			buffer_free(&b);
		}
	return given;
}

static void roles_of_buffers(const struct scene *s)
{
	bool given = false;

	for (uint32_t i = 0; i < PREFERENCES * PRIORITIES; i++) {
		const struct nnb_prepare how = { .preference = i / PRIORITIES, .priority = i % PRIORITIES };
		struct prepared models[2] = { { 0 } };
		struct nnb_reason reason = { "" };
		bool good = true;

		for (int k = 0; k < 2; k++)
			good &= wants_status(s->checks,
			                     prepared_new(&models[k], s->subject, s->model, k ? NULL : &how, &reason),
			                     NNB_STATUS_NONE, "to prepare", &reason);
		if (good)
			given |= buffers_of(s, models, how.preference, how.priority);
		prepared_free(&models[1]);
		prepared_free(&models[0]);
	}
	if (!given)
		checks_skip(s->checks, "the driver has no buffers");
}

/* ---- priorities and deadlines of runs ---- */

static void terms_of_runs(const struct scene *s)
{
	struct prepared p[PRIORITIES] = { { 0 } };
	struct nnb_reason reason = { "" };
	struct nnb_burst *burst;
	char what[96];
	struct job j;

	abort_unless(job_init(&j, s->model));
	for (uint32_t i = 0; i < PRIORITIES; i++) /* all are there before the first runs */
		wants_status(s->checks,
		             prepared_new(&p[i], s->subject, s->model,
		                          &(struct nnb_prepare){ .preference = 1, .priority = i }, &reason),
		             NNB_STATUS_NONE, "to prepare", &reason);
	for (uint32_t i = 0; i < 4 * PRIORITIES; i++) {
		struct prepared *of = &p[i % PRIORITIES];

		if (!of->subject || !burst_open(s, &burst, of))
			continue;
		j.call.terms.deadline_ns = i / PRIORITIES % 2 ? nnb__now() + FAR : 0;
		snprintf(what, sizeof(what), "priority %u, %s", i % PRIORITIES,
		         j.call.terms.deadline_ns ? "a deadline far away" : "no deadline");
		expect_plain(s, of, &j, (float)i, what);
		expect_by_burst(s, burst, &j, (float)i + 100, what);
		expect_by_burst(s, burst, &j, (float)i + 200, what); /* the same request once more */
		nnb_burst_free(burst);
	}
	job_fini(&j);
	for (uint32_t i = 0; i < PRIORITIES; i++)
		prepared_free(&p[i]);
}

/* ---- B-2, B-3: bursts ---- */

static bool prepare_one(const struct scene *s, struct prepared *ret, struct job *j)
{
	struct nnb_reason reason = { "" };

	if (!wants_status(s->checks, prepared_new(ret, s->subject, s->model, NULL, &reason), NNB_STATUS_NONE,
	                  "to prepare", &reason))
		return false;
	abort_unless(job_init(j, s->model));
	return true;
}

/*
 * With the first burst a device becomes fast, and with the end of the last one slow: it computes before, during and
 * after.
 */
static void fast_and_slow(const struct scene *s)
{
	struct nnb_burst *bursts[2];
	struct prepared p;
	struct job j;

	if (!prepare_one(s, &p, &j))
		return;
	expect_plain(s, &p, &j, 1, "before the first burst");
	for (int round = 0; round < 3; round++) {
		if (!burst_open(s, &bursts[0], &p))
			break;
		expect_plain(s, &p, &j, 2, "with a burst open");
		if (burst_open(s, &bursts[1], &p)) {
			nnb_burst_free(bursts[round % 2]);
			expect_by_burst(s, bursts[!(round % 2)], &j, 3, "after another burst was closed");
			nnb_burst_free(bursts[!(round % 2)]);
		} else {
			nnb_burst_free(bursts[0]);
		}
		expect_plain(s, &p, &j, 4, "after the last burst was closed");
	}
	job_fini(&j);
	prepared_free(&p);
}

/* Bursts of one model take turns, and end one by one. */
static void contexts_of_bursts(const struct scene *s)
{
	struct nnb_burst *bursts[BURSTS] = { NULL };
	struct prepared p;
	char what[64];
	struct job j;

	if (!prepare_one(s, &p, &j))
		return;
	for (uint32_t i = 0; i < BURSTS; i++)
		if (!burst_open(s, &bursts[i], &p))
			bursts[i] = NULL;
	for (uint32_t end = 0; end <= BURSTS; end++) {
		for (uint32_t turn = 0; turn < 2 * BURSTS; turn++) {
			uint32_t i = turn % BURSTS;

			if (!bursts[i])
				continue;
			snprintf(what, sizeof(what), "burst %u of %u, %u of them closed", i, BURSTS, end);
			expect_by_burst(s, bursts[i], &j, (float)(10 * turn + end), what);
		}
		if (end < BURSTS)
			bursts[end] = nnb_burst_free(bursts[end]);
	}
	expect_plain(s, &p, &j, 5, "after all bursts were closed");
	job_fini(&j);
	prepared_free(&p);
}

/* ---- all ---- */

static const struct {
	const char *rule, *name;
	void (*run)(const struct scene *s);
} all[] = {
	{ "M-3", "a buffer holds its tensor, whatever its roles, their frequencies, preferences and priorities",
	  roles_of_buffers },
	{ "Q-3", "a run is right, whatever its priority and its deadline", terms_of_runs },
	{ "B-2", "the device computes while it is to be fast, and afterwards", fast_and_slow },
	{ "B-3", "bursts of one model take turns, and end one by one", contexts_of_bursts },
};

void suite_hooks(const struct subject *subject, struct checks *c)
{
	struct scene s = { subject, c, chain_model(LENGTH, CHAIN) };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!checks_wants(c, SUITE, all[i].rule))
			continue;
		checks_begin(c, SUITE, all[i].rule, all[i].name);
		if (subject_takes(subject, s.model))
			all[i].run(&s);
		else
			checks_skip(c, "the driver does not support ADD of float32");
		checks_end(c);
	}
	nnb_model_free(s.model);
}
