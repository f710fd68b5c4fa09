/*
 * control.h -- liblttng-ctl, if this machine has it: it is loaded when somebody records, so that whoever only asks does without.
 */
#ifndef BSV_CONTROL_H
#define BSV_CONTROL_H

#include <lttng/lttng.h>

#include "bsa/err.h"

/* clang-format off */
#define BSV_LTTNG_FUNCTIONS(F)                                                                                          \
	F(channel_create) F(channel_destroy) F(channel_get_discarded_event_count) F(channel_get_lost_packet_count)      \
	F(create_handle) F(create_session_ext) F(data_pending) F(destroy_handle) F(destroy_session)                      \
	F(destroy_session_ext) F(destruction_handle_destroy) F(destruction_handle_get_result)                            \
	F(destruction_handle_wait_for_completion)                                                                        \
	F(enable_channel) F(enable_event) F(event_create) F(event_destroy) F(list_channels) F(list_sessions)             \
	F(list_tracepoints) F(session_daemon_alive) F(session_descriptor_destroy) F(session_descriptor_local_create)     \
	F(start_tracing) F(stop_tracing_no_wait) F(strerror)
/* clang-format on */

#define BSV_LTTNG_POINTER(name) typeof(&lttng_##name) name;

/* lttng_NAME is NAME here. */
struct bsv_lttng {
	BSV_LTTNG_FUNCTIONS(BSV_LTTNG_POINTER)
};

/* *ret is borrowed for good. BSA_E_ENV: there is none, or it lacks something. */
int bsv_lttng_load(const struct bsv_lttng **ret, struct bsa_err *err);

#endif
