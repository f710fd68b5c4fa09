/*
 * provider_fake.c -- a provider for tests: it enables the events that the test chooses, and logs those that it
 * receives.
 */
#include "provider_fake.h"

#include <string.h>

struct fake fake_state;

static void hear(enum nbt_event event, const void *what, size_t bytes)
{
	struct fake *f = &fake_state;

	_Static_assert(sizeof(struct nbt_exec_service) <= sizeof(f->log->bytes), "the largest event has room");
	pthread_mutex_lock(&f->lock);
	f->heard++;
	f->last = event;
	memcpy(f->bytes, what, bytes);
	if (f->n < FAKE_LOG) {
		memcpy(f->log[f->n].bytes, what, bytes);
		f->log[f->n].event = event;
	}
	f->n++;
	pthread_mutex_unlock(&f->lock);
}

#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields)                      \
	static void emit_##name(const void *event)                        \
	{                                                                 \
		hear(NBT_EVENT_##name, event, sizeof(struct nbt_##name)); \
	}
#include "nbt/events.def"

static void (*const emits[])(const void *event) = {
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields) emit_##name,
#include "nbt/events.def"
};

static const int *const enabled[] = {
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields) &fake_state.on[NBT_EVENT_##name],
#include "nbt/events.def"
};

/* FAKE_OTHER: the provider knows a larger checkpoint event, and one event more than the runtime does. */
static const uint16_t bytes[] = {
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#define NBT_EVENT(name, sides, level, about, fields) \
	sizeof(struct nbt_##name) + (FAKE_OTHER && NBT_EVENT_##name == NBT_EVENT_checkpoint ? 8 : 0),
#include "nbt/events.def"
	8,
};

static uint64_t listeners(void)
{
	return __atomic_load_n(&fake_state.listeners, __ATOMIC_RELAXED);
}

extern const struct nbt_provider nbt_provider;
__attribute__((visibility("default"))) const struct nbt_provider nbt_provider = {
	.abi = FAKE_ABI,
	.n_events = NBT_EVENTS + FAKE_OTHER,
	.bytes = bytes,
	.enabled = enabled,
	.emit = emits,
	.listeners = listeners,
};
