/*
 * seam.c -- finds, checks and loads a provider.
 *
 * TRUST     A provider is code: a user who can choose or change the file can do anything that the program can. So the
 *           file must belong to the user or to root, and a program with more rights than its user ignores the
 *           environment.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nbt/nbt.h"

static const int never;

#define NBT_EVENT(name, sides, level, about, fields) &never,
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
struct nbt_seam nbt__seam = { .enabled = {
#include "nbt/events.def"
			      } };

static const uint16_t bytes[] = {
#define NBT_EVENT(name, sides, level, about, fields) sizeof(struct nbt_##name),
#define NBT_INT(type, name)
#define NBT_LABEL(enumeration, name)
#define NBT_ARRAY(type, name, n)
#define NBT_TEXT(name)
#include "nbt/events.def"
};

/* Only root and the user of this process may be able to write the file. *r: why not. */
static bool provider_is_trusted(const char *path, int *r)
{
	struct stat st;

	if (stat(path, &st)) {
		*r = -ENOENT;
		return false;
	}
	*r = -EPERM;
	return S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_failed(const char **ret, const char *why, int r)
{
	if (ret)
		*ret = why;
	return r;
}

int nbt_open(const char *path, const char **why)
{
	const char *asked = secure_getenv("NNBURST_TRACEPOINTS");
	const struct nbt_provider *p;
	void *object;
	int r;

	if (nbt__seam.listeners)
		return 0;
#ifdef NBT_OFF
	return open_failed(why, "the program was built without events", -ENOENT);
#endif
	if (asked)
		path = asked;
	if (!path || !*path)
		return open_failed(why, "no provider is given", -ENOENT);
	if (!provider_is_trusted(path, &r))
		return open_failed(why, r == -ENOENT ? "there is no such file" : "another user can write it", r);
	/* never unloaded, because LTTng's threads keep running its code */
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	p = object ? dlsym(object, "nbt_provider") : NULL;
	if (!p)
		return open_failed(why, object ? "it is no provider" : "it cannot be loaded", -ELIBACC);
	if (p->abi != NBT_PROVIDER_ABI)
		return open_failed(why, "it is a provider for another seam", -ELIBACC);
	nbt__seam.listeners = p->listeners;
	for (uint32_t i = 0; i < p->n_events && i < NBT_EVENTS; i++) {
		if (p->bytes[i] != bytes[i]) /* an event with other fields stays off */
			continue;
		nbt__seam.emit[i] = p->emit[i];
		__atomic_store_n(&nbt__seam.enabled[i], p->enabled[i], __ATOMIC_RELEASE);
	}
	return 0;
}

bool nbt__news(uint64_t *seen)
{
	uint64_t now = nbt__seam.listeners();

	return __atomic_exchange_n(seen, now, __ATOMIC_RELAXED) != now;
}
