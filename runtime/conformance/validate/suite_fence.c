/* suite_fence.c -- fenced executions: when they start, and the status and time of their fences. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "conformance/validate/abort_unless.h"
#include "conformance/validate/subject.h"

#define SUITE "fence"
#define PATIENCE UINT64_C(10000000000)
enum { LENGTH = 1 << 20, CHAIN = 24, PAST_NS = 1 };

struct scene {
	struct checks *checks;
	struct prepared model;
	struct job job;
};

static float *job_outputs(const struct scene *s)
{
	return nnb_pool_data(s->job.pools[1]);
}

static void clear_outputs(const struct scene *s)
{
	memset(job_outputs(s), 0xff, LENGTH * sizeof(float));
}

static bool is_untouched(const struct scene *s)
{
	const unsigned char *at = (const unsigned char *)job_outputs(s);

	for (size_t i = 0; i < LENGTH * sizeof(float); i++)
		if (at[i] != 0xff)
			return false;
	return true;
}

/* Compare from the end: the last elements are written last. */
static bool is_computed(const struct scene *s)
{
	const float *inputs = nnb_pool_data(s->job.pools[0]);

	for (uint32_t i = LENGTH; i-- > 0;)
		if (job_outputs(s)[i] != chain_expected(inputs[i], CHAIN))
			return false;
	return true;
}

static enum nnb_status fenced_launch(const struct scene *s, const struct nnb_fenced_how *how, bool measure,
                                     uint64_t deadline_ns, struct nnb_fenced **ret, int *fence,
                                     struct nnb_reason *reason)
{
	struct nnb_call call = s->job.call;

	call.measure = measure;
	call.terms.deadline_ns = deadline_ns;
	*ret = NULL;
	*fence = -1;
	return nnb_remote_execute_fenced(s->model.there, &call, how, ret, fence, reason);
}

static void fenced_forget(struct nnb_fenced *fenced, int fence)
{
	nnb_fenced_free(fenced);
	if (fence >= 0)
		close(fence);
}

static int await_end(int fence)
{
	int state;

	do {
		state = nnb_fence_wait(&fence, 1, PATIENCE);
	} while (state == -EINTR);
	return state;
}

static int pending_fence(void)
{
	int fence;

	abort_unless(!nnb_fence_new(&fence));
	return fence;
}

/* ---- the checks ---- */

static void signalled_when_done(const struct scene *s)
{
	struct nnb_reason reason = { "" };
	struct nnb_fenced *fenced;
	int fence;

	for (int i = 0; i < 4; i++) {
		clear_outputs(s);
		if (!wants_status(s->checks, fenced_launch(s, NULL, false, 0, &fenced, &fence, &reason),
		                  NNB_STATUS_NONE, "a launch", &reason))
			return;
		checks_row(s->checks, await_end(fence) == NNB_FENCE_SIGNALLED, "the fence is not signalled");
		checks_row(s->checks, is_computed(s), "the fence is signalled, but the outputs are not written");
		wants_status(s->checks, nnb_fenced_info(fenced, NULL, NULL, &reason), NNB_STATUS_NONE,
		             "the execution's info after its fence is signalled", &reason);
		fenced_forget(fenced, fence);
	}
}

static void begins_after_fences(const struct scene *s)
{
	int first[2] = { pending_fence(), pending_fence() }, fence;
	const struct nnb_fenced_how how = { .wait_for = first, .n_wait_for = 2 };
	struct nnb_reason reason = { "" };
	struct nnb_fenced *fenced;

	clear_outputs(s);
	if (wants_status(s->checks, fenced_launch(s, &how, false, 0, &fenced, &fence, &reason), NNB_STATUS_NONE,
	                 "a launch", &reason)) {
		nnb_fence_signal(first[0], false);
		/* Poll the fence twice, some time apart: an execution that has started at once would be over by the
		 * second time. */
		checks_row(s->checks,
		           nnb_fence_state(fence) == NNB_FENCE_PENDING &&
		                   nnb_fence_wait(&fence, 1, 20000000) == NNB_FENCE_PENDING,
		           "its fence does not wait for the fences before it");
		checks_row(s->checks, is_untouched(s), "it writes outputs while a fence before it is pending");
		wants_status(s->checks, nnb_fenced_info(fenced, NULL, NULL, NULL), NNB_STATUS_GENERAL_FAILURE,
		             "the info of an execution in progress", NULL);
		nnb_fence_signal(first[1], false);
		checks_row(s->checks, await_end(fence) == NNB_FENCE_SIGNALLED,
		           "it does not begin when the fences are signalled");
		checks_row(s->checks, is_computed(s), "its outputs are not written");
		fenced_forget(fenced, fence);
	}
	close(first[0]);
	close(first[1]);
}

