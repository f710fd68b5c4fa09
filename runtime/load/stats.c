/* stats.c -- distributions with exact percentiles, histograms, and the figures of a stream. */
#include "stats.h"

#include <assert.h>
#include <stdlib.h>

/* ---- distributions ---- */

void load_distribution_add(struct load_distribution *d, uint64_t ns)
{
	if (ns < LOAD_SHORT_MAX)
		d->counts[ns]++;
	else if (d->n_long < LOAD_LONG_MAX)
		d->longer[d->n_long++] = ns;
	assert(d->n_long <= LOAD_LONG_MAX);
	if (!d->n || ns < d->min)
		d->min = ns;
	if (ns > d->max)
		d->max = ns;
	d->n++;
	d->sum += ns;
	d->sorted = false;
}

/* The end of the counters in use, so that untouched pages stay untouched. */
static uint64_t end_of_counts(const struct load_distribution *d)
{
	return d->n == 0 ? 0 : d->max < LOAD_SHORT_MAX ? d->max + 1 : LOAD_SHORT_MAX;
}

void load_distribution_merge(struct load_distribution *into, const struct load_distribution *from)
{
	if (!from->n)
		return;
	for (uint64_t i = from->min; i < end_of_counts(from); i++)
		if (from->counts[i])
			into->counts[i] += from->counts[i];
	for (uint64_t i = 0; i < from->n_long && into->n_long < LOAD_LONG_MAX; i++)
		into->longer[into->n_long++] = from->longer[i];
	if (!into->n || from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	into->n += from->n;
	into->sum += from->sum;
	into->sorted = false;
}

static int stats_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t load_percentile(struct load_distribution *d, unsigned permille)
{
	uint64_t rank = (d->n * permille + 999) / 1000, seen = 0;

	assert(permille <= 1000);
	if (!d->n)
		return 0;
	if (!rank)
		rank = 1;
	for (uint64_t i = d->min; i < end_of_counts(d); i++) {
		seen += d->counts[i];
		if (seen >= rank)
			return i;
	}
	if (!d->sorted)
		qsort(d->longer, d->n_long, sizeof(d->longer[0]), stats_by_value);
	d->sorted = true;
	assert(rank > seen);
	return rank - seen <= d->n_long ? d->longer[rank - seen - 1] : d->max;
}

unsigned load_bucket_of(uint64_t ns)
{
	unsigned octave;

	if (ns < 4)
		return (unsigned)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns);
	assert(4 * (octave - 1) + 3 < LOAD_BUCKETS);
	return 4 * (octave - 1) + (unsigned)(ns >> (octave - 2) & 3);
}

