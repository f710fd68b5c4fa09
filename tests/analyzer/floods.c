/* floods.c -- see floods.h. */
#include "analyzer/floods.h"

#include <stdint.h>
#include <stdlib.h>

enum {
	CONN = 0x100001, /* numbers of instance 1 */
	MODEL = 0x100001,
	STREAM = 0x100001,
	LANES = 64,
	INSTANCES = 4095,
	APPS = 64,
	STOLEN_WAIT = 16, /* executions that wait while one is preempted */
};

#define SECOND 1000000000ULL

static void begin(FILE *to, unsigned lanes)
{
	fprintf(to, "1 service_state pid=9 lanes=%u instance=1\n", lanes);
}

void flood_nothing(FILE *to, unsigned n)
{
	(void)n;
	begin(to, 1);
}

/* An app with a connection, a model and a stream. */
static void app(FILE *to, unsigned i)
{
	fprintf(to, "+1 client_connect conn=%u pid=%u uid=%u app=%u name=app%u\n", CONN + i, i + 1, i + 1, i + 1, i);
	fprintf(to, "+1 model_prepare model=%u conn=%u name=net%u step_ns=1us\n", MODEL + i, CONN + i, i);
	fprintf(to, "+1 stream_open stream=%u conn=%u path=async model=%u\n", STREAM + i, CONN + i, MODEL + i);
}

/* The app's execution @seq, all of it. */
static void whole(FILE *to, unsigned i, unsigned seq)
{
	fprintf(to,
	        "+1000 exec_service exec=%u:%u model=%u app=%u priority=low path=async lane=0 status=none began=1 "
	        "at=10,-,20,30,400,410,0,0,0,-\n",
	        STREAM + i, seq, MODEL + i, i + 1);
}

/* ---- chosen numbers ---- */

/* As base/mixed.h mixed numbers before it had a secret. */
static uint64_t mixed_without_secret(uint64_t v)
{
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	v ^= v >> 32;
	v *= UINT64_C(0xd6e8feb86659fd93);
	return v ^ v >> 32;
}

/*
 * Executions, one of each stream, whose numbers were chosen by a stranger who knows base/table.h: without a secret,
 * they would all be in one of 2^17 chains.
 */
static void chosen(FILE *to, unsigned n)
{
	const uint64_t near = (1 << 12) - 1, mask = (1 << 17) - 1, chain = 12345;

	begin(to, 1);
	for (uint64_t stream = 1; n && stream <= UINT32_MAX; stream++) {
		uint64_t base = mixed_without_secret(stream << 20), seq = (chain - base) & near;
		unsigned s = (unsigned)stream, q = (unsigned)seq;

		if (!seq || ((base + (stream << 32) + seq) & mask) != chain)
			continue;
		fprintf(to, "+1000 request_decode exec=%u:%u model=1\n", s, q);
		fprintf(to, "+1 fmq_read exec=%u:%u queue=request items=1\n", s, q);
		fprintf(to, "+1 fmq_write exec=%u:%u queue=result items=1\n", s, q);
		n--;
	}
}

/* ---- who there is ---- */

static void services(FILE *to, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(to, "+1 service_state pid=%u lanes=%u instance=%u\n", i + 1, LANES, 1 + i % INSTANCES);
}

static void rules(FILE *to, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(to, "+1 service_state pid=9 lanes=%u instance=1\n", 1 + i % LANES);
}

static void streams(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 0; i < n; i++)
		fprintf(to, "+1 stream_open stream=%u conn=%u path=burst model=%u\n", STREAM + 1 + i, CONN, MODEL);
}

/* ---- executions ---- */

/* The first one of each app, model and stream. */
static void apps_run(FILE *to, unsigned n)
{
	begin(to, 1);
	for (unsigned i = 0; i < n; i++) {
		app(to, i);
		whole(to, i, 1);
	}
}

static void enqueue(FILE *to, unsigned app, unsigned seq)
{
	fprintf(to, "+1 sched_enqueue exec=%u:%u model=%u app=%u priority=%s\n", STREAM + app, seq, MODEL + app,
	        app + 1, (const char *[]){ "low", "medium", "high" }[seq % 3]);
}

static void dispatch(FILE *to, unsigned app, unsigned seq, unsigned lane)
{
	fprintf(to, "+1 sched_dispatch exec=%u:%u lane=%u\n", STREAM + app, seq, lane);
}

static void end(FILE *to, unsigned app, unsigned seq, unsigned lane)
{
	fprintf(to, "+2000 exec_end exec=%u:%u lane=%u status=none\n", STREAM + app, seq, lane);
}

