/*
 * test_machine.c -- the trace of a kernel beside ours. babeltrace2 writes both, in the formats that
 * lttng-modules documents. cpu_state has what each cpu did. Where the kernel's trace covers an execution and
 * shows its thread, the execution's waits for a cpu are the kernel's; elsewhere they stay those that the
 * service measured.
 */
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/folders.h"
#include "bsa/import.h"

/* ---- what is written ---- */

#define SERVICE 77 /* the burst's thread; 78 is another one, 90 the app's */

/*
 * Executions, 1000 ns apart, of burst 1:5. Each is read at +0, ready at +100, on its lane from +110 to +500, and
 * answered at +600.
 */
static void write_ours(unsigned n, bool compact)
{
	const struct ctf_options options = { .uid = "1000" };
	struct ctf_writer *w;
	char lines[4096];

	mkdir(folder_at("t"), 0700);
	w = ctf_writer_new(folder_at("t/ust"), &options);
	ctf_writer_script(w,
	                  "10 service_state pid=70 instance=1 policy=fair lanes=1\n"
	                  "20 client_connect conn=0x100001 pid=90 uid=1000 app=1000 name=app\n"
	                  "30 model_prepare model=0x100002 conn=0x100001 name=net\n"
	                  "40 stream_open stream=0x100005 conn=0x100001 path=burst model=0x100002\n",
	                  1);
	for (unsigned i = 1; i <= n; i++) {
		unsigned at = i * 1000;

		if (compact)
			snprintf(lines, sizeof(lines),
			         "%u exec_service exec=0x100005:%u model=0x100002 app=1000 path=burst lane=0 began=%u "
			         "at=50,-,100,110,500,600,0,0,0,- delays=1,2,3 nth_ready=%u nth_over=%u n_ready=%u\n",
			         at + 610, i, at, i, i, i);
		else
			snprintf(lines, sizeof(lines),
			         "%u fmq_read exec=0x100005:%u queue=request\n"
			         "%u request_decode exec=0x100005:%u model=0x100002\n"
			         "%u sched_enqueue exec=0x100005:%u model=0x100002 app=1000 nth_ready=%u\n"
			         "%u sched_dispatch exec=0x100005:%u lane=0\n"
			         "%u exec_end exec=0x100005:%u lane=0 nth_over=%u n_ready=%u\n"
			         "%u exec_delay exec=0x100005:%u delays=1,2,3\n"
			         "%u fmq_write exec=0x100005:%u queue=result\n",
			         at, i, at + 50, i, at + 100, i, i, at + 110, i, at + 500, i, i, i, at + 590, i,
			         at + 600, i);
		ctf_writer_script(w, lines, 1);
	}
	ctf_writer_free(w);
}

static struct ctf_writer *kernel_new(const char *name, const char *clock)
{
	const struct ctf_options options = { .cpus = 2, .clock_uuid = clock };
	struct ctf_writer *w = ctf_writer_new(folder_at("%s", name), &options);

	ctf_writer_define(
		w, "sched_switch",
		"prev_comm:text prev_tid:i32 prev_prio:i32 prev_state:i64 next_comm:text next_tid:i32 next_prio:i32");
	ctf_writer_define(w, "sched_waking", "comm:text tid:i32 prio:i32 target_cpu:i32");
	ctf_writer_define(w, "irq_handler_entry", "irq:i32 name:text");
	ctf_writer_define(w, "irq_handler_exit", "irq:i32 ret:i32");
	ctf_writer_define(w, "power_cpu_frequency", "state:u32 cpu_id:u32");
	return w;
}

static void switches(struct ctf_writer *w, unsigned cpu, uint64_t at, int from, int state, int to)
{
	char values[160];

	snprintf(values, sizeof(values), "prev_comm=p%d prev_tid=%d prev_state=%d next_comm=t%d next_tid=%d", from,
	         from, state, to, to);
	ctf_writer_event(w, cpu, at, "sched_switch", values);
}

static void wakes(struct ctf_writer *w, unsigned cpu, uint64_t at, int tid)
{
	char values[64];

	snprintf(values, sizeof(values), "comm=x tid=%d", tid);
	ctf_writer_event(w, cpu, at, "sched_waking", values);
}

/*
 * The service's thread is on cpu 1 except: in each execution the kernel preempts it from +200 to +240; it
 * waits for an event from +300 to +350 and is ready from +330 on; and from +20 to +27 it has no cpu either.
 * On cpu 0 another thread works until 1700, and then the app.
 */
static void write_kernel(struct ctf_writer *w, unsigned n)
{
	switches(w, 0, 5, 0, 0, 78);
	switches(w, 1, 6, 0, 0, SERVICE);
	for (unsigned i = 1; i <= n; i++) {
		uint64_t at = i * 1000;

		switches(w, 1, at + 20, SERVICE, 0, 79);
		switches(w, 1, at + 27, 79, 1, SERVICE);
		switches(w, 1, at + 200, SERVICE, 0x100, 79);
		switches(w, 1, at + 240, 79, 1, SERVICE);
		switches(w, 1, at + 300, SERVICE, 1, 0);
		wakes(w, 1, at + 330, SERVICE);
		switches(w, 1, at + 350, 0, 0, SERVICE);
		if (i == 1)
			switches(w, 0, at + 700, 78, 1, 90);
	}
	ctf_writer_event(w, 0, n * 1000 + 800, "irq_handler_entry", "irq=9 name=timer");
	ctf_writer_event(w, 0, n * 1000 + 820, "irq_handler_exit", "irq=9 ret=1");
	ctf_writer_event(w, 0, n * 1000 + 830, "power_cpu_frequency", "state=800000 cpu_id=0");
	switches(w, 0, n * 1000 + 900, 90, 1, 0);
	switches(w, 0, n * 1000 + 950, 0, 0, 90);
	ctf_writer_free(w);
}

