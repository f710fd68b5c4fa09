/* relay.c -- lists the sessions that a relay daemon offers, by a query to libbabeltrace2. */
#include "relay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failed.h"

enum { NAMES_SHOWN = 256 };

/* The parts of @url: the relay, and the path of a session, which may be "". */
struct wanted {
	char *relay;
	const char *path;
};

static int relay_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to ask a relay");
}

/* Session and host names come from the network, and end up in messages. */
static char *printable_copy(const char *text)
{
	char *copy = strdup(text ? text : "");

	for (char *c = copy; c && *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return copy;
}

static bool url_split(struct wanted *ret, const char *url)
{
	const char *host = strstr(url, "://");
	size_t n = host ? (size_t)(host + 3 - url) + strcspn(host + 3, "/") : strlen(url);

	ret->relay = strndup(url, n);
	ret->path = url + n;
	if (!strcmp(ret->path, "/"))
		ret->path++;
	return ret->relay;
}

static const char *text_entry(const bt_value *map, const char *name)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(map, name);

	return v && bt_value_is_string(v) ? bt_value_string_get(v) : "";
}

static uint64_t number_entry(const bt_value *map, const char *name)
{
	const bt_value *v = bt_value_map_borrow_entry_value_const(map, name);

	if (v && bt_value_is_signed_integer(v))
		return (uint64_t)bt_value_integer_signed_get(v);
	return v && bt_value_is_unsigned_integer(v) ? bt_value_integer_unsigned_get(v) : 0;
}

/* A list of sessions, owned by the caller. NULL: *err has the reason. */
static const bt_value *list_sessions(const bt_component_class_source *source, const char *relay, struct bsa_err *err)
{
	const bt_component_class *class = bt_component_class_source_as_component_class_const(source);
	bt_value *params = bt_value_map_create();
	const bt_value *list = NULL;
	bt_query_executor *query = NULL;

	if (params && bt_value_map_insert_string_entry(params, "url", relay) == BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK)
		query = bt_query_executor_create(class, "sessions", params);
	if (!query)
		relay_no_memory(err);
	else if (bt_query_executor_query(query, &list) != BT_QUERY_EXECUTOR_QUERY_STATUS_OK)
		list = NULL;
	if (query && !list)
		bsa_bt_failed(err, BSA_E_ENV, "there is no relay (lttng-relayd) at %s", relay);
	if (list && !bt_value_is_array(list)) {
		bt_value_put_ref(list);
		list = NULL;
		bsa_fail(err, BSA_E_ENV, "%s answers as no relay (lttng-relayd) does", relay);
	}
	bt_query_executor_put_ref(query);
	bt_value_put_ref(params);
	return list;
}

static bool is_wanted(const bt_value *session, const struct wanted *wanted)
{
	char path[512];

	if (!bt_value_is_map(session) || !number_entry(session, "timer-us"))
		return false;
	snprintf(path, sizeof(path), "/host/%s/%s", text_entry(session, "target-hostname"),
	         text_entry(session, "session-name"));
	return !*wanted->path || !strcmp(path, wanted->path);
}

/* The message lists "/host/HOST/SESSION" of each live session. */
static int fail_to_choose(const bt_value *list, size_t n, const struct wanted *wanted, struct bsa_err *err)
{
	char names[NAMES_SHOWN] = "";
	size_t length = 0;

	for (uint64_t i = 0; i < bt_value_array_get_length(list) && length < NAMES_SHOWN - 1; i++) {
		const bt_value *session = bt_value_array_borrow_element_by_index_const(list, i);

		if (!is_wanted(session, &(struct wanted){ .path = "" }))
			continue;
		length += (size_t)snprintf(names + length, NAMES_SHOWN - length, "%s/host/%s/%s", length ? ", " : "",
		                           text_entry(session, "target-hostname"), text_entry(session, "session-name"));
	}
	for (char *c = names; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	if (n)
		return bsa_fail(err, BSA_E_ENV, "%s has several live sessions; append one of these to the URL: %s",
		                wanted->relay, names);
	if (!*names)
		return bsa_fail(err, BSA_E_ENV, "%s has no live session; lttng create --live makes one", wanted->relay);
	return bsa_fail(err, BSA_E_ENV, "%s has no live session %s; it has %s", wanted->relay, wanted->path, names);
}

int bsa_relay_find(struct bsa_relay_session *ret, const bt_component_class_source *source, const char *url,
                   struct bsa_err *err)
{
	struct bsa_relay_session s;
	struct wanted wanted;
	const bt_value *list, *chosen = NULL;
	size_t n = 0;
	int r = BSA_E_ENV;

	if (!url_split(&wanted, url))
		return relay_no_memory(err);
	list = list_sessions(source, wanted.relay, err);

	/* Sessions of one name, as each kind of consumer daemon has one, are one entry of the list. */
	for (uint64_t i = 0; list && i < bt_value_array_get_length(list); i++) {
		const bt_value *session = bt_value_array_borrow_element_by_index_const(list, i);

		if (!is_wanted(session, &wanted))
			continue;
		chosen = session;
		n++;
	}
	if (list && n != 1)
		r = fail_to_choose(list, n, &wanted, err);
	if (list && n == 1) {
		s = (struct bsa_relay_session){ .host = printable_copy(text_entry(chosen, "target-hostname")),
			                        .name = printable_copy(text_entry(chosen, "session-name")),
			                        .timer_ns = number_entry(chosen, "timer-us") * 1000,
			                        .streams = number_entry(chosen, "stream-count"),
			                        .viewers = number_entry(chosen, "client-count") };
		if (asprintf(&s.url, "%s/host/%s/%s", wanted.relay, text_entry(chosen, "target-hostname"),
		             text_entry(chosen, "session-name")) < 0)
			s.url = NULL;
		r = s.url && s.host && s.name ? 0 : relay_no_memory(err);
		if (r)
			bsa_relay_session_fini(&s);
		else
			*ret = s;
	}
	bt_value_put_ref(list);
	free(wanted.relay);
	return r;
}

bool bsa_relay_answers(const bt_component_class_source *source, const char *url)
{
	struct wanted wanted;
	const bt_value *list;
	bool answers;

	if (!url_split(&wanted, url))
		return false;
	list = list_sessions(source, wanted.relay, NULL);
	answers = list; /* a pointer that was given back cannot be looked at */
	bt_value_put_ref(list);
	free(wanted.relay);
	return answers;
}

void bsa_relay_session_fini(struct bsa_relay_session *s)
{
	free(s->url);
	free(s->host);
	free(s->name);
	*s = (struct bsa_relay_session){ .url = NULL };
}
