/*
 * provider.c -- the catalogue as LTTng-UST tracepoints of the provider "nnburst".
 *
 * Each event has one argument, its struct. LTTng keeps for each event a number that is not 0 while a session has
 * enabled it; the seam checks this number.
 *
 * LATE START  A session that begins late needs events about the existing objects. The provider detects a new session
 *             in two ways: the address of an event's list of probes changes; and, because the memory of a freed list
 *             is reused, LTTng's own event of a session's start arrives. The registration for that event is not in
 *             LTTng's headers; without it, a session that directly follows another one could go unnoticed.
 */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provider/nnburst.h"

#include <dlfcn.h>
#include <stddef.h>

#include "nbt/nbt.h"

#define NBT_EVENT(name, sides, level, about, fields)       \
	static void emit_##name(const void *event)         \
	{                                                  \
		const struct nbt_##name *e = event;        \
                                                           \
		lttng_ust_do_tracepoint(nnburst, name, e); \
	}
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"

static void (*const emits[])(const void *event) = {
#define NBT_EVENT(name, sides, level, about, fields) emit_##name,
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
};

static const int *const enabled[] = {
#define NBT_EVENT(name, sides, level, about, fields) &lttng_ust_tracepoint_nnburst___##name.state,
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
};

static const uint16_t bytes[] = {
#define NBT_EVENT(name, sides, level, about, fields) sizeof(struct nbt_##name),
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
};

/* ---- trace sessions that have begun ---- */

static uint64_t started; /* sessions */

static void session_started(void *data, void *session)
{
	(void)data;
	(void)session;
	__atomic_fetch_add(&started, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void listen_for_sessions(void)
{
	int (*probe_register)(const char *, const char *, void (*)(void), void *, const char *) =
		(int (*)(const char *, const char *, void (*)(void), void *, const char *))dlsym(
			RTLD_DEFAULT, "lttng_ust_tp_probe_register_queue_release");
	void (*probe_settle)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "lttng_ust_tp_probe_prune_release_queue");

	if (!probe_register || !probe_settle)
		return;
	probe_register("lttng_ust_statedump", "start", (void (*)(void))session_started, NULL,
	               "struct lttng_ust_session *, session");
	probe_settle();
}

/*
 * A hash of the lists of probes of the events about existing objects: it changes when a session enables or disables
 * them.
 */
static uint64_t listeners_hash(void)
{
	static const struct lttng_ust_tracepoint *const states[] = {
		&lttng_ust_tracepoint_nnburst___service_state,   &lttng_ust_tracepoint_nnburst___client_connect,
		&lttng_ust_tracepoint_nnburst___model_prepare,   &lttng_ust_tracepoint_nnburst___stream_open,
		&lttng_ust_tracepoint_nnburst___pool_map,        &lttng_ust_tracepoint_nnburst___exec_state,
		&lttng_ust_tracepoint_nnburst___buffer_allocate,
	};
	uint64_t n = __atomic_load_n(&started, __ATOMIC_RELAXED);

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		n = n * 0x9e3779b97f4a7c15u + (uintptr_t)__atomic_load_n(&states[i]->probes, __ATOMIC_RELAXED);
	return n;
}

extern const struct nbt_provider nbt_provider;
__attribute__((visibility("default"))) const struct nbt_provider nbt_provider = {
	.abi = NBT_PROVIDER_ABI,
	.n_events = NBT_EVENTS,
	.bytes = bytes,
	.enabled = enabled,
	.emit = emits,
	.listeners = listeners_hash,
};
