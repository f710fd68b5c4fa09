/* import.c -- traces in, a database out: records are pulled from a decoder and pushed into an importer. */
#include "bsa/import.h"

#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <time.h>

#include "asked.h"
#include "base/scratch.h"
#include "decode/decode.h"
#include "importer.h"
#include "machine.h"
#include "store/store.h"

enum {
	EVENTS_PER_LOOK = 4096, /* at the clock, and whether to stop: some milliseconds apart at worst */
	PROGRESS_NS = 50000000,
};
static const uint64_t longest_horizon_ns = 60000000000;

/*
 * The objects that a signal handler uses. Each is set to NULL before it is freed; the decoder first, because
 * any of its threads may be running the handler.
 */
static struct bsa_decode *_Atomic reading;
static struct bsa_importer *_Atomic writing;
static atomic_bool stop_asked;

/* One pass over all traces. */
struct pass {
	const struct bsa_import_options *options;
	struct bsa_decode *decode;
	struct bsa_importer *importer;
	struct bsa_machine *machine; /* NULL: no kernel's trace is there */
	uint64_t events, told_at;
	size_t n_kernels, n_left_out; /* traces of kernels */
};

static void pass_fini(struct pass *p)
{
	atomic_store(&reading, NULL);
	atomic_store(&writing, NULL);
	p->decode = bsa_decode_free(p->decode);
	p->importer = bsa_importer_free(p->importer);
	p->machine = bsa_machine_free(p->machine);
}

void bsa_import_stop(void)
{
	struct bsa_importer *im;
	struct bsa_decode *d;

	atomic_store(&stop_asked, true);
	d = atomic_load(&reading);
	if (d)
		bsa_decode_stop(d);
	im = atomic_load(&writing);
	if (im)
		bsa_importer_stop(im);
}

static int fail_stopped(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_STOPPED, "stopped");
}

static void report_progress(struct pass *p, bool finishing)
{
	struct bsa_import_progress progress = { .events = p->events, .finishing = finishing };
	struct timespec t;
	uint64_t at;

	clock_gettime(CLOCK_MONOTONIC, &t);
	at = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	if (!p->options->progress || (!finishing && at - p->told_at < PROGRESS_NS))
		return;
	p->told_at = at;
	bsa_decode_progress(p->decode, &progress.bytes, &progress.all_bytes);
	p->options->progress(p->options->progress_ctx, &progress);
}

/* The results of the first pass that make a second one necessary. */
struct wants {
	uint64_t horizon_ns; /* 0: as usual */
	bool users_known;
	struct bsa_importer_users users;
	bool asked_known;
	struct bsa_asked asked;
	bool ends; /* leave out what came after the end of a recording */
};

static bool wants_any(const struct wants *w)
{
	return w->horizon_ns || w->users_known || w->asked_known || w->ends;
}

/* ---- what the machine did beside it ---- */

static void take_state(void *ctx, const struct bsa_machine_state *state)
{
	bsa_importer_machine(ctx, state);
}

/*
 * A kernel's trace only adds to what is known: one that cannot be read is counted, and no reason to have no database.
 */
static int read_machine(struct pass *p, struct bsa_err *err)
{
	const struct bsa_trace *first = bsa_decode_trace(p->decode, 0), *t;
	const char *clock = first && *first->clock_uuid ? first->clock_uuid : NULL;
	struct bsa_err why = { "" };
	size_t n;
	int r;
	char **found = bsa_kernel_find(p->options->traces, p->options->n_traces, &n);

	/* All traces must have the clock. NULL: they have several, or no trace shows that theirs is one. */
	for (size_t i = 0; clock && (t = bsa_decode_trace(p->decode, i)); i++)
		if (t->clock_group != first->clock_group)
			clock = NULL;
	for (size_t i = 0; i < n && clock && !p->n_kernels; i++) {
		bsa_machine_free(p->machine);
		p->machine = bsa_machine_new(take_state, p->importer);
		if (!p->machine) {
			bsa_kernel_free(found, n);
			return bsa_fail(err, BSA_E_ENV, "there is no memory left for the trace of a kernel");
		}
		r = bsa_kernel_read(found[i], clock, bsa_machine_take, p->machine, &why);
		if (r > 0 ||
		    (r < 0 && bsa_machine_has_any(p->machine))) /* the part of a cut trace that was read is valid */
			p->n_kernels++;
	}
	bsa_kernel_free(found, n);
	p->n_left_out = n - p->n_kernels;
	if (p->n_kernels)
		bsa_machine_taken(p->machine);
	else
		p->machine = bsa_machine_free(p->machine);
	return 0;
}

/* ---- a pass ---- */