/* ---- what is answered ---- */

static void import_all(void)
{
	const char *traces[] = { folder_at("t") };
	const struct bsa_import_options options = { .traces = traces, .n_traces = 1, .output = folder_at("db") };
	struct bsa_err err = { "" };

	if (bsa_import(&options, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

/* Check the rows of @sql: commas separate values, blanks separate rows. */
static void expect(const char *sql, const char *wanted)
{
	char is[2048] = "";
	sqlite3 *db;
	sqlite3_stmt *q;

	assert_int_equal(sqlite3_open_v2(folder_at("db"), &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &q, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(q) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(q); i++) {
			const char *text = (const char *)sqlite3_column_text(q, i);
			size_t n = strlen(is);

			snprintf(is + n, sizeof(is) - n, "%s%s", i ? "," : n ? " " : "", text ? text : "-");
		}
	}
	sqlite3_finalize(q);
	sqlite3_close(db);
	assert_string_equal(is, wanted);
}

#define DELAYS "SELECT decode_delay_ns, run_delay_ns, reply_delay_ns FROM execution ORDER BY id"
#define KERNEL "SELECT key, value FROM meta WHERE key LIKE 'kernel%' ORDER BY key"

static void an_execution_waits_for_a_cpu_as_long_as_in_the_kernel_s_trace(void **state)
{
	(void)state;
	write_ours(3, false);
	write_kernel(kernel_new("t/kernel", NULL), 3);
	import_all();
	/*
	 * In the first execution another thread ran all the time, too; the second execution shows which
	 * thread is the service's. Delays: 7 of decode; 40 and 20 of run.
	 */
	expect(DELAYS, "1,2,3 7,60,0 7,60,0");
	expect(KERNEL, "kernel_delays,2 kernel_left_out,0 kernel_traces,1");
}

static void a_summary_gets_the_same_delays(void **state)
{
	(void)state;
	write_ours(4, true);
	write_kernel(kernel_new("t/kernel", NULL), 4);
	import_all();
	expect(DELAYS, "1,2,3 7,60,0 7,60,0 7,60,0");
}

static void what_each_cpu_did_is_stored(void **state)
{
	(void)state;
	write_ours(1, false);
	write_kernel(kernel_new("t/kernel", NULL), 1);
	import_all();
	expect("SELECT cpu, began - (SELECT min(began) FROM cpu_state), ended - began, did, tid, name, khz FROM "
	       "cpu_state WHERE cpu = 0 "
	       "ORDER BY began, did",
	       "0,0,1695,thread,78,t78,- 0,1695,130,thread,90,t90,- 0,1795,20,irq,-,timer,- "
	       "0,1825,70,thread,90,t90,800000 "
	       "0,1895,50,idle,-,t0,800000");
	expect("SELECT did, count(*), sum(ended - began) FROM cpu_state WHERE cpu = 1 GROUP BY did",
	       "idle,1,50 thread,6,1894");
}

static void what_was_lost_is_not_made_up(void **state)
{
	struct ctf_writer *w;
	struct bsa_event *loss;

	(void)state;
	write_ours(3, false);
	w = kernel_new("t/kernel", NULL);
	switches(w, 0, 5, 0, 0, 78);
	switches(w, 1, 6, 0, 0, SERVICE);
	switches(w, 0, 1700, 78, 1, 90);
	switches(w, 1, 2020, SERVICE, 0, 79);
	switches(w, 1, 2027, 79, 1, SERVICE);
	loss = calloc(1, sizeof(*loss) + sizeof(struct bsa_loss));
	*loss = (struct bsa_event){ .at = 2300,
		                    .kind = BSA_loss,
		                    .size = (uint16_t)(sizeof(*loss) + sizeof(struct bsa_loss)) };
	*(struct bsa_loss *)(loss + 1) = (struct bsa_loss){ .ended = 2400, .events = 3, .packets = BSA_NEVER };
	ctf_writer_record(w, 1, loss);
	free(loss);
	switches(w, 1, 2450, SERVICE, 0, 79);
	switches(w, 1, 2460, 79, 1, SERVICE);
	switches(w, 0, 4000, 90, 1, 0);
	switches(w, 1, 4000, SERVICE, 1, 0);
	ctf_writer_free(w);
	import_all();
	expect(DELAYS, "1,2,3 1,2,3 0,0,0");
}

static void a_kernel_s_trace_of_another_clock_is_left_out(void **state)
{
	(void)state;
	write_ours(3, false);
	write_kernel(kernel_new("t/kernel", "11111111-2222-3333-4444-555555555555"), 3);
	import_all();
	expect(DELAYS, "1,2,3 1,2,3 1,2,3");
	expect("SELECT count(*) FROM cpu_state", "0");
	expect(KERNEL, "kernel_delays,0 kernel_left_out,1 kernel_traces,0");
}

static void without_a_kernel_s_trace_nothing_changes(void **state)
{
	(void)state;
	write_ours(3, false);
	import_all();
	expect(DELAYS, "1,2,3 1,2,3 1,2,3");
	expect(KERNEL, "");
}

#define TEST(name) cmocka_unit_test_setup(name, folder_begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_execution_waits_for_a_cpu_as_long_as_in_the_kernel_s_trace),
		TEST(a_summary_gets_the_same_delays),
		TEST(what_each_cpu_did_is_stored),
		TEST(what_was_lost_is_not_made_up),
		TEST(a_kernel_s_trace_of_another_clock_is_left_out),
		TEST(without_a_kernel_s_trace_nothing_changes),
	};

	return cmocka_run_group_tests(tests, folders_make, folders_remove);
}
