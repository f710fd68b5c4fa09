/* tap.c -- turns the messages of one stream into records, with the losses between its packets. */
#include "tap.h"

#include <string.h>

enum { NS = 1000000000 };

void bsa_tap_init(struct bsa_tap *tap)
{
	tap->cpu = UINT32_MAX;
	tap->last = tap->told = tap->since = tap->lost = tap->lost_most = 0;
	tap->clocked = tap->spoilt = false;
	tap->next_span = 0;
	tap->packet_ended = UINT64_MAX;
}

static uint64_t tap_ns_of(const struct bsa_tap *tap, uint64_t cycles)
{
	unsigned __int128 wide;

	if (__builtin_expect(tap->frequency == NS, 1))
		return cycles;
	wide = (unsigned __int128)cycles * NS / tap->frequency;
	return wide > UINT64_MAX ? UINT64_MAX : (uint64_t)wide;
}

static uint64_t snapshot_ns(const struct bsa_tap *tap, const bt_clock_snapshot *snapshot)
{
	return tap_ns_of(tap, bt_clock_snapshot_get_value(snapshot));
}

void bsa_tap_packet(struct bsa_tap *tap, const bt_message *packet_beginning)
{
	const bt_field *context =
		bt_packet_borrow_context_field_const(bt_message_packet_beginning_borrow_packet_const(packet_beginning));
	const bt_field *cpu = context ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id") : NULL;
	uint64_t value;

	if (tap->packets_timed)
		tap->since = snapshot_ns(
			tap, bt_message_packet_beginning_borrow_default_clock_snapshot_const(packet_beginning));
	if (!cpu || !bt_field_class_type_is(bt_field_get_class_type(cpu), BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return;
	value = bt_field_integer_unsigned_get_value(cpu);
	tap->cpu = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

/* No event of the packet that begins can be later than its end. */
static void find_end(struct bsa_tap *tap, const bt_message *packet_beginning)
{
	uint64_t began;

	tap->spoilt = false;
	tap->packet_ended = UINT64_MAX;
	if (!tap->packets_timed)
		return;
	began = bt_clock_snapshot_get_value(
		bt_message_packet_beginning_borrow_default_clock_snapshot_const(packet_beginning));
	while (tap->next_span < tap->n_spans && tap->spans[tap->next_span].began < began)
		tap->next_span++;
	if (tap->next_span < tap->n_spans && tap->spans[tap->next_span].began == began)
		tap->packet_ended = tap->spans[tap->next_span++].ended;
}

/*
 * True: the event is later than its packet's end, or one before it was. From there on nothing in the packet
 * can be believed.
 */
static bool is_spoilt(const struct bsa_tap *tap, const bt_message *event)
{
	if (tap->spoilt || !tap->clocked || tap->packet_ended == UINT64_MAX)
		return tap->spoilt;
	return bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(event)) >
	       tap->packet_ended;
}

/* The first event that contradicts its packet becomes a loss, up to the packet's end. */
static int spoil_packet(struct bsa_tap *tap, uint64_t *ret_at)
{
	bool before = tap->spoilt;

	bsa_count(&tap->counts->unusable, 1);
	tap->spoilt = true;
	if (before || tap->since > INT64_MAX)
		return 0;
	if (tap->last < tap->since)
		tap->last = tap->since;
	tap->plan = NULL;
	tap->at = *ret_at = tap->last;
	return 1;
}

/* A time that goes backwards, or is out of range, is wrong; the reader of records relies on their order. */
static int tap_event(struct bsa_tap *tap, const bt_message *message, uint64_t *ret_at)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const struct bsa_plan *plan = bsa_plans_get(tap->plans, bt_event_borrow_class_const(event));
	uint64_t at;

	bsa_count(&tap->counts->events, 1);
	if (__builtin_expect(!plan, 0))
		return -1;
	if (__builtin_expect(is_spoilt(tap, message), 0))
		return spoil_packet(tap, ret_at);
	if (plan->kind == BSA_N_KINDS || !plan->usable || !tap->clocked) {
		bsa_count(plan->kind == BSA_N_KINDS ? &tap->counts->foreign : &tap->counts->unusable, 1);
		return 0;
	}
	at = snapshot_ns(tap, bt_message_event_borrow_default_clock_snapshot_const(message));
	if (__builtin_expect(at > INT64_MAX, 0)) {
		bsa_count(&tap->counts->unusable, 1);
		return 0;
	}
	if (__builtin_expect(at < tap->last, 0)) {
		bsa_count(&tap->counts->unusable, 1);
		at = tap->last;
	}
	bsa_count_time(tap->counts, at);
	tap->plan = plan;
	tap->last = tap->at = *ret_at = at;
	return 1;
}

static int tap_loss(struct bsa_tap *tap, const bt_message *message, bool packets, uint64_t *ret_at)
{
	bool timed = packets ? tap->lost_packets_timed : tap->lost_events_timed;
	uint64_t at = tap->last, n = 0;
	bool counted = packets ? bt_message_discarded_packets_get_count(message, &n)
	                       : bt_message_discarded_events_get_count(message, &n);

	/*
	 * LTTng-UST's counts of lost events now and then go back for a packet: what is lost is what goes
	 * beyond the most so far.
	 */
	if (counted && !packets) {
		tap->lost += n;
		n = tap->lost - tap->lost_most;
	}
	if (counted && (n == 0 || n > INT64_MAX))
		return 0;
	if (counted && !packets)
		tap->lost_most = tap->lost;
	tap->n_lost = counted ? n : BSA_NEVER;
	bsa_count(packets ? &tap->counts->lost_packets : &tap->counts->lost_events, counted ? n : 1);
	if (timed)
		at = snapshot_ns(
			tap,
			packets ? bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(message)
				: bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(message));
	if (!tap->clocked || at > INT64_MAX)
		return 0;
	if (at < tap->last)
		at = tap->last;
	tap->plan = NULL;
	tap->last = tap->at = *ret_at = at;
	return 1;
}

static void count_bytes(struct bsa_tap *tap, uint64_t bytes)
{
	if (bytes > tap->bytes - tap->told)
		bytes = tap->bytes - tap->told;
	tap->told += bytes;
	bsa_count(&tap->counts->bytes, bytes);
}

void bsa_tap_end(struct bsa_tap *tap)
{
	count_bytes(tap, tap->bytes);
}

const bt_stream *bsa_tap_stream(const bt_message *message)
{
	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		return bt_message_stream_beginning_borrow_stream_const(message);
	case BT_MESSAGE_TYPE_STREAM_END:
		return bt_message_stream_end_borrow_stream_const(message);
	case BT_MESSAGE_TYPE_EVENT:
		return bt_event_borrow_stream_const(bt_message_event_borrow_event_const(message));
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		return bt_packet_borrow_stream_const(bt_message_packet_beginning_borrow_packet_const(message));
	case BT_MESSAGE_TYPE_PACKET_END:
		return bt_packet_borrow_stream_const(bt_message_packet_end_borrow_packet_const(message));
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return bt_message_discarded_events_borrow_stream_const(message);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return bt_message_discarded_packets_borrow_stream_const(message);
	default:
		return NULL;
	}
}