static int pass_begin(struct pass *p, const struct wants *wants, struct bsa_err *err)
{
	const struct bsa_import_options *o = p->options;
	struct bsa_decode_options decode_options = { .threads = o->threads, .stop = &stop_asked };
	struct bsa_importer_options importer_options = {
		.output = o->output,
		.keep_operations = o->keep_operations,
		.append = o->append,
		.horizon_ns = wants->horizon_ns,
		.service_uid = o->service_uid,
		.users = wants->users_known ? &wants->users : NULL,
		.asked = wants->asked_known ? &wants->asked : NULL,
		.ends = wants->ends,
	};
	const struct bsa_trace *t;
	int r = bsa_decode_open(&p->decode, o->traces, o->n_traces, &decode_options, err);

	if (r < 0)
		return r;
	atomic_store(&reading, p->decode);
	if (atomic_load(&stop_asked)) /* the signal may have arrived before reading was set */
		return fail_stopped(err);
	r = bsa_importer_new(&p->importer, &importer_options, err);
	if (r >= 0)
		atomic_store(&writing, p->importer);
	for (size_t i = 0; r >= 0 && (t = bsa_decode_trace(p->decode, i)); i++)
		r = bsa_importer_trace(p->importer, t, err);
	return r < 0 ? r : read_machine(p, err);
}

static int all_records(struct pass *p, struct bsa_err *err)
{
	const struct bsa_event *e;
	int r;

	while ((r = bsa_decode_next(p->decode, &e, err)) > 0) {
		r = bsa_importer_event(p->importer, p->machine ? bsa_machine_amend(p->machine, e) : e, err);
		if (r < 0)
			return r;
		if (++p->events % EVENTS_PER_LOOK)
			continue;
		if (atomic_load(&stop_asked))
			return fail_stopped(err);
		report_progress(p, false);
	}
	return r;
}

static int pass_finish(struct pass *p, struct bsa_imported *ret, struct bsa_err *err)
{
	struct bsa_importer_counts counts;
	int r;

	/* The counts of the decoder. */
	for (size_t i = 0; bsa_decode_trace(p->decode, i); i++) {
		struct bsa_decoded d = bsa_decode_decoded(p->decode, i);

		r = bsa_importer_decoded(p->importer, (uint32_t)i + 1, &d, err);
		if (r < 0)
			return r;
		ret->traces++;
		ret->unreadable += bsa_decode_trace(p->decode, i)->unreadable;
		ret->events += d.events;
		ret->foreign += d.foreign;
		ret->unusable += d.unusable;
		ret->lost_events += d.lost_events;
		ret->lost_packets += d.lost_packets;
		ret->cut += d.cut;
		ret->repeated += d.repeated;
		ret->doubtful += d.doubtful;
		ret->wrong_indices += d.wrong_indices;
		ret->begun_later += !d.from_start;
	}

	bsa_importer_kernel(p->importer, p->n_kernels, p->n_left_out, p->machine ? bsa_machine_amended(p->machine) : 0);
	report_progress(p, true);
	if (atomic_load(&stop_asked))
		return fail_stopped(err);
	r = bsa_importer_finish(p->importer, err);
	if (r < 0)
		return r;

	counts = bsa_importer_counts(p->importer);
	ret->executions = counts.executions;
	ret->incomplete = counts.incomplete;
	ret->touched_by_loss = counts.touched_by_loss;
	ret->holes = counts.holes;
	ret->unusable += counts.unusable;
	ret->impostors = counts.impostors;
	ret->events -= counts.after_end;
	return 0;
}

/* All the way, unless it turns out that another go is better: then *ret_wants has the reason. */
static int run_pass(const struct bsa_import_options *options, const struct wants *wants, struct wants *ret_wants,
                    struct bsa_imported *ret, struct bsa_err *err)
{
	__attribute__((cleanup(pass_fini))) struct pass p = { .options = options };
	uint64_t late;
	int r = pass_begin(&p, wants, err);

	if (r >= 0)
		r = all_records(&p, err);
	if (r < 0)
		return r;
	late = ret_wants ? bsa_importer_wants_horizon(p.importer) : 0;
	if (ret_wants) {
		ret_wants->horizon_ns = late < longest_horizon_ns ? late : longest_horizon_ns;
		ret_wants->users_known = bsa_importer_wants_users(p.importer, &ret_wants->users);
		ret_wants->asked_known = bsa_importer_wants_asked(p.importer, &ret_wants->asked);
		ret_wants->ends = bsa_importer_wants_ends(p.importer);
	}
	if (ret_wants && wants_any(ret_wants))
		return 0;
	return pass_finish(&p, ret, err);
}

int bsa_import(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err)
{
	struct bsa_imported imported = { 0 };
	static const struct wants usual;
	struct wants wants = { 0 };
	int r;

	assert(options->n_traces > 0 && options->output);
	atomic_store(&stop_asked, false);
	bsa_scratch_clean();
	r = run_pass(options, &usual, &wants, &imported, err);
	if (r >= 0 && wants_any(&wants))
		r = run_pass(options, &wants, NULL, &imported, err);
	if (r < 0)
		return r;
	if (ret)
		*ret = imported;
	return 0;
}
