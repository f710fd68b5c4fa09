/*
 * test_users.c -- the events of each user that count (analyzer/users.h): a row is a story, and shows which of
 * its events count.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/script.h"
#include "users.h"

/*
 * Traces 1 to 4 are of root, of uids 1000 and 1001, and of an unknown user. Numbers from 0x100001 on are of
 * instance 1.
 */
static const uint32_t users[] = { 0, 1000, 1001, USERS_UNKNOWN };

#define ROOT " trace=1\n"
#define A " trace=2\n"
#define B " trace=3\n"
#define NOBODY " trace=4\n"

#define SERVICE(t, trace) t " service_state pid=9 instance=1 lanes=1" trace
#define CONNECT(t, conn, uid, trace) t " client_connect conn=" conn " pid=20 uid=" uid " app=20 name=camera" trace
#define OPEN(t, stream, conn, trace) t " stream_open stream=" stream " conn=" conn " path=burst" trace
#define SUBMIT(t, stream, trace) t " exec_submit exec=" stream ":1 path=burst" trace
#define END(t, stream, trace) t " exec_end exec=" stream ":1 lane=0" trace
#define THERE(trace) \
	SERVICE("1", trace) CONNECT("2", "0x100001", "1000", trace) OPEN("3", "0x100002", "0x100001", trace)

struct row {
	const char *name, *script;
	const char *counts; /* a letter for each event: y or n */
	uint32_t named, service, rival;
	bool again;
};

static const struct row rows[] = {
	{ "root's service, and its client", THERE(ROOT) SUBMIT("4", "0x100002", A) END("5", "0x100002", ROOT), "yyyyy",
	  USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "another user's client",
	  THERE(ROOT) SUBMIT("4", "0x100002", B) "5 exec_return exec=0x100002:1" B
	                                         "6 exec_client exec=0x100002:1 began=4" B
	                                         "7 fmq_write exec=0x100002:1 queue=request" B
	                                         "8 app_span kind=burst_make owner=stream owner_id=0x100002" B
	                                         "9 app_span kind=connect owner=connection owner_id=0x100001" B,
	  "yyynnnnnn", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "a stream that was announced before the recording, or is lost, and one that cannot be",
	  THERE(ROOT) SUBMIT("4", "0x100009", A) SUBMIT("5", "0", A), "yyyyn", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "but not once the service has told of all that it has", THERE(ROOT) SUBMIT("30ms", "0x100009", A), "yyyn",
	  USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "nor if something was lost", THERE(ROOT) "20ms loss ended=21000000" ROOT SUBMIT("30ms", "0x100009", A),
	  "yyyyy", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "a model that its user has too late, and another user's",
	  THERE(ROOT) "4 model_prepare model=0x100005 conn=0x100001" ROOT
	              "5 deadline_miss exec=0 model=0x100005 stage=returned" A
	              "6 deadline_miss exec=0 model=0x100005 stage=returned" B,
	  "yyyyyn", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "a service_state does not take a part of a recording from root", END("1", "0x100002", ROOT) SERVICE("2", A),
	  "yn", USERS_UNKNOWN, 0, 1000, false },
	{ "a client that claims to be the service",
	  THERE(ROOT) END("4", "0x100002", A) SERVICE("5", A) CONNECT(
		  "6", "0x100003", "1001", A) "7 client_disconnect conn=0x100001" A
	                                      "8 exec_service exec=0x100002:1 began=4" A SUBMIT("9", "0x100002", A),
	  "yyynnnnny", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "and before the service is heard", SERVICE("0", A) CONNECT("0", "0x100001", "1001", A) THERE(ROOT), "yynnn",
	  USERS_UNKNOWN, 0, USERS_UNKNOWN, true },
	{ "which the second time is known", SERVICE("0", A) CONNECT("0", "0x100001", "1001", A) THERE(ROOT), "nnyyy", 0,
	  0, USERS_UNKNOWN, false },
	{ "another instance is an impostor's, too",
	  THERE(ROOT) "4 service_state pid=10 instance=2 lanes=1" A CONNECT("5", "0x200001", "1001", A), "yyynn",
	  USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "two that are not root's have the same right", THERE(A) "4 service_state pid=10 instance=2 lanes=1" B, "yyyn",
	  USERS_UNKNOWN, 1000, 1001, false },
	{ "unless one is named", THERE(A) "4 service_state pid=10 instance=2 lanes=1" B, "nnny", 1001, 1001,
	  USERS_UNKNOWN, false },
	{ "a user who announces a service precedes one who only acts as one", END("1", "0x100002", B) THERE(A), "ynnn",
	  USERS_UNKNOWN, 1000, 1001, true },
	{ "the service's own user may be a client",
	  SERVICE("1", A) CONNECT("2", "0x100001", "1000", A) OPEN("3", "0x100002", "0x100001", A)
	          SUBMIT("4", "0x100002", A) SUBMIT("5", "0x100002", B),
	  "yyyyn", USERS_UNKNOWN, 1000, USERS_UNKNOWN, false },
	{ "a client that is heard before the service is believed, until all is told again",
	  SUBMIT("1", "0x100002", A) THERE(ROOT), "yyyy", USERS_UNKNOWN, 0, USERS_UNKNOWN, true },
	{ "bursts without a service",
	  CONNECT("1", "0x300001", "1001", B) OPEN("1", "0x300002", "0x300001", B) SUBMIT("1", "0x300002", B)
	          END("1", "0x300002", B) THERE(ROOT),
	  "yyyyyyy", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "are no other user's",
	  THERE(ROOT) CONNECT("4", "0x300001", "1001", B) END("5", "0x300002", B) END("6", "0x300002", A)
	          SUBMIT("7", "0x300002", A) CONNECT("8", "0x300003", "1000", B),
	  "yyyyynnn", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "and cannot take the service's number",
	  CONNECT("1", "0x100001", "1001", B) THERE(ROOT) END("4", "0x100002", B), "yyyyn", USERS_UNKNOWN, 0,
	  USERS_UNKNOWN, false },
	{ "what is told after the end",
	  THERE(ROOT) "4 stream_close stream=0x100002" ROOT "5 client_disconnect conn=0x100001" ROOT
	              "6 exec_return exec=0x100002:1" A "7 exec_return exec=0x100002:1" B,
	  "yyyyyyn", USERS_UNKNOWN, 0, USERS_UNKNOWN, false },
	{ "an unknown user's events are not judged",
	  THERE(ROOT) SUBMIT("4", "0x100002", NOBODY) END("5", "0x100002", NOBODY), "yyyyy", USERS_UNKNOWN, 0,
	  USERS_UNKNOWN, false },
	{ "a number that is announced for another one later: again, and then it does not count",
	  SUBMIT("1", "0x100002", B) THERE(ROOT), "yyyy", 0, 0, USERS_UNKNOWN, true },
	{ "a number that is announced for its own user", SUBMIT("1", "0x100002", A) THERE(ROOT), "yyyy", 0, 0,
	  USERS_UNKNOWN, false },
	{ "a stream of its own on a connection that is not, and what cannot be",
	  CONNECT("1", "0x700001", "1001", B) OPEN("2", "0x700002", "0x100001", B)
	          OPEN("3", "0x700002", "0x700001", B) "4 sched_dispatch exec=0x700002:1 lane=200" B,
	  "ynyn", 0, 0, USERS_UNKNOWN, false },
	{ "messages between other programs", THERE(ROOT) "4 fmq_write exec=0 queue=other" B, "yyyy", USERS_UNKNOWN, 0,
	  USERS_UNKNOWN, false },
};

