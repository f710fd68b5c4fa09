/*
 * triggers.c -- registers a trigger for each event of a condition, and reads the notifications.
 *
 * CRASH  A trigger outlives the process that registered it, as a session does. Its name begins with
 *        the name of the session, which contains the process: the burstscope that ends the sessions
 *        of processes that have ended removes their triggers.
 */
#include "record/triggers.h"

#include <stdlib.h>
#include <string.h>

/* ---- one trigger ---- */

/* NULL: no memory, or LTTng does not take the filter. */
static struct lttng_condition *make_condition(const struct bsv_lttng *lttng, const struct bsv_rule *rule)
{
	struct lttng_event_rule *event_rule = lttng->event_rule_user_tracepoint_create();
	struct lttng_condition *condition = NULL;
	bool ok = event_rule && lttng->event_rule_user_tracepoint_set_name_pattern(event_rule, rule->event) ==
	                                LTTNG_EVENT_RULE_STATUS_OK;

	if (ok && rule->filter)
		ok = lttng->event_rule_user_tracepoint_set_filter(event_rule, rule->filter) ==
		     LTTNG_EVENT_RULE_STATUS_OK;
	if (ok)
		condition = lttng->condition_event_rule_matches_create(event_rule);
	lttng->event_rule_destroy(event_rule); /* the condition has a reference of its own */
	ok = condition;
	for (size_t i = 0; ok && i < BSV_CAPTURES && rule->captures[i]; i++) {
		struct lttng_event_expr *expr = lttng->event_expr_event_payload_field_create(rule->captures[i]);

		ok = expr && lttng->condition_event_rule_matches_append_capture_descriptor(condition, expr) ==
		                     LTTNG_CONDITION_STATUS_OK;
		if (expr && !ok) /* otherwise the condition owns it now */
			lttng->event_expr_destroy(expr);
	}
	if (ok)
		return condition;
	lttng->condition_destroy(condition);
	return NULL;
}