int bsa_tap_look(struct bsa_tap *tap, const bt_message *message, uint64_t *ret_at)
{
	const bt_stream_class *class;
	const bt_clock_class *clock;

	switch (bt_message_get_type(message)) {
	case BT_MESSAGE_TYPE_EVENT:
		return tap_event(tap, message, ret_at);
	case BT_MESSAGE_TYPE_STREAM_BEGINNING:
		class = bt_stream_borrow_class_const(bt_message_stream_beginning_borrow_stream_const(message));
		clock = bt_stream_class_borrow_default_clock_class_const(class);
		tap->clocked = clock;
		if (!clock)
			return 0;
		tap->frequency = bt_clock_class_get_frequency(clock);
		tap->packets_timed = bt_stream_class_supports_packets(class) &&
		                     bt_stream_class_packets_have_beginning_default_clock_snapshot(class);
		tap->lost_events_timed = bt_stream_class_supports_discarded_events(class) &&
		                         bt_stream_class_discarded_events_have_default_clock_snapshots(class);
		tap->lost_packets_timed = bt_stream_class_supports_discarded_packets(class) &&
		                          bt_stream_class_discarded_packets_have_default_clock_snapshots(class);
		return 0;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		bsa_tap_packet(tap, message);
		find_end(tap, message);
		return 0;
	case BT_MESSAGE_TYPE_PACKET_END:
		count_bytes(tap, tap->packets ? tap->bytes / tap->packets : 0);
		return 0;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		return tap_loss(tap, message, false, ret_at);
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		return tap_loss(tap, message, true, ret_at);
	default:
		return 0;
	}
}

bool bsa_tap_cut(struct bsa_tap *tap, uint64_t *ret_at)
{
	uint64_t at = tap->since > tap->last ? tap->since : tap->last;

	if (!tap->clocked || at >= tap_ns_of(tap, tap->ended) || tap_ns_of(tap, tap->ended) > INT64_MAX)
		return false;
	tap->plan = NULL;
	tap->last = tap->at = *ret_at = at;
	return true;
}

static void put_loss(const struct bsa_loss *loss, struct bsa_event *ret)
{
	*ret = (struct bsa_event){ .kind = BSA_loss, .size = sizeof(*ret) + sizeof(*loss) };
	memcpy(ret + 1, loss, sizeof(*loss));
}

void bsa_tap_write(const struct bsa_tap *tap, const bt_message *message, struct bsa_event *ret)
{
	if (__builtin_expect(tap->plan != NULL, 1))
		bsa_plan_read(tap->plan, bt_message_event_borrow_event_const(message), ret);
	else if (message && bt_message_get_type(message) != BT_MESSAGE_TYPE_EVENT) {
		bool packets = bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_PACKETS;
		struct bsa_loss loss = { .ended = tap->at, .cpu = tap->cpu, .pid = tap->pid };
		uint64_t ended = 0;

		loss.cause = packets ? BSA_LOSS_PACKETS : BSA_LOSS_EVENTS;
		if (packets) {
			loss.packets = tap->n_lost;
			loss.events = BSA_NEVER;
			if (tap->lost_packets_timed)
				ended = snapshot_ns(
					tap,
					bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message));
		} else {
			loss.events = tap->n_lost;
			if (tap->lost_events_timed)
				ended = snapshot_ns(
					tap,
					bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message));
		}
		if (ended > loss.ended && ended <= INT64_MAX)
			loss.ended = ended;
		put_loss(&loss, ret);
	} else {
		uint64_t ended = tap_ns_of(tap, message ? tap->packet_ended : tap->ended);

		put_loss(&(struct bsa_loss){ .ended = ended > tap->at && ended <= INT64_MAX ? ended : tap->at,
		                             .events = BSA_NEVER,
		                             .packets = BSA_NEVER,
		                             .cpu = tap->cpu,
		                             .pid = tap->pid,
		                             .cause = BSA_LOSS_CUT },
		         ret);
	}
	ret->at = tap->at;
	ret->trace = tap->trace;
}
