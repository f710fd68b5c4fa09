/*
 * many_streams.c PROVIDER N -- a runtime that opens N bursts, executes one request on each, and ends without
 * closing them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "nbt/nbt.h"

enum { INSTANCE = 9, BASE = INSTANCE << 20, CONNECTION = BASE | 1, MODEL = BASE | 2, FIRST = BASE | 3, APP = 7 };

static void open_one(uint32_t stream)
{
	uint64_t exec = (uint64_t)stream << 32 | 1;

	NBT(stream_open, .stream = stream, .conn = CONNECTION, .path = NBT_path_burst, .model = MODEL,
	    .cache = NBT_cache_slots);
	NBT(exec_submit, .exec = exec, .model = MODEL, .path = NBT_path_burst, .pools = 2);
	NBT(fmq_write, .exec = exec, .queue = NBT_queue_request, .items = 6);
}

int main(int argc, char **argv)
{
	const char *why;
	uint32_t n;

	if (argc != 3 || nbt_open(argv[1], &why)) {
		fprintf(stderr, "many_streams: %s\n", argc != 3 ? "which provider, and how many?" : why);
		return 1;
	}
	n = (uint32_t)strtoul(argv[2], NULL, 10);
	NBT(service_state, .pid = 1, .instance = INSTANCE, .policy = NBT_policy_fifo, .lanes = 1,
	    .contract = NBT_CONTRACT);
	NBT(client_connect, .conn = CONNECTION, .pid = 1, .app = APP, .name = "camera");
	NBT(model_prepare, .model = MODEL, .conn = CONNECTION, .name = "faces", .priority = NBT_priority_medium,
	    .ops = 1);
	for (uint32_t i = 0; i < n; i++)
		open_one(FIRST + i);
	return 0;
}
