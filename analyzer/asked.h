/*
 * asked.h -- leaves out the events of other services where a recording was asked for one service alone
 * (burstscope record --service).
 *
 * WHY HERE   LTTng leaves out what other services emit, but not what their apps emit: no filter knows the
 *            instance of a service before the recording begins. Such executions have one side, and no figure
 *            is right that counts them: not those that are stored with the database, nor those that are asked
 *            for later. So they never reach the database.
 * INSTANCE   A service is asked for by its pid. Its service_state has the pid and the instance. Until that
 *            event, the service of an event is unknown, so the event counts; if it turns out wrong,
 *            bsa_asked_again returns true, and the caller reads the records again, with what is known now.
 *            Where no service_state has the pid, everything counts.
 */
#ifndef BSA_ASKED_H
#define BSA_ASKED_H

#include <stdbool.h>
#include <stdint.h>

#include "instance.h"

/* All 0 at first. */
struct bsa_asked {
	bool known; /* some instance is asked for */
	bool is_asked[INSTANCES];
	bool counted[INSTANCES]; /* an event of this instance counted */
	bool left[INSTANCES];    /* an event of this instance was left out */
	uint64_t submits,
		sums; /* events that were left out and of which each execution has one: exec_submit, exec_client */
};

/* The next record; @service is the pid that its trace was asked for, 0: all services. Does it count? */
bool bsa_asked_event(struct bsa_asked *a, uint32_t service, const struct bsa_event *e);

/* After the last record: the wrong ones counted, or were left out. */
bool bsa_asked_again(const struct bsa_asked *a);

/* Begin another pass over the same records with the instances that @a knows. */
void bsa_asked_rewind(struct bsa_asked *a);

/*
 * Executions of other services that were left out, at least: one that has neither of the events of its client
 * is not seen.
 */
uint64_t bsa_asked_left_out(const struct bsa_asked *a);

#endif
