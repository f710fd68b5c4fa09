/* own.c -- numbers and events of bursts that no service numbers. */
#include "trace/own.h"

#include <assert.h>
#include <sys/random.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/sys.h"

enum { INSTANCE_BITS = 12, SERIAL_BITS = 32 - INSTANCE_BITS };

static uint32_t instance;

static void take_instance(void)
{
	if (getrandom(&instance, sizeof(instance), GRND_NONBLOCK) != sizeof(instance))
		instance = (uint32_t)getpid();
	instance = instance % ((1 << INSTANCE_BITS) - 1) + 1;
}

/* Serial 1 is the process itself, as if it were a client's connection. */
static uint32_t own_number(uint32_t serial)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, take_instance);
	assert(instance && instance < 1 << INSTANCE_BITS);
	return instance << SERIAL_BITS | (serial & ((1 << SERIAL_BITS) - 1));
}

uint32_t nnb__own_number(void)
{
	static _Atomic uint32_t last = 1;
	uint32_t serial;

	do
		serial = (atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1) & ((1 << SERIAL_BITS) - 1);
	while (serial < 2);
	return own_number(serial);
}

static void own_emit(const struct nnb__own *o, uint64_t since)
{
	uint32_t conn = own_number(1);

	NBT(client_connect, .conn = conn, .pid = (uint32_t)getpid(), .uid = (uint32_t)geteuid(),
	    .app = (uint32_t)getpid(), .name = program_invocation_short_name, .since = o->since);
	NBT(stream_open, .stream = o->stream, .conn = conn, .path = o->path, .request_capacity = o->request_capacity,
	    .result_capacity = o->result_capacity, .spin_us = o->spin_us, .cache = o->cache, .since = since,
	    .client_spin_us = o->client_spin_us);
}

void nnb__own_begin(struct nnb__own *o)
{
	o->since = nnb__now();
	nbt_news(&o->heard);
	/* The process is emitted as existing, because another burst may have emitted it. The burst is new. */
	own_emit(o, 0);
}

void nnb__own_emit_again(struct nnb__own *o)
{
	own_emit(o, o->since);
}

void nnb__own_end(const struct nnb__own *o)
{
	if (o->stream)
		NBT(stream_close, .stream = o->stream, .reason = NBT_reason_client);
}