static void fails_with_a_fence(const struct scene *s)
{
	int first = pending_fence(), fence;
	const struct nnb_fenced_how how = { .wait_for = &first, .n_wait_for = 1 };
	struct nnb_reason reason = { "" };
	struct nnb_fenced *fenced;

	clear_outputs(s);
	if (wants_status(s->checks, fenced_launch(s, &how, false, 0, &fenced, &fence, &reason), NNB_STATUS_NONE,
	                 "a launch", &reason)) {
		nnb_fence_signal(first, true);
		checks_row(s->checks, await_end(fence) == NNB_FENCE_FAILED,
		           "its fence does not fail with the one before it");
		checks_row(s->checks, nnb_fenced_info(fenced, NULL, NULL, NULL) != NNB_STATUS_NONE,
		           "its status is NONE, but the execution did not run");
		checks_row(s->checks, is_untouched(s), "it writes outputs anyway");
		fenced_forget(fenced, fence);
	}
	close(first);
}

static void bad_fences(const struct scene *s)
{
	int failed = pending_fence(), pair[2], fence, bad[3];
	static const char *const names[] = { "no fd", "an fd that is no fence", "a fence that has failed" };
	struct nnb_fenced *fenced;

	abort_unless(!pipe(pair));
	nnb_fence_signal(failed, true);
	bad[0] = -1;
	bad[1] = pair[0];
	bad[2] = failed;
	for (int i = 0; i < 3; i++) {
		const struct nnb_fenced_how how = { .wait_for = &bad[i], .n_wait_for = 1 };

		wants_status(s->checks, fenced_launch(s, &how, false, 0, &fenced, &fence, NULL),
		             NNB_STATUS_INVALID_ARGUMENT, names[i], NULL);
		checks_row(s->checks, fence < 0 && !fenced, "%s: a fence or an execution was returned anyway",
		           names[i]);
		fenced_forget(fenced, fence);
	}
	close(failed);
	close(pair[0]);
	close(pair[1]);
}

static void fenced_timings(const struct scene *s)
{
	struct nnb_timing launched, fences;
	struct nnb_fenced *fenced;
	int fence;

	for (int measure = 0; measure < 2; measure++) {
		wants_status(s->checks, fenced_launch(s, NULL, measure, 0, &fenced, &fence, NULL), NNB_STATUS_NONE,
		             "a launch", NULL);
		if (!fenced)
			continue;
		await_end(fence);
		launched = fences = (struct nnb_timing){ 0, 0 };
		wants_status(s->checks, nnb_fenced_info(fenced, &launched, &fences, NULL), NNB_STATUS_NONE, "its info",
		             NULL);
		if (measure)
			checks_row(s->checks,
			           launched.on_device_ns <= launched.in_driver_ns &&
			                   fences.in_driver_ns <= launched.in_driver_ns,
			           "measured times contradict each other");
		else
			checks_row(s->checks, launched.in_driver_ns == UINT64_MAX && fences.in_driver_ns == UINT64_MAX,
			           "times are reported for an execution without measurement");
		fenced_forget(fenced, fence);
	}
}

static void fenced_terms(const struct scene *s)
{
	struct nnb_fenced *fenced;
	int fence;

	wants_status(s->checks, fenced_launch(s, NULL, false, PAST_NS, &fenced, &fence, NULL),
	             NNB_STATUS_MISSED_DEADLINE_PERSISTENT, "a deadline that has passed", NULL);
	checks_row(s->checks, fence < 0 && !fenced, "a fence or an execution was returned anyway");
	fenced_forget(fenced, fence);
}

static const struct {
	const char *rule, *name;
	void (*run)(const struct scene *s);
} all[] = {
	{ "Q-29", "a fenced execution whose deadline has passed is refused", fenced_terms },
	{ "Q-31", "an fd that is no fence, and a failed fence, are refused", bad_fences },
	{ "Q-32", "it begins when all fences are signalled", begins_after_fences },
	{ "Q-32", "it fails when a fence before it fails", fails_with_a_fence },
	{ "Q-34", "its fence is signalled when its outputs are there", signalled_when_done },
	{ "Q-35", "its times are there if they were asked for", fenced_timings },
};

void suite_fence(const struct subject *subject, struct checks *c)
{
	struct nnb_model *m = chain_model(LENGTH, CHAIN);
	bool takes = subject->client && subject_takes(subject, m);
	struct nnb_reason reason = { "" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct scene s = { .checks = c };

		if (!checks_wants(c, SUITE, all[i].rule))
			continue;
		checks_begin(c, SUITE, all[i].rule, all[i].name);
		if (!subject->client)
			checks_skip(c,
			            "only a service has fences: run nnburstd with the driver and validate the service");
		else if (!takes)
			checks_skip(c, "the driver does not support ADD of float32");
		else if (wants_status(c, prepared_new(&s.model, subject, m, NULL, &reason), NNB_STATUS_NONE,
		                      "to prepare", &reason)) {
			abort_unless(job_init(&s.job, m));
			all[i].run(&s);
			job_fini(&s.job);
			prepared_free(&s.model);
		}
		checks_end(c);
	}
	nnb_model_free(m);
}