/* All wait, and none ever runs. */
static void waits_open(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	enqueue(to, 0, 1);
	dispatch(to, 0, 1, 0);
	for (unsigned i = 2; i <= n; i++)
		enqueue(to, 0, i);
}

/* All wait, and then run, one after the other, whatever their priority. */
static void waits(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++)
		enqueue(to, 0, i);
	for (unsigned i = 1; i <= n; i++) {
		dispatch(to, 0, i, 0);
		end(to, 0, i, 0);
	}
}

/* The same, the latest first. */
static void waits_lifo(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++)
		enqueue(to, 0, i);
	for (unsigned i = n; i; i--) {
		dispatch(to, 0, i, 0);
		end(to, 0, i, 0);
	}
}

/* The same, on many lanes. */
static void waits_lanes(FILE *to, unsigned n)
{
	begin(to, LANES);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++)
		enqueue(to, 0, i);
	for (unsigned i = 1; i <= n; i++) {
		if (i > LANES)
			end(to, 0, i - LANES, i % LANES);
		dispatch(to, 0, i, i % LANES);
	}
}

/* All of low priority run, while all of high priority wait. */
static void inversions(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++)
		fprintf(to, "+1 sched_enqueue exec=%u:%u model=%u app=1 priority=%s\n", STREAM, i, MODEL,
		        i % 2 ? "high" : "low");
	for (unsigned of = 2; of; of--)
		for (unsigned i = of; i <= n; i += 2) {
			dispatch(to, 0, i, 0);
			end(to, 0, i, 0);
		}
}

/* Each of many apps waits behind each. */
static void apps_wait(FILE *to, unsigned n)
{
	begin(to, 1);
	for (unsigned i = 0; i < n; i++)
		app(to, i);
	for (unsigned i = 0; i < n; i++)
		enqueue(to, i, 1);
	for (unsigned i = 0; i < n; i++) {
		dispatch(to, i, 1, 0);
		end(to, i, 1, 0);
	}
}

/* The same, and each misses its deadline. */
static void apps_miss(FILE *to, unsigned n)
{
	begin(to, 1);
	for (unsigned i = 0; i < n; i++)
		app(to, i);
	for (unsigned i = 0; i < n; i++)
		fprintf(to,
		        "+1 exec_submit exec=%u:1 model=%u path=async deadline_ns=1000\n"
		        "+1 sched_enqueue exec=%u:1 model=%u app=%u priority=low deadline_ns=1000\n",
		        STREAM + i, MODEL + i, STREAM + i, MODEL + i, i + 1);
	for (unsigned i = 0; i < n; i++) {
		dispatch(to, i, 1, 0);
		fprintf(to, "+1 deadline_miss exec=%u:1 model=%u stage=running deadline_ns=1000 over_ns=5\n",
		        STREAM + i, MODEL + i);
		end(to, i, 1, 0);
		fprintf(to, "+1 exec_return exec=%u:1 status=missed_deadline_transient\n", STREAM + i);
	}
}

/* Two apps in turn on one lane, each missing its deadline because of the other. */
static void misses(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	app(to, 1);
	for (unsigned i = 1; i <= n; i++) {
		unsigned a = i % 2;

		fprintf(to,
		        "+1 exec_submit exec=%u:%u model=%u path=async deadline_ns=1000\n"
		        "+1 sched_enqueue exec=%u:%u model=%u app=%u priority=low deadline_ns=1000\n",
		        STREAM + a, i, MODEL + a, STREAM + a, i, MODEL + a, a + 1);
		if (i > 1)
			end(to, !a, i - 1, 0);
		dispatch(to, a, i, 0);
		fprintf(to, "+1 deadline_miss exec=%u:%u model=%u stage=running deadline_ns=1000 over_ns=5\n",
		        STREAM + a, i, MODEL + a);
	}
}

/* While many others wait. */
static void preemptions_crowd(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++)
		enqueue(to, 0, i);
	dispatch(to, 0, 1, 0);
	for (unsigned i = 1; i <= n; i++)
		fprintf(to,
		        "+1 sched_preempt exec=%u:1 by=%u:2 lane=0\n"
		        "+1 sched_resume exec=%u:1 lane=0\n",
		        STREAM, STREAM, STREAM);
}

static void enqueue_late(FILE *to, unsigned app, unsigned seq)
{
	fprintf(to,
	        "+1 exec_submit exec=%u:%u model=%u path=async deadline_ns=1000\n"
	        "+1 sched_enqueue exec=%u:%u model=%u app=%u priority=low deadline_ns=1000\n",
	        STREAM + app, seq, MODEL + app, STREAM + app, seq, MODEL + app, app + 1);
}

