/* advice.c -- each piece of advice, and the condition under which it helps. */
#include "audit/advice.h"

#include <string.h>

#include "base/scoped.h"
#include "input/fill.h"

typedef bool condition(const struct bsv_advised *, const struct bsv_settings *);

static bool text_is(const char *text, const char *what)
{
	return text && !strcmp(text, what);
}

/* Returns -1 for an unknown priority. */
static int priority_rank(const char *priority)
{
	static const char *const names[] = { "low", "medium", "high" };

	for (int i = 0; i < 3; i++)
		if (text_is(priority, names[i]))
			return i;
	return -1;
}

static bool applies_always(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	(void)s;
	return true;
}

static bool has_lanes(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->known && !s->native;
}

static bool is_outranked(const struct bsv_advised *a, const struct bsv_settings *s)
{
	return s->known && s->heeds_priority && priority_rank(a->priority) >= 0 &&
	       priority_rank(a->priority) < priority_rank(a->culprit_priority);
}

static bool ignores_priority(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->known && !s->heeds_priority;
}

static bool ignores_priority_and_never_preempts(const struct bsv_advised *a, const struct bsv_settings *s)
{
	return ignores_priority(a, s) && !s->preempts && !s->saves; /* fifo does not preempt, whatever is set */
}

static bool never_preempts(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->known && !s->native && !s->preempts && !s->saves;
}

static bool is_unfair(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->known && !s->fair;
}

static bool starts_over(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->known && !s->saves;
}

static bool is_burst(const struct bsv_advised *a, const struct bsv_settings *s)
{
	return text_is(a->path, "burst") && s->known && !s->polls_always;
}

static bool is_call(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)s;
	return text_is(a->path, "sync");
}

static bool is_miss(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)s;
	return a->is_miss;
}

/* The wake-up of a thread takes microseconds: for longer, it waits for a cpu, which polling would take from it. */
static bool takes_long(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)s;
	return a->mean_ns >= 1000000;
}

static bool has_lost(const struct bsv_advised *a, const struct bsv_settings *s)
{
	(void)a;
	return s->lost;
}

/* Against what the machine did to a missed deadline; docs/figures.md, Whose doing, has its causes. */
#define LESS_LOAD "A higher scheduling priority for nnburstd, or less other work on the machine."

/* The advice for a cause is the first row whose condition holds. */
static const struct {
	const char *cause;
	condition *when;
	const char *text;
} advice[] = {
	{ "too_big", applies_always, "A longer deadline, or a model that runs shorter." },
	{ "too_tight", applies_always, "A longer deadline, or submit it earlier." },
	{ "submitted_late", applies_always,
	  "Submit it earlier; where its thread meant to, and was run late: less other work on the machine." },
	{ "thread", applies_always,
	  "Submit it earlier: its thread did not wait for a cpu; it computed, waited for something else, or was "
	  "stopped." },
	{ "queued_behind", is_outranked,
	  "Raise the priority of its model: the model that it waited for has a higher one." },
	{ "queued_behind", has_lanes, "Fewer executions at a time, or a model that runs shorter, or one more lane." },
	{ "inversion", ignores_priority_and_never_preempts,
	  "A policy that heeds priority within an app and may preempt: nnburstd --policy fair --preempt save." },
	{ "inversion", ignores_priority, "A policy that heeds priority within an app: nnburstd --policy fair." },
	{ "inversion", never_preempts, "Preemption: nnburstd --preempt save." },
	{ "crowded_out", has_lanes, "More lanes, or less load." },
	{ "overbooked", has_lanes, "More lanes, or less load." },
	{ "hogged", is_unfair, "A policy that shares: nnburstd --policy fair." },
	{ "unfair", is_unfair, "A policy that shares: nnburstd --policy fair." },
	{ "starvation", is_unfair, "A policy that shares: nnburstd --policy fair." },
	{ "starvation", has_lanes, "One more lane, or fewer or shorter executions of the app that held it." },
	{ "unfair", never_preempts,
	  "Preemption, so that an app beyond its share makes room: nnburstd --preempt save." },
	{ "hogged", never_preempts,
	  "Preemption, so that an app beyond its share makes room: nnburstd --preempt save." },
	{ "redo", starts_over, "Preemption that keeps what was done: nnburstd --preempt save." },
	{ "cold", applies_always,
	  "Use the same burst and the same memory again: only the first execution with a pool is cold." },
	{ "stalled", applies_always,
	  "Memory whose pages are there: not punched, swapped out, or in a file of a slow file system." },
	{ "burst_per_call", applies_always, "Make one burst, keep it, and execute with it again." },
	{ "silent", applies_always,
	  "If the service is still there, look where its threads are: gdb -p, and its pid; if it is not, look at its "
	  "core dump and the kernel's log." },
	{ "paused", applies_always,
	  "Look for what stopped the service's process (SIGSTOP, a debugger, a frozen cgroup), or what had all cpus "
	  "then." },
	{ "stopped", applies_always,
	  "Look for what stopped the service's process (SIGSTOP, a debugger, a frozen cgroup), or what had all cpus "
	  "then." },
	{ "woken_late", is_miss, LESS_LOAD },
	{ "handover", is_miss, LESS_LOAD },
	{ "slow_compute", is_miss, LESS_LOAD },
	{ "polled_late", applies_always, LESS_LOAD },
	{ "woken_late", takes_long, LESS_LOAD },
	{ "woken_late", is_burst,
	  "Where the same burst is used often, a longer time of polling before it sleeps (nnburstd --spin)." },
	{ "woken_late", is_call, "A burst: its messages are polled for." },
	{ "off_core", applies_always,
	  "Look what its thread waits for in the run: pages of its app's memory that are not there, or a device." },
	{ "long_run", applies_always,
	  "Record once more with burstscope record --kernel: how long its thread waited for a cpu is known then." },
	{ "machine_busy", applies_always, LESS_LOAD },
	{ "machine", applies_always, LESS_LOAD },
	{ "service", is_call, "A burst: a call costs more of it." },
	{ "unknown", has_lost, "Larger buffers: burstscope doctor." },
};

const char *bsv_advice(const struct bsv_advised *what, const struct bsv_settings *settings)
{
	for (size_t i = 0; i < sizeof(advice) / sizeof(*advice); i++)
		if (text_is(what->cause, advice[i].cause) && advice[i].when(what, settings))
			return advice[i].text;
	return NULL;
}

int bsv_settings_read(struct bsv_settings *ret, const struct bsv_input *input, struct bsa_err *err)
{
	bsv_scoped_rows *rows = NULL;
	int r = bsv_input_row(&rows, input, bsv_sql_settings, NULL, err);

	if (r <= 0)
		return r;
	*ret = (struct bsv_settings){ .known = bsv_rows_get(rows, 0, 0),
		                      .fair = bsv_rows_get(rows, 1, 0),
		                      .heeds_priority = bsv_rows_get(rows, 2, 0),
		                      .preempts = bsv_rows_get(rows, 3, 0),
		                      .saves = bsv_rows_get(rows, 4, 0),
		                      .native = bsv_rows_get(rows, 5, 0),
		                      .polls_always = bsv_rows_get(rows, 6, 0),
		                      .lost = bsv_rows_get(rows, 7, 0),
		                      .replayable = bsv_rows_get(rows, 8, 0) };
	return 0;
}
