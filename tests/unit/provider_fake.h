/* provider_fake.h -- the state that a test shares with its own provider, which it finds by dlsym as fake_state. */
#ifndef PROVIDER_FAKE_H
#define PROVIDER_FAKE_H

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "nbt/nbt.h"

enum { FAKE_LOG = 256 };

struct fake {
	int on[NBT_EVENTS]; /* the test's: the enabled events */
	uint64_t listeners;
	unsigned heard; /* the provider's: the number of events, the last one, and its fields */
	enum nbt_event last;
	unsigned char bytes[512];
	/* The first events, from all threads. All zeroes is a valid lock. */
	pthread_mutex_t lock; /* guards all that the provider writes */
	unsigned n;
	struct fake_heard {
		enum nbt_event event;
		_Alignas(8) unsigned char bytes[184];
	} log[FAKE_LOG];
};

/* The state of the provider at @path; NULL: it is not loaded. */
static inline struct fake *fake_of(const char *path)
{
	void *provider = dlopen(path, RTLD_NOW | RTLD_NOLOAD);

	return provider ? dlsym(provider, "fake_state") : NULL;
}

#ifdef PROVIDER_FAKE
static inline struct fake *fake_loaded(void)
{
	return fake_of(PROVIDER_FAKE);
}
#endif

extern __attribute__((visibility("default"))) struct fake fake_state;

#endif