static void end_late(FILE *to, unsigned app, unsigned seq)
{
	fprintf(to, "+1 deadline_miss exec=%u:%u model=%u stage=running deadline_ns=1000 over_ns=5\n", STREAM + app,
	        seq, MODEL + app);
	end(to, app, seq, 0);
	fprintf(to, "+1 exec_return exec=%u:%u status=missed_deadline_transient\n", STREAM + app, seq);
}

/*
 * Of one execution, each by another one of its app, which runs meanwhile: from another stream, because many later ones
 * of its own stream make likely that an execution is over. All but these others miss their deadlines.
 */
static void stolen(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	app(to, 1);
	fprintf(to, "+1 stream_open stream=%u conn=%u path=async model=%u\n", STREAM + 2, CONN, MODEL);
	enqueue_late(to, 0, 1);
	dispatch(to, 0, 1, 0);
	for (unsigned i = 1; i <= STOLEN_WAIT; i++)
		enqueue_late(to, 1, i);
	for (unsigned i = 1; i <= n; i++) {
		fprintf(to,
		        "+1 sched_enqueue exec=%u:%u model=%u app=1 priority=high\n"
		        "+1 sched_preempt exec=%u:1 by=%u:%u lane=0\n",
		        STREAM + 2, i, MODEL, STREAM, STREAM + 2, i);
		dispatch(to, 2, i, 0);
		end(to, 2, i, 0);
		fprintf(to, "+1 sched_resume exec=%u:1 lane=0\n", STREAM);
	}
	end_late(to, 0, 1);
	for (unsigned i = 1; i <= STOLEN_WAIT; i++) {
		dispatch(to, 1, i, 0);
		end_late(to, 1, i);
	}
}

/* Each waits for longer than a second. */
static void starved(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n; i++) {
		enqueue(to, 0, i);
		fprintf(to, "+2s sched_dispatch exec=%u:%u lane=0\n", STREAM, i);
		end(to, 0, i, 0);
	}
}

/* ---- time ---- */

/* Two apps that wait behind each other for years: each window has its row. */
static void windows(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	app(to, 1);
	enqueue(to, 0, 1);
	dispatch(to, 0, 1, 0);
	enqueue(to, 1, 1);
	fprintf(to, "+%llu exec_end exec=%u:1 lane=0 status=none\n", n * (SECOND / 10), STREAM);
	dispatch(to, 1, 1, 0);
	end(to, 1, 1, 0);
}

/* As long as a trace may be. */
static void years(FILE *to, unsigned n)
{
	(void)n;
	begin(to, 1);
	for (unsigned i = 0; i < APPS; i++)
		app(to, i);
	enqueue(to, 0, 1);
	dispatch(to, 0, 1, 0);
	for (unsigned i = 1; i < APPS; i++)
		enqueue(to, i, 1);
	fprintf(to, "4000000000000000000 exec_end exec=%u:1 lane=0 status=none\n", STREAM);
}

/* @apps apps wait through as many windows. */
static void wait_through_windows(FILE *to, unsigned apps)
{
	begin(to, 1);
	for (unsigned i = 0; i < apps; i++)
		app(to, i);
	for (unsigned i = 0; i < apps; i++)
		enqueue(to, i, 1);
	for (unsigned i = 0; i < apps; i++) {
		dispatch(to, i, 1, 0);
		fprintf(to, "+100ms exec_end exec=%u:1 lane=0 status=none\n", STREAM + i);
	}
}

/* Many apps in many windows. */
static void windows_apps(FILE *to, unsigned n)
{
	unsigned apps = 1;

	while (apps * apps < n)
		apps++;
	wait_through_windows(to, apps);
}

/* The same, of which app_lag has more rows than the trace has events. */
static void windows_square(FILE *to, unsigned n)
{
	wait_through_windows(to, n / 32);
}

/* ---- losses ---- */

static void losses(FILE *to, unsigned n)
{
	begin(to, 1);
	for (unsigned i = 0; i < n; i++)
		fprintf(to, "%u loss ended=%u events=1 cpu=1\n%u performance_hold cpu=1\n", 100 + 20 * i, 110 + 20 * i,
		        111 + 20 * i);
}

