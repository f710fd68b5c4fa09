/* own_runtime.c -- a runtime of one's own that emits burstscope's events: nbt(3), docs/events.md. */
#include <stdio.h>
#include <time.h>

#include <nbt/nbt.h>

enum { INSTANCE = 1, APP = 7, CONNECTION = INSTANCE << 20 | 1, MODEL = INSTANCE << 20 | 2, BURST = INSTANCE << 20 | 3 };

/* What there is, for who begins to listen later than it came to be. */
static void emit_objects(uint64_t since)
{
	NBT(service_state, .pid = 1, .instance = INSTANCE, .policy = NBT_policy_fifo, .lanes = 1,
	    .contract = NBT_CONTRACT, .since = since);
	NBT(client_connect, .conn = CONNECTION, .pid = 1, .app = APP, .name = "camera", .since = since);
	NBT(model_prepare, .model = MODEL, .conn = CONNECTION, .name = "faces", .priority = NBT_priority_medium,
	    .ops = 1, .since = since);
	NBT(stream_open, .stream = BURST, .conn = CONNECTION, .path = NBT_path_burst, .model = MODEL,
	    .cache = NBT_cache_slots, .since = since);
}

/* An execution: each event is the end of one phase and the beginning of the next. */
static void execute(uint32_t number)
{
	uint64_t exec = (uint64_t)BURST << 32 | number;

	NBT(exec_submit, .exec = exec, .model = MODEL, .path = NBT_path_burst, .pools = 2);
	NBT(fmq_write, .exec = exec, .queue = NBT_queue_request, .items = 6);
	NBT(fmq_read, .exec = exec, .queue = NBT_queue_request, .items = 6);
	NBT(request_decode, .exec = exec, .model = MODEL, .operands = 2, .pools = 2);
	NBT(slot_lookup, .exec = exec, .slot = 0, .hit = 1);
	NBT(slot_lookup, .exec = exec, .slot = 1, .hit = 1);
	NBT(sched_enqueue, .exec = exec, .model = MODEL, .app = APP, .priority = NBT_priority_medium);
	NBT(sched_dispatch, .exec = exec, .lane = 0);
	/* ... here it computes ... */
	NBT(exec_end, .exec = exec, .lane = 0, .status = NBT_status_none, .ops_run = 1, .cpu_ns = UINT64_MAX);
	NBT(fmq_write, .exec = exec, .queue = NBT_queue_result, .items = 3);
	NBT(fmq_read, .exec = exec, .queue = NBT_queue_result, .items = 3);
	NBT(exec_return, .exec = exec, .status = NBT_status_none);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t born = now(), heard = 0;
	const char *why;

	if (nbt_open(argc > 1 ? argv[1] : NULL, &why))
		fprintf(stderr, "no events: %s\n", why); /* the program continues without them */
	for (uint32_t i = 1; i <= 3; i++) {
		if (nbt_news(&heard))
			emit_objects(born);
		execute(i);
	}
	return 0;
}
