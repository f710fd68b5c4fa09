/*
 * relay.h -- the live sessions that a relay daemon of LTTng (lttng-relayd) offers: libbabeltrace2's
 * src.ctf.lttng-live asks it.
 */
#ifndef BSA_DECODE_RELAY_H
#define BSA_DECODE_RELAY_H

#include "bsa/err.h"

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

/* All texts are the caller's: bsa_relay_session_fini. */
struct bsa_relay_session {
	char *url;         /* as libbabeltrace2 wants it */
	char *host, *name; /* printable */
	uint64_t timer_ns; /* the session's live timer: each packet ends after this time at the latest */
	uint64_t streams;  /* number of streams that the relay has of the session */
	uint64_t viewers;  /* a relay lets one viewer at a time read a session */
};

/*
 * Ask the relay of @url for the session of @url: net://RELAY[:PORT]/host/HOST/SESSION, or net://RELAY[:PORT]
 * where the relay has only one. Waits for the relay's answer. 0; BSA_E_ENV: no relay, or no such session.
 */
int bsa_relay_find(struct bsa_relay_session *ret, const bt_component_class_source *source, const char *url,
                   struct bsa_err *err);
void bsa_relay_session_fini(struct bsa_relay_session *s); /* all 0 is fine */

/* Whether there is a relay, whatever sessions it has. Waits for its answer. */
bool bsa_relay_answers(const bt_component_class_source *source, const char *url);

#endif
