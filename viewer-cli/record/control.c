/* control.c -- loads liblttng-ctl, and finds its functions. */
#include "record/control.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define LIBRARY "liblttng-ctl.so.0"

static struct bsv_lttng functions;

#define PLACE(name) { "lttng_" #name, offsetof(struct bsv_lttng, name) },

static const struct {
	const char *name;
	size_t offset;
} places[] = { BSV_LTTNG_FUNCTIONS(PLACE) };

int bsv_lttng_load(const struct bsv_lttng **ret, struct bsa_err *err)
{
	static void *library;
	int *quiet;

	if (!library)
		library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return bsa_fail(err, BSA_E_ENV,
		                LIBRARY " is not to be had, and LTTng does the recording; install lttng-tools");
	/*
	 * The library prints errors of system calls on standard error, also those that its caller
	 * expects: e.g. a session daemon that ends.
	 */
	quiet = dlsym(library, "lttng_opt_quiet");
	if (quiet)
		*quiet = 1;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		void *function = dlsym(library, places[i].name);

		if (!function)
			return bsa_fail(err, BSA_E_ENV, LIBRARY " has no %s; LTTng 2.13 or later is needed",
			                places[i].name);
		memcpy((char *)&functions + places[i].offset, &function, sizeof(function));
	}
	*ret = &functions;
	return 0;
}