/* Each of them makes all that is known of lanes uncertain. */
static void losses_lanes(FILE *to, unsigned n)
{
	unsigned sources = 1;

	while (sources * sources < n)
		sources++;
	for (unsigned i = 1; i <= sources && i < INSTANCES; i++)
		fprintf(to, "1 service_state pid=%u lanes=%u instance=%u\n", i, LANES, i);
	for (unsigned i = 0; i < sources; i++)
		fprintf(to, "%u loss ended=%u events=1 cpu=1\n%u performance_hold cpu=1\n", 100 + 20 * i, 110 + 20 * i,
		        111 + 20 * i);
}

/* All that waits, too. */
static void losses_waits(FILE *to, unsigned n)
{
	begin(to, 1);
	app(to, 0);
	for (unsigned i = 1; i <= n / 2; i++)
		enqueue(to, 0, i);
	for (unsigned i = 0; i < n / 2; i++)
		fprintf(to, "%u loss ended=%u events=1 cpu=1\n%u performance_hold cpu=1\n", n + 100 + 20 * i,
		        n + 110 + 20 * i, n + 111 + 20 * i);
}

/* The same for streams. */
static void losses_streams(FILE *to, unsigned n)
{
	streams(to, n / 2);
	for (unsigned i = 0; i < n / 2; i++)
		fprintf(to, "%u loss ended=%u events=1 cpu=1\n%u performance_hold cpu=1\n", n + 100 + 20 * i,
		        n + 110 + 20 * i, n + 111 + 20 * i);
}

/* A summary's end, of an execution that had the lane; and an execution that has the lane. */
#define SUMMARY "priority=low path=async lane=0 status=none began=1 at=10,-,20,30,400,410,0,0,0,-\n"
#define ON_LANE "+1 sched_enqueue exec=$s:1 model=$m app=1 priority=medium\n+1 sched_dispatch exec=$s:1 lane=0\n"

