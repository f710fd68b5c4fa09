/*
 * ids.h -- the ids of the service's objects, which identify them in traces, and to clients.
 *
 * An id has the service's instance in its high 12 bits and a serial in its low 20 bits. A set of bits holds the
 * serials of all living objects, of every kind and every app, because an analysis takes two living objects with one
 * id for one object. A client can make and end objects as fast as it likes: without the set, serials would repeat
 * after seconds, and the events of a client would be attributed to the objects of another one.
 */
#ifndef NNB_SERVICE_IDS_H
#define NNB_SERVICE_IDS_H

#include <pthread.h>
#include <stdint.h>

enum { NNB__ID_SERIAL_BITS = 20, NNB__ID_SERIALS = 1 << NNB__ID_SERIAL_BITS };

struct nnb__ids {
	pthread_mutex_t lock; /* guards the following fields. No other lock is taken under it */
	uint32_t instance;
	uint32_t last;                        /* the serial that was taken last */
	uint64_t taken[NNB__ID_SERIALS / 64]; /* bits of the serials of living objects; the bit of 0 is always set */
};

/* All 0 before. @instance: less than 4096. */
void nnb__ids_init(struct nnb__ids *ids, uint32_t instance);
void nnb__ids_fini(struct nnb__ids *ids);

/*
 * Take an id that no living object has; 0: all are taken. The ids of ended objects are taken in turn: an id is
 * returned again after all the others that are free. Any thread, with any lock.
 */
uint32_t nnb__id_take(struct nnb__ids *ids);

/* The object with @id has ended, and emits no event any more. @id: 0: does nothing. Any thread, with any lock. */
void nnb__id_give(struct nnb__ids *ids, uint32_t id);

#endif
