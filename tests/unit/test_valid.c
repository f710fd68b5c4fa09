/*
 * test_valid.c -- the valid numbers of a record: every field of the catalogue has a rule, and each rule its
 * bounds.
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
#include "fold/valid.h"

/* Fields of text are left out: any text is valid. */
static void every_number_of_the_catalogue_has_a_rule(void **state)
{
	unsigned fields = 0;

	(void)state;
#define NBT_EVENT(name, sides, level, about, list) \
	{                                          \
		typedef struct bsa_##name self;    \
		enum bsa_kind kind = BSA_##name;   \
		list                               \
	}
#define NBT_INT(type, name)                                                                      \
	fields++;                                                                                \
	if (!bsa_valid_knows(kind, (uint16_t)(sizeof(struct bsa_event) + offsetof(self, name)))) \
		fail_msg("no rule for %s of event %d", #name, kind);
#define NBT_LABEL(enumeration, name) NBT_INT(u8, name)
#define NBT_ARRAY(type, name, n) NBT_INT(type, name)
#define NBT_TEXT(name) (void)(self *)0;
#include "nbt/events.def"
	assert_true(fields > 150);
}

enum verdict { FINE, UNUSABLE, LARGEST, UNKNOWN };

struct row {
	const char *line;
	enum verdict verdict;
};

static const struct row rows[] = {
	{ "5 exec_submit exec=1:1", FINE },
	{ "5 exec_submit exec=0:1", UNUSABLE },
	{ "5 exec_submit exec=1:0", UNUSABLE },
	{ "5 fmq_write exec=0", FINE },
	{ "5 fmq_write exec=0:7", UNUSABLE },
	{ "5 fmq_read exec=0", UNUSABLE },
	{ "5 service_state instance=4095", FINE },
	{ "5 service_state instance=4096", UNUSABLE },
	{ "5 sched_dispatch exec=1:1 lane=63", FINE },
	{ "5 sched_dispatch exec=1:1 lane=64", UNUSABLE },
	{ "5 sched_dispatch exec=1:1 lane=254", FINE },
	{ "5 sched_dispatch exec=1:1 lane=255", UNUSABLE },
	{ "5 exec_end exec=1:1 lane=255", FINE },
	{ "5 exec_end exec=1:1 lane=253", UNUSABLE },
	{ "5 exec_end exec=1:1 redo_ns=0x4000000000000000", FINE },
	{ "5 exec_end exec=1:1 redo_ns=0x4000000000000001", UNUSABLE },
	{ "5 exec_end exec=1:1 cpu_ns=-", FINE },
	{ "5 exec_end exec=1:1 cpu_ns=0x4000000000000001", UNKNOWN },
	{ "5 exec_client exec=1:1 began=0x4000000000000001", UNUSABLE },
	{ "5 exec_client exec=1:1 path=fenced", FINE },
	{ "5 exec_client exec=1:1 path=prepare", UNUSABLE },
	{ "5 exec_submit exec=1:1 path=prepare", UNUSABLE },
	{ "5 exec_service exec=1:1 path=prepare", FINE },
	{ "5 exec_client exec=1:1 at=1,-,2,3", FINE },
	{ "5 exec_client exec=1:1 at=1,-,2,0x4000000000000001", UNKNOWN },
	{ "5 exec_submit exec=1:1 deadline_ns=0x4000000000000000", FINE },
	{ "5 exec_submit exec=1:1 deadline_ns=0x4000000000000001", LARGEST },
	{ "5 exec_submit exec=1:1 duration_ns=-", LARGEST },
	{ "5 sched_enqueue exec=1:1 deadline_ns=- priority=9 app=0xffffffff", LARGEST },
};

static enum verdict verdict_of(const struct bsa_event *e)
{
	struct bsa_mended room;
	bool unknown;
	const struct bsa_event *valid = bsa_valid(e, &room, &unknown);

	if (!valid)
		return UNUSABLE;
	if (valid == e)
		return FINE;
	assert_int_equal(valid->size, e->size);
	assert_int_equal(valid->kind, e->kind);
	return unknown ? UNKNOWN : LARGEST;
}

static void each_rule_has_its_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct bsa_event *e = script_record(rows[i].line);

		if (verdict_of(e) != rows[i].verdict)
			fail_msg("%s: %d, not %d", rows[i].line, verdict_of(e), rows[i].verdict);
		free(e);
	}
}

static void only_the_number_that_cannot_be_changes(void **state)
{
	struct bsa_event *e = script_record("5 exec_service exec=1:1 model=3 at=1,2,3,4,5,6,7,8,0x7fffffffffffffff,10 "
	                                    "deadline_ns=- delays=1,0x4000000000000001,3 lane=2");
	struct bsa_mended room;
	const struct bsa_exec_service *x;
	bool unknown;

	(void)state;
	x = BSA_OF(bsa_valid(e, &room, &unknown), exec_service);
	assert_true(unknown);
	assert_int_equal(x->model, 3);
	assert_int_equal(x->at[7], 8);
	assert_true(x->at[8] == BSA_NEVER && x->delays[1] == BSA_NEVER);
	assert_int_equal(x->at[9], 10);
	assert_int_equal(x->deadline_ns, 0);
	assert_int_equal(x->delays[2], 3);
	assert_int_equal(x->lane, 2);
	free(e);
}

static void events_of_a_client_are_not_the_service_s(void **state)
{
	static const struct {
		const char *line;
		bool of_service;
	} sides[] = {
		{ "5 exec_submit exec=1:1", false },
		{ "5 exec_client exec=1:1", false },
		{ "5 fmq_write exec=1:1 queue=request", false },
		{ "5 fmq_write exec=1:1 queue=result", true },
		{ "5 fmq_read exec=1:1 queue=call_request", true },
		{ "5 fmq_read exec=1:1 queue=call_result", false },
		{ "5 slot_lookup exec=1:1 look=client", false },
		{ "5 slot_lookup exec=1:1 look=first", true },
		{ "5 deadline_miss exec=1:1 stage=returned", false },
		{ "5 deadline_miss exec=1:1 stage=queue", true },
		{ "5 app_span kind=connect owner_id=1", false },
		{ "5 app_span kind=burst_close owner_id=1", true },
		{ "5 service_state pid=9", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sides) / sizeof(*sides); i++) {
		struct bsa_event *e = script_record(sides[i].line);

		if (bsa_valid_is_of_service(e) != sides[i].of_service)
			fail_msg("%s", sides[i].line);
		free(e);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(every_number_of_the_catalogue_has_a_rule),
		cmocka_unit_test(each_rule_has_its_bounds),
		cmocka_unit_test(only_the_number_that_cannot_be_changes),
		cmocka_unit_test(events_of_a_client_are_not_the_service_s),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
