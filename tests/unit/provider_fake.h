/* provider_fake.h -- what a test shares with a provider of its own: found by dlsym as fake_state. */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include <stddef.h>

#include "nbt/nbt.h"

struct fake {
	int on[NBT_EVENTS]; /* the test's */
	uint64_t listeners;
	unsigned heard; /* the provider's: how often, what, and its fields */
	enum nbt_event last;
	unsigned char bytes[512];
};

extern __attribute__((visibility("default"))) struct fake fake_state;

#endif
