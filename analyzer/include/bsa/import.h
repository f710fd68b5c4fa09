/*
 * import.h -- traces in, a database out.
 *
 * One thread at a time. bsa_import_stop may come from a signal handler.
 */
#ifndef BSA_IMPORT_H
#define BSA_IMPORT_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_import_progress {
	uint64_t bytes, all_bytes, events;
	bool finishing; /* everything is read */
};

struct bsa_import_options {
	const char *const *traces;
	size_t n_traces;
	const char *output;
	bool keep_operations;
	bool append; /* into the database that is there; without it that one is replaced */
	/* the user who runs the service; NULL to find it out, as far as the traces prove it. Borrowed */
	const uint32_t *service_uid;
	unsigned threads; /* that decode; 0: as many as pay */
	/* Called about twenty times a second. May be NULL. */
	void (*progress)(void *ctx, const struct bsa_import_progress *progress);
	void *progress_ctx;
};

struct bsa_imported {
	size_t traces;
	uint64_t events, foreign, unusable, lost_events, lost_packets, executions, incomplete, touched_by_loss;
	uint64_t impostors; /* events of users other than those in the events */
	/* unusable: of all events, those that the decoder cannot read, and those that cannot be */
	uint64_t cut; /* traces whose end is missing */
	uint64_t repeated,
		doubtful; /* packets that were left out: there already; in contradiction to others of their stream */
	uint64_t wrong_indices; /* index files that contradict their stream files, and were ignored */
	uint64_t unreadable;    /* traces of users or processes that cannot be read, and are left out */
	uint64_t begun_later;   /* traces whose first packets were overwritten, or may have been */
	uint64_t holes;         /* times that were not recorded, and that no tracer counts as lost */
};

/* 0 and *ret (may be NULL), or negative and no trace of it at the output path. */
int bsa_import(const struct bsa_import_options *options, struct bsa_imported *ret, struct bsa_err *err);

/* The import under way, if any, answers BSA_E_STOPPED soon. Async-signal-safe. */
void bsa_import_stop(void);

/*
 * Remove what a process that has died while it imported into @output left beside it and in $TMPDIR. The next
 * import does so, too.
 */
void bsa_import_clean(const char *output);

#endif
