/* control.h -- liblttng-ctl, loaded when a recording begins, so that commands that only answer need not load it. */
#ifndef BSV_CONTROL_H
#define BSV_CONTROL_H

#include <lttng/action/list.h>
#include <lttng/condition/event-rule-matches.h>
#include <lttng/event-expr.h>
#include <lttng/event-field-value.h>
#include <lttng/event-rule/user-tracepoint.h>
#include <lttng/lttng.h>
#include <lttng/notification/channel.h>
#include <lttng/notification/notification.h>

#include "bsa/err.h"

/* clang-format off */
#define BSV_LTTNG_FUNCTIONS(F)                                                                                          \
	F(channel_create) F(channel_destroy) F(channel_get_discarded_event_count) F(channel_get_lost_packet_count)      \
	F(create_handle) F(create_session_ext) F(data_pending) F(destroy_handle) F(destroy_session)                      \
	F(destroy_session_ext) F(destruction_handle_destroy) F(destruction_handle_get_result)                            \
	F(destruction_handle_wait_for_completion)                                                                        \
	F(enable_channel) F(enable_event_with_exclusions) F(event_create) F(event_destroy) F(list_channels) F(list_sessions)             \
	F(list_tracepoints) F(session_daemon_alive) F(session_descriptor_destroy) F(session_descriptor_local_create)     \
	F(start_tracing) F(stop_tracing_no_wait) F(strerror)                                                             \
	F(regenerate_statedump) F(session_descriptor_snapshot_create)                                                    \
	F(snapshot_output_create) F(snapshot_output_destroy) F(snapshot_output_set_local_path)                           \
	F(snapshot_output_set_name) F(snapshot_record)                                                                   \
	F(action_destroy) F(action_list_add_action) F(action_list_create) F(action_notify_create) F(condition_destroy) F(condition_event_rule_matches_append_capture_descriptor) \
	F(condition_event_rule_matches_create) F(evaluation_event_rule_matches_get_captured_values)                      \
	F(event_expr_destroy) F(event_expr_event_payload_field_create)                                                   \
	F(event_field_value_array_get_element_at_index) F(event_field_value_get_type)                                    \
	F(event_field_value_unsigned_int_get_value) F(event_rule_destroy) F(event_rule_user_tracepoint_create)           \
	F(event_rule_user_tracepoint_set_filter) F(event_rule_user_tracepoint_set_name_pattern)                          \
	F(list_triggers) F(notification_channel_create) F(notification_channel_destroy)                                  \
	F(notification_channel_get_next_notification) F(notification_channel_has_pending_notification)                   \
	F(notification_channel_subscribe) F(notification_destroy) F(notification_get_evaluation)                         \
	F(notification_get_trigger) F(register_trigger_with_name) F(session_daemon_notification_endpoint)                \
	F(trigger_create) F(trigger_destroy) F(trigger_get_name) F(triggers_destroy)                                     \
	F(triggers_get_at_index) F(triggers_get_count) F(unregister_trigger)
/* clang-format on */

#define BSV_LTTNG_POINTER(name) typeof(&lttng_##name) name;

/* lttng_NAME is NAME here. */
struct bsv_lttng {
	BSV_LTTNG_FUNCTIONS(BSV_LTTNG_POINTER)
};

/* Load liblttng-ctl. *ret is borrowed for good. BSA_E_ENV: it is not installed, or lacks a function. */
int bsv_lttng_load(const struct bsv_lttng **ret, struct bsa_err *err);

#endif