const struct flood floods[] = {
	{ .name = "apps",
	  .each = "+1 client_connect conn=$C pid=$I uid=$I app=$I name=app$i\n"
	          "+1 client_disconnect conn=$C\n" },
	{ .name = "apps_stay", .each = "+1 client_connect conn=$C pid=$I uid=$I app=$I name=app$i\n" },
	{ .name = "processes", .each = "+1 client_connect conn=$C pid=$I uid=1 app=1 name=p$i\n" },
	/* The same, all with one pid: no kernel reports that, but a forger of events does. */
	{ .name = "processes_named", .each = "+1 client_connect conn=$C pid=7 uid=1 app=1 name=p$i\n" },
	/* Connections of which only streams speak. */
	{ .name = "connections", .each = "+1 stream_open stream=$s conn=$C path=burst\n" },
	{ .name = "services", .write = services },
	{ .name = "rules", .write = rules },
	{ .name = "streams", .write = streams },
	{ .name = "streams_closed",
	  .has_app = true,
	  .each = "+1 stream_open stream=$T conn=$c path=burst model=$m\n"
	          "+1 stream_close stream=$T\n" },
	/* Streams of which only executions speak. */
	{ .name = "streams_unseen", .each = "+1 exec_return exec=$S:1 status=none\n" },
	{ .name = "models", .has_app = true, .each = "+1 model_prepare model=$N conn=$c name=n$i\n" },
	/* The contents of each are known, so that models of one name can be distinguished. */
	{ .name = "models_named",
	  .has_app = true,
	  .each = "+1 model_prepare model=$N conn=$c name=n$i ops=3 const_bytes=64 digest=$i\n"
	          "+1 model_release model=$N\n" },
	{ .name = "models_released",
	  .has_app = true,
	  .each = "+1 model_prepare model=$N conn=$c name=n$i\n"
	          "+1 model_release model=$N\n" },
	{ .name = "models_refused",
	  .has_app = true,
	  .each = "+1 model_prepare model=0 conn=$c name=n$i status=general_failure\n" },
	{ .name = "apps_run", .write = apps_run },
	/* One app; one of each model and stream. */
	{ .name = "models_run",
	  .has_app = true,
	  .each = "+1 model_prepare model=$N conn=$c name=n$I\n"
	          "+1000 exec_service exec=$s:$I model=$N app=1 " SUMMARY },
	/* One app, one model; one of each stream. */
	{ .name = "streams_run", .has_app = true, .each = "+1000 exec_service exec=$T:1 model=$m app=1 " SUMMARY },
	/* One after the other, all of one stream: what is usual. */
	{ .name = "executions",
	  .has_app = true,
	  .each = "+1 exec_submit exec=$s:$I model=$m path=async\n"
	          "+1 exec_return exec=$s:$I status=none\n" },
	/* Asked for, and no more is heard of them. */
	{ .name = "executions_open", .has_app = true, .each = "+1 exec_submit exec=$s:$I model=$m path=async\n" },
	{ .name = "waits_open", .write = waits_open },
	{ .name = "waits", .write = waits, .known = "import takes 3 s, like that of inversions" },
	{ .name = "waits_lifo", .write = waits_lifo, .known = "import takes 4 s, like that of inversions" },
	{ .name = "waits_lanes", .write = waits_lanes },
	{ .name = "inversions", .write = inversions },
	{ .name = "apps_wait", .write = apps_wait, .known = "import of 20 000 takes 16 s" },
	{ .name = "apps_miss",
	  .write = apps_miss,
	  .known = "import of 20 000 takes 20 s; a small database 3 times the trace" },
	{ .name = "misses", .write = misses, .known = "a database of 2.5 times the trace" },
	{ .name = "chosen", .write = chosen },
	{ .name = "deadline_misses",
	  .has_app = true,
	  .each = "+1 deadline_miss exec=$s:1 model=$m stage=done deadline_ns=1000 over_ns=5\n" },
	{ .name = "preemptions",
	  .has_app = true,
	  .before = ON_LANE,
	  .each = "+1 sched_preempt exec=$s:1 by=$s:2 lane=0\n"
	          "+1 sched_resume exec=$s:1 lane=0\n" },
	{ .name = "preemptions_crowd", .write = preemptions_crowd },
	{ .name = "stolen",
	  .write = stolen,
	  .known = "of 100 000, a database of 4.7 times the trace, 72 MiB, and fairness takes seconds" },
	{ .name = "starved", .write = starved },
	{ .name = "windows", .write = windows },
	{ .name = "years", .write = years },
	{ .name = "windows_apps", .write = windows_apps },
	{ .name = "windows_square", .write = windows_square },
	{ .name = "pools", .has_app = true, .each = "+1 pool_map owner=stream owner_id=$s slot=$i bytes=64\n" },
	{ .name = "pools_unmapped",
	  .has_app = true,
	  .each = "+1 pool_map owner=stream owner_id=$s slot=$i bytes=64\n"
	          "+1 pool_unmap owner=stream owner_id=$s slot=$i\n" },
	{ .name = "pools_unknown", .each = "+1 pool_map owner=stream owner_id=$S slot=4 bytes=64\n" },
	{ .name = "buffers", .has_app = true, .each = "+1 buffer_allocate buffer=$S conn=$c bytes=64\n" },
	{ .name = "buffers_unknown", .each = "+1 buffer_copy buffer=$S\n" },
	{ .name = "slots",
	  .has_app = true,
	  .before = "+1 exec_submit exec=$s:1 model=$m path=async\n",
	  .each = "+1 slot_lookup exec=$s:1 slot=$i hit=0\n" },
	{ .name = "exhausted", .each = "+1 resource_exhausted owner=app owner_id=$I\n" },
	{ .name = "spans", .has_app = true, .each = "+1 app_span kind=connect owner=process owner_id=$I took_ns=1\n" },
	{ .name = "losses", .write = losses, .known = "memory with 300 000" },
	{ .name = "losses_lanes", .write = losses_lanes },
	{ .name = "losses_waits", .write = losses_waits },
	{ .name = "losses_streams", .write = losses_streams },
	{ .name = NULL },
};

/* @lines, with the numbers that floods.h names, of the thing number @i. */
static void write_numbered(FILE *to, const char *lines, unsigned i)
{
	const struct {
		char name;
		unsigned number;
	} numbers[] = { { 'c', CONN },           { 'm', MODEL },      { 's', STREAM },
		        { 'C', CONN + i },       { 'S', STREAM + i }, { 'N', MODEL + 1 + i },
		        { 'T', STREAM + 1 + i }, { 'i', i },          { 'I', i + 1 } };

	for (; *lines; lines++) {
		size_t k = 0;

		if (*lines != '$') {
			fputc(*lines, to);
			continue;
		}
		for (lines++; numbers[k].name != *lines; k++)
			if (k + 1 == sizeof(numbers) / sizeof(*numbers))
				abort();
		fprintf(to, "%u", numbers[k].number);
	}
}

static void write_each(FILE *to, const struct flood *f, unsigned n)
{
	begin(to, 1);
	if (f->has_app)
		app(to, 0);
	write_numbered(to, f->before ? f->before : "", 0);
	for (unsigned i = 0; i < n; i++)
		write_numbered(to, f->each, i);
}

char *flood_lines(const struct flood *f, unsigned n)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes);

	if (!to)
		abort();
	if (f->write)
		f->write(to, n);
	else
		write_each(to, f, n);
	if (fclose(to))
		abort();
	return text;
}
