/* provider_fake.h -- what a test shares with a provider of its own: found by dlsym as fake_state. */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include <pthread.h>
#include <stddef.h>

#include "nbt/nbt.h"

enum { FAKE_LOG = 256 };

struct fake {
	int on[NBT_EVENTS]; /* the test's */
	uint64_t listeners;
	unsigned heard; /* the provider's: how often, what, and its fields */
	enum nbt_event last;
	unsigned char bytes[512];
	/* The first of them, whatever thread says them. All zeroes is a lock, too. */
	pthread_mutex_t lock; /* of all that the provider writes */
	unsigned n;
	struct fake_heard {
		enum nbt_event event;
		_Alignas(8) unsigned char bytes[184];
	} log[FAKE_LOG];
};

extern __attribute__((visibility("default"))) struct fake fake_state;

#endif