/* Register the trigger under a unique name. */
static int add_trigger(struct bsv_triggers *t, const struct bsv_rule *rule, struct bsa_err *err)
{
	struct lttng_condition *condition = make_condition(t->lttng, rule);
	/* lttng list-triggers (2.13) aborts at an action that is in no list */
	struct lttng_action *list = t->lttng->action_list_create(), *notify = t->lttng->action_notify_create();
	struct lttng_trigger *trigger = NULL;
	char name[BSV_SESSION_NAME + 16];
	int r = LTTNG_ERR_NOMEM;

	if (condition && list && notify && t->lttng->action_list_add_action(list, notify) == LTTNG_ACTION_STATUS_OK)
		trigger = t->lttng->trigger_create(condition, list);
	snprintf(name, sizeof(name), "%s:%zu", t->prefix, t->n);
	if (trigger)
		r = (int)t->lttng->register_trigger_with_name(trigger, name);
	if (r == LTTNG_OK) {
		t->of[t->n++] = trigger;
		if (t->lttng->notification_channel_subscribe(t->channel, condition) !=
		    LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
			r = LTTNG_ERR_UNK;
	} else {
		t->lttng->trigger_destroy(trigger);
	}
	t->lttng->action_destroy(notify); /* the list holds the action, and the trigger the list */
	t->lttng->action_destroy(list);
	t->lttng->condition_destroy(condition);
	if (r == LTTNG_OK)
		return 0;
	return bsa_fail(err, BSA_E_ENV, "LTTng cannot set a trigger: %s", t->lttng->strerror(r < 0 ? r : -r));
}

int bsv_triggers_open(struct bsv_triggers *ret, const struct bsv_lttng *lttng, const char *name,
                      const struct bsv_rule *rules, size_t n, struct bsa_err *err)
{
	int r = 0;

	*ret = (struct bsv_triggers){ .lttng = lttng };
	if (n > BSV_RULES_MOST)
		return bsa_fail(err, BSA_E_USAGE, "more than %d kinds of events at once", BSV_RULES_MOST);
	snprintf(ret->prefix, sizeof(ret->prefix), "%s", name);
	ret->channel = lttng->notification_channel_create(*lttng->session_daemon_notification_endpoint);
	if (!ret->channel)
		return bsa_fail(err, BSA_E_ENV,
		                "lttng-sessiond does not send notifications; LTTng 2.13 or later is needed");
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_trigger(ret, &rules[i], err);
	if (r < 0)
		bsv_triggers_close(ret);
	return r;
}

void bsv_triggers_close(struct bsv_triggers *t)
{
	for (size_t i = 0; i < t->n; i++) {
		t->lttng->unregister_trigger(t->of[i]);
		t->lttng->trigger_destroy(t->of[i]);
	}
	if (t->channel)
		t->lttng->notification_channel_destroy(t->channel);
	*t = (struct bsv_triggers){ .n = 0 };
}

/* ---- notifications ---- */

static void read_captures(const struct bsv_lttng *lttng, const struct lttng_evaluation *evaluation,
                          uint64_t ret[BSV_CAPTURES])
{
	const struct lttng_event_field_value *all = NULL, *one;

	memset(ret, 0, BSV_CAPTURES * sizeof(*ret));
	if (lttng->evaluation_event_rule_matches_get_captured_values(evaluation, &all) !=
	    LTTNG_EVALUATION_EVENT_RULE_MATCHES_STATUS_OK)
		return;
	for (unsigned i = 0; i < BSV_CAPTURES; i++)
		if (lttng->event_field_value_array_get_element_at_index(all, i, &one) ==
		    LTTNG_EVENT_FIELD_VALUE_STATUS_OK)
			lttng->event_field_value_unsigned_int_get_value(one, &ret[i]);
}

int bsv_triggers_next(struct bsv_triggers *t, struct bsv_notified *ret, struct bsa_err *err)
{
	const struct bsv_lttng *lttng = t->lttng;
	const struct lttng_trigger *trigger;
	struct lttng_notification *n = NULL;
	const char *name = NULL;
	const size_t length = strlen(t->prefix);
	unsigned long rule;
	bool pending = false, ours = false;
	int status = (int)lttng->notification_channel_has_pending_notification(t->channel, &pending);

	if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_INTERRUPTED || (!status && !pending))
		return 0;
	if (!status)
		status = (int)lttng->notification_channel_get_next_notification(t->channel, &n);
	/* dropped notifications show that there were others: this one stands for them, and brings nothing */
	if (status == LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED)
		return 0;
	if (status != LTTNG_NOTIFICATION_CHANNEL_STATUS_OK)
		return bsa_fail(err, BSA_E_ENV, "lttng-sessiond has gone");

	/* Find the trigger that the notification belongs to, by its name. */
	trigger = lttng->notification_get_trigger(n);
	if (trigger && lttng->trigger_get_name(trigger, &name) == LTTNG_TRIGGER_STATUS_OK && name &&
	    !strncmp(name, t->prefix, length) && name[length] == ':') {
		rule = strtoul(name + length + 1, NULL, 10);
		ret->rule = (unsigned)rule;
		ours = rule < t->n;
	}
	if (ours)
		read_captures(lttng, lttng->notification_get_evaluation(n), ret->values);
	lttng->notification_destroy(n);
	return ours;
}

/* ---- those that were left ---- */

static bool is_stale(const struct bsv_lttng *lttng, const struct lttng_trigger *trigger)
{
	const char *name = NULL;

	return trigger && lttng->trigger_get_name(trigger, &name) == LTTNG_TRIGGER_STATUS_OK && name &&
	       bsv_session_is_stale(name);
}

unsigned bsv_triggers_sweep(const struct bsv_lttng *lttng)
{
	struct lttng_triggers *all = NULL;
	unsigned n = 0, gone = 0;

	if (lttng->list_triggers(&all) != LTTNG_OK)
		return 0;
	lttng->triggers_get_count(all, &n);
	for (unsigned i = 0; i < n; i++) {
		const struct lttng_trigger *trigger = lttng->triggers_get_at_index(all, i);

		if (is_stale(lttng, trigger) && lttng->unregister_trigger(trigger) >= 0)
			gone++;
	}
	lttng->triggers_destroy(all);
	return gone;
}

int bsv_triggers_used(const struct bsv_lttng *lttng)
{
	struct lttng_triggers *all = NULL;
	bool used = false, known;
	unsigned n = 0;

	if (lttng->list_triggers(&all) != LTTNG_OK)
		return -1;
	known = lttng->triggers_get_count(all, &n) == LTTNG_TRIGGER_STATUS_OK;
	for (unsigned i = 0; known && i < n; i++)
		used |= !is_stale(lttng, lttng->triggers_get_at_index(all, i));
	lttng->triggers_destroy(all);
	return known ? used : -1;
}
