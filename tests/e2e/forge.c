/*
 * forge.c -- PROVIDER INSTANCE: an app that forges the audit: for a second it emits, over and over, the
 * events of the service of that instance and of other apps, for the first connections, streams and executions
 * that the service numbers. The first line on standard output shows that it has begun.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nbt/nbt.h"

enum { NUMBERS = 24, EXECUTIONS = 40, INSTANCE_SHIFT = 20 };

static void forge_execution(uint32_t base, uint32_t stream, uint32_t seq)
{
	uint64_t exec = (uint64_t)(base | stream) << 32 | seq;

	NBT(exec_submit, .exec = exec, .model = base | 2, .path = NBT_path_burst, .deadline_ns = 1);
	NBT(sched_enqueue, .exec = exec, .model = base | 2, .app = 1, .priority = NBT_priority_low);
	NBT(sched_dispatch, .exec = exec, .lane = 1);
	NBT(deadline_miss, .exec = exec, .kind = NBT_miss_transient, .stage = NBT_stage_queue, .deadline_ns = 1,
	    .over_ns = 123456789);
	NBT(exec_end, .exec = exec, .lane = 1, .status = NBT_status_general_failure, .cpu_ns = 1);
	NBT(exec_return, .exec = exec, .status = NBT_status_dead_object);
}

static void forge_all(uint32_t instance)
{
	uint32_t base = instance << INSTANCE_SHIFT;

	NBT(service_state, .pid = 1, .instance = (uint16_t)instance, .policy = NBT_policy_fifo, .lanes = 7);
	for (uint32_t i = 1; i < NUMBERS; i++) {
		NBT(client_connect, .conn = base | i, .pid = 1, .uid = 0, .app = 0, .name = "forged");
		NBT(stream_open, .stream = base | i, .conn = base | i, .path = NBT_path_sync);
		for (uint32_t seq = 1; seq <= EXECUTIONS; seq++)
			forge_execution(base, i, seq);
	}
}

int main(int argc, char **argv)
{
	time_t began = time(NULL);
	const char *why;

	if (argc != 3 || nbt_open(argv[1], &why)) {
		fprintf(stderr, "forge: %s\n", argc != 3 ? "which provider, and whose instance?" : why);
		return 1;
	}
	forge_all((uint32_t)strtoul(argv[2], NULL, 10));
	puts("begun");
	fflush(stdout);
	while (time(NULL) - began < 2) {
		const struct timespec pause = { .tv_nsec = 20000000 };

		nanosleep(&pause, NULL);
		forge_all((uint32_t)strtoul(argv[2], NULL, 10));
	}
	return 0;
}