uint64_t load_bucket_begin(unsigned bucket)
{
	if (bucket < 4)
		return bucket;
	if (bucket >= LOAD_BUCKETS)
		return UINT64_MAX;
	return (uint64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

void load_histogram(const struct load_distribution *d, uint64_t ret[LOAD_BUCKETS])
{
	for (unsigned i = 0; i < LOAD_BUCKETS; i++)
		ret[i] = 0;
	for (uint64_t i = d->min; i < end_of_counts(d); i++)
		ret[load_bucket_of(i)] += d->counts[i];
	for (uint64_t i = 0; i < d->n_long; i++)
		ret[load_bucket_of(d->longer[i])]++;
}

/* ---- executions ---- */

const char *const load_miss_names[LOAD_MISSES] = { "none", "late", "aborted", "predicted" };

enum load_miss load_miss(enum nnb_status status, uint64_t deadline, uint64_t returned)
{
	if (!deadline)
		return LOAD_NOT_MISSED;
	switch (status) {
	case NNB_STATUS_NONE:
		return returned > deadline ? LOAD_LATE : LOAD_NOT_MISSED;
	case NNB_STATUS_MISSED_DEADLINE_TRANSIENT:
	case NNB_STATUS_MISSED_DEADLINE_PERSISTENT:
		return returned < deadline ? LOAD_PREDICTED : LOAD_ABORTED;
	default:
		return LOAD_NOT_MISSED;
	}
}

bool load_expected(enum nnb_status status, bool retries)
{
	return status == NNB_STATUS_NONE || status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT ||
	       status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT ||
	       (retries && status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT);
}

bool load_transient(enum nnb_status status)
{
	return status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT;
}

double load_jain(const double *shares, size_t n)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		sum += shares[i];
		squares += shares[i] * shares[i];
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}

/* ---- sequences ---- */

bool load_sequence_add(struct load_sequence *s, uint64_t digest)
{
	unsigned octave;

	s->digest = (s->digest ^ digest) * 0x9e3779b97f4a7c15u;
	s->digest ^= s->digest >> 29;
	s->digest += !s->digest;
	s->state = 0;
	s->steps++;
	if (s->steps & (s->steps - 1))
		return true;
	octave = 63 - (unsigned)__builtin_clzll(s->steps);
	if (octave < LOAD_MARKS && !s->marks[octave])
		s->marks[octave] = s->digest;
	return octave >= LOAD_MARKS || s->marks[octave] == s->digest;
}

void load_sequence_restart(struct load_sequence *s)
{
	s->steps = s->digest = s->state = 0;
}

bool load_sequence_agrees(const struct load_sequence *a, const struct load_sequence *b)
{
	for (unsigned i = 0; i < LOAD_MARKS && a->marks[i] && b->marks[i]; i++)
		if (a->marks[i] != b->marks[i])
			return false;
	return a->steps != b->steps || (a->digest == b->digest && (!a->state || !b->state || a->state == b->state));
}

/* ---- figures ---- */

void load_figures_add(struct load_figures *f, const struct load_execution *e)
{
	assert((unsigned)e->status < LOAD_STATUSES);
	f->statuses[e->status]++;
	if (e->deadline)
		f->misses[load_miss(e->status, e->deadline, e->returned)]++;
	f->retries += e->retry;
	f->recovered += e->retry && !e->status;
	f->fallbacks += e->fallback;
	f->wrong += e->wrong;
	if (e->due && !e->retry)
		load_distribution_add(&f->start_late, e->submitted - e->due);
	if (!e->status) {
		load_distribution_add(e->cold ? &f->cold : &f->warm, e->returned - e->submitted);
		if (e->due)
			load_distribution_add(&f->from_due, e->returned - e->due);
		if (e->on_device_ns != UINT64_MAX)
			load_distribution_add(&f->on_device, e->on_device_ns);
		if (e->in_driver_ns != UINT64_MAX)
			load_distribution_add(&f->in_driver, e->in_driver_ns);
		f->unmeasured += e->measure && (e->on_device_ns == UINT64_MAX || e->in_driver_ns == UINT64_MAX);
	}
	if (!f->began)
		f->began = e->submitted;
	f->ended = e->returned;
	atomic_fetch_add_explicit(&f->executions, 1, memory_order_relaxed);
}

void load_figures_merge(struct load_figures *into, const struct load_figures *from)
{
	into->executions += from->executions;
	for (int i = 0; i < LOAD_STATUSES; i++)
		into->statuses[i] += from->statuses[i];
	for (int i = 0; i < LOAD_MISSES; i++)
		into->misses[i] += from->misses[i];
	into->skipped += from->skipped;
	into->retries += from->retries;
	into->recovered += from->recovered;
	into->fallbacks += from->fallbacks;
	into->wrong += from->wrong;
	into->unmeasured += from->unmeasured;
	into->bursts += from->bursts;
	into->pools += from->pools;
	into->spun_ns += from->spun_ns;
	into->slept_ns += from->slept_ns;
	into->wakeups += from->wakeups;
	if (from->began && (!into->began || from->began < into->began))
		into->began = from->began;
	if (from->ended > into->ended)
		into->ended = from->ended;
	if (into->digest && from->digest && into->digest != from->digest)
		into->wrong++;
	if (!into->digest)
		into->digest = from->digest;
	/* keep the longer sequence, and the marks of both */
	into->wrong += !load_sequence_agrees(&into->sequence, &from->sequence);
	if (from->sequence.steps > into->sequence.steps) {
		into->sequence.steps = from->sequence.steps;
		into->sequence.digest = from->sequence.digest;
		into->sequence.state = from->sequence.state;
	}
	for (unsigned i = 0; i < LOAD_MARKS; i++)
		if (!into->sequence.marks[i])
			into->sequence.marks[i] = from->sequence.marks[i];
	into->state_buffers += from->state_buffers;
	into->state_fallen += from->state_fallen;
	into->state_resets += from->state_resets;
	into->state_copy_ns += from->state_copy_ns;
	load_distribution_merge(&into->cold, &from->cold);
	load_distribution_merge(&into->warm, &from->warm);
	load_distribution_merge(&into->from_due, &from->from_due);
	load_distribution_merge(&into->on_device, &from->on_device);
	load_distribution_merge(&into->in_driver, &from->in_driver);
	load_distribution_merge(&into->start_late, &from->start_late);
}
