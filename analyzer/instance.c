/* instance.c -- finds the service instance in the numbers of an event, by the kind of the event. */
#include "instance.h"

enum {
	INSTANCE_SHIFT = 20,
	EXEC_SHIFT = 32,
	OWNER_MODEL = 0, /* the catalogue's numbers */
	OWNER_EXEC = 2
};

unsigned bsa_instance_of_number(uint32_t number)
{
	return number >> INSTANCE_SHIFT;
}

static unsigned instance_of_owner(uint8_t owner, uint64_t id)
{
	if (owner == OWNER_MODEL || owner == BSA_OWNER_STREAM || owner == BSA_OWNER_CONNECTION)
		return id <= UINT32_MAX ? (unsigned)(id >> INSTANCE_SHIFT) : NO_INSTANCE;
	return owner == OWNER_EXEC ? (unsigned)(id >> (INSTANCE_SHIFT + EXEC_SHIFT)) : NO_INSTANCE;
}

unsigned bsa_instance_of_event(const struct bsa_event *e)
{
#define BY(kind, field)  \
	case BSA_##kind: \
		return BSA_OF(e, kind)->field >> INSTANCE_SHIFT;
#define BY_EXEC(kind)    \
	case BSA_##kind: \
		return (unsigned)(BSA_OF(e, kind)->exec >> (INSTANCE_SHIFT + EXEC_SHIFT));
#define BY_OWNER(kind)   \
	case BSA_##kind: \
		return instance_of_owner(BSA_OF(e, kind)->owner, BSA_OF(e, kind)->owner_id);

	switch ((enum bsa_kind)e->kind) {
	case BSA_service_state:
		return BSA_OF(e, service_state)->instance < INSTANCES ? BSA_OF(e, service_state)->instance
		                                                      : NO_INSTANCE;
		BY(client_connect, conn)
		BY(client_disconnect, conn)
		BY(model_prepare, conn)
		BY(model_release, model)
		BY(stream_open, stream)
		BY(stream_close, stream)
		BY(buffer_allocate, conn)
		BY(buffer_copy, buffer)
		BY(buffer_reject, buffer)
		BY(buffer_free, buffer)
		BY_OWNER(pool_map)
		BY_OWNER(pool_unmap)
		BY_OWNER(resource_exhausted)
		BY_OWNER(app_span)
		BY_EXEC(exec_submit)
		BY_EXEC(fmq_write)
		BY_EXEC(fmq_read)
		BY_EXEC(request_decode)
		BY_EXEC(fence_wait)
		BY_EXEC(slot_lookup)
		BY_EXEC(slot_fetch)
		BY_EXEC(sched_enqueue)
		BY_EXEC(sched_dispatch)
		BY_EXEC(sched_preempt)
		BY_EXEC(sched_ready)
		BY_EXEC(sched_resume)
		BY_EXEC(checkpoint)
		BY_EXEC(op_end)
		BY_EXEC(loop_iteration)
		BY_EXEC(exec_end)
		BY_EXEC(deadline_miss)
		BY_EXEC(exec_return)
		BY_EXEC(fence_signal)
		BY_EXEC(exec_client)
		BY_EXEC(exec_service)
		BY_EXEC(exec_state)
		BY_EXEC(exec_delay)
	case BSA_performance_hold:
	case BSA_loss:
	case BSA_N_KINDS:
		break;
	}
	return NO_INSTANCE;
#undef BY
#undef BY_EXEC
#undef BY_OWNER
}