static void tell(const struct row *row)
{
	struct script *s = script_new(row->script);
	struct bsa_users *u = bsa_users_new(row->named);
	struct bsa_users_decided d;
	const struct bsa_event *e;
	char counts[64] = "";

	for (uint32_t i = 0; i < sizeof(users) / sizeof(*users); i++)
		assert_int_equal(bsa_users_trace(u, i + 1, users[i]), 0);
	while ((e = script_next(s)))
		counts[strlen(counts)] = bsa_users_event(u, e) ? 'y' : 'n';
	d = bsa_users_decided(u);
	if (strcmp(counts, row->counts) || d.service != row->service || d.rival != row->rival || d.again != row->again)
		fail_msg("%s: %s, service %u, rival %u, again %d", row->name, counts, d.service, d.rival, d.again);
	bsa_users_free(u);
	script_free(s);
}

static void what_counts_is_whose_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		tell(&rows[i]);
}

static void of_one_user_everything_counts(void **state)
{
	struct bsa_event *e = script_record("5 exec_end exec=0x100002:1 trace=1");
	struct bsa_users *u = bsa_users_new(USERS_UNKNOWN);

	(void)state;
	assert_int_equal(bsa_users_trace(u, 1, 1000), 0);
	assert_int_equal(bsa_users_trace(u, 2, 1000), 0);
	assert_int_equal(bsa_users_trace(u, 3, USERS_UNKNOWN), 0);
	assert_int_equal(bsa_users_event(u, e), 1);
	assert_true(bsa_users_decided(u).service == USERS_UNKNOWN && !bsa_users_decided(u).again);
	bsa_users_free(u);
	free(e);
}

/* Closed streams are forgotten after a while, the longest closed first. */
static void many_streams_take_bounded_memory(void **state)
{
	enum { MANY = 200000 };
	struct bsa_users *u = bsa_users_new(0);
	char line[128];

	(void)state;
	assert_int_equal(bsa_users_trace(u, 1, 0), 0);
	assert_int_equal(bsa_users_trace(u, 2, 1000), 0);
	for (unsigned i = 1; i <= MANY; i++)
		for (int close = 0; close < 2; close++) {
			struct bsa_event *e;

			snprintf(line, sizeof(line),
			         close ? "5 stream_close stream=%u trace=1"
			               : "5 stream_open stream=%u conn=9 path=burst trace=1",
			         i);
			e = script_record(line);
			assert_int_equal(bsa_users_event(u, e), 1);
			free(e);
		}
	bsa_users_free(u);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(what_counts_is_whose_it_is),
		cmocka_unit_test(of_one_user_everything_counts),
		cmocka_unit_test(many_streams_take_bounded_memory),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
