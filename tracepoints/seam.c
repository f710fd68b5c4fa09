/*
 * seam.c -- finds, checks and loads a provider.
 *
 * TRUST     A provider is code: a user who can choose or change the file can do anything that the program can. So the file must
 *           belong to the user or to root, and a program with more rights than its user ignores the environment.
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

static bool is_ours(const char *path, int *r)
{
	struct stat st;

	if (stat(path, &st)) {
		*r = -ENOENT;
		return false;
	}
	*r = -EPERM;
	return S_ISREG(st.st_mode) && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void use(const struct nbt_provider *p)
{
	uint32_t n = p->n_events < NBT_EVENTS ? p->n_events : NBT_EVENTS;

	nbt__seam.listeners = p->listeners;
	for (uint32_t i = 0; i < n; i++) {
		if (p->bytes[i] != bytes[i])
			continue;
		nbt__seam.emit[i] = p->emit[i];
		__atomic_store_n(&nbt__seam.enabled[i], p->enabled[i], __ATOMIC_RELEASE);
	}
}

static int fail(const char **ret, const char *why, int r)
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
	return fail(why, "the program was built without events", -ENOENT);
#endif
	if (asked)
		path = asked;
	if (!path || !*path)
		return fail(why, "there is none", -ENOENT);
	if (!is_ours(path, &r))
		return fail(why, r == -ENOENT ? "there is no such file" : "somebody else can write it", r);
	/* never unloaded, because LTTng's threads keep running its code */
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	p = object ? dlsym(object, "nbt_provider") : NULL;
	if (!p)
		return fail(why, object ? "it is no provider" : "it cannot be loaded", -ELIBACC);
	if (p->abi != NBT_PROVIDER_ABI)
		return fail(why, "it is a provider for another seam", -ELIBACC);
	use(p);
	return 0;
}

bool nbt__news(uint64_t *seen)
{
	uint64_t now = nbt__seam.listeners();

	return __atomic_exchange_n(seen, now, __ATOMIC_RELAXED) != now;
}
