/*
 * shared.h -- the interface of burstscope and its importer, a process of its own, which may crash:
 * shared memory, and the command line.
 *
 *   burstscope-importer VERSION FD FLAGS THREADS SERVICE OUTPUT TRACE...
 *
 * FD is a file that holds a struct bsv_shared; FLAGS are any of the letters below; SERVICE is the
 * uid of the user that runs the service, or "-".
 */
#ifndef BSV_INPUT_SHARED_H
#define BSV_INPUT_SHARED_H

#include "bsa/import.h"

#include <stdatomic.h>

#define BSV_IMPORTER "burstscope-importer"

enum { BSV_FLAG_APPEND = 'a', BSV_FLAG_KEEP = 'k' };

/* Exit status of an importer that was not started by a burstscope of its own version. */
enum { BSV_IMPORTER_STRANGE = 97 };

/*
 * Without a bool, because not every byte is a valid one: the importer reads hostile traces, and may
 * write anything here.
 */
struct bsv_shared {
	atomic_uint_least64_t bytes, all_bytes, events;
	atomic_uint finishing;

	/* the parent copies these after the importer's end */
	uint32_t said;
	int32_t code;
	struct bsa_imported imported;
	struct bsa_err err;
};

/* follow.c: reads a recording that grows. Returns an exit status. */
int bsv_follow(int argc, char **argv);

#endif
