/*
 * shared.h -- what burstscope and its importer, which may crash, have in common: memory, and how the one starts the other.
 *
 *   burstscope-importer VERSION FD FLAGS THREADS SERVICE OUTPUT TRACE...
 *
 * FD is a file of a struct bsv_shared; FLAGS are any of the letters below; SERVICE is the uid of who runs the
 * service, or "-".
 */
#ifndef BSV_IMPORTER_SHARED_H
#define BSV_IMPORTER_SHARED_H

#include "bsa/import.h"

#include <stdatomic.h>

#define BSV_IMPORTER "burstscope-importer"

enum { BSV_FLAG_APPEND = 'a', BSV_FLAG_KEEP = 'k' };

/* Exit status of an importer that has not been started by a burstscope like itself. */
enum { BSV_IMPORTER_STRANGE = 97 };

/* No bool, of which most bytes are no value: the importer, which reads hostile traces, may have anything written here. */
struct bsv_shared {
	atomic_uint_least64_t bytes, all_bytes, events;
	atomic_uint finishing;

	/* copied once the importer is gone */
	uint32_t said;
	int32_t code;
	struct bsa_imported imported;
	struct bsa_err err;
};

/* follow.c: the other thing that it does. An exit status. */
int bsv_follow(int argc, char **argv);

#endif
