/*
 * instance.h -- the service that an event is about, as far as the event shows: the upper 12 bits of each
 * number that a service hands out are the service's instance (docs/events.md).
 */
#ifndef BSA_INSTANCE_H
#define BSA_INSTANCE_H

#include "fold/event.h"

enum { INSTANCES = 4096, NO_INSTANCE = INSTANCES };

/* The instance in the number of a stream, a connection, a model or a buffer. */
unsigned bsa_instance_of_number(uint32_t number);

/* Below INSTANCES. 0 is the instance of no service; NO_INSTANCE: the event has no such number. */
unsigned bsa_instance_of_event(const struct bsa_event *e);

#endif
