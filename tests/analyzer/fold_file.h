/*
 * fold_file.h -- cases for the fold, in a file: events, and the facts that the fold must find.
 *
 *   # remarks
 *   :NAME 1400 exec_end exec=$1 lane=0       # a fragment of one line, or, with nothing behind the name,
 *   :OTHER                                   # of the lines up to an empty one; $1 to $9 are its arguments
 *   with horizon_ns=10000 under_way_max=2    # the fold's options; before the first case, of all that give none;
 *                                            # declared=: in hexadecimal
 *
 *   == a sentence: what the case shows
 *   OTHER NAME 3:1                           # fragments; the words behind a name, up to the next one, are its
 *                                            arguments
 *   1500 loss ended=1600                     # lines of analyzer/script.h
 *   recorded until=2000 over_by=3000         # the end of the recording, if it is not that of its last event
 *   = lines of analyzer/expect.h             # the answer
 *
 * A case about both forms of events has no answer: behind a line /full are the boundaries, and behind a line /compact
 * the summaries of the same executions. The lines before those belong to both. Names of fragments are capitals; a
 * file sees the fragments of the files that are read before it. Of several fragments with the same name, the last one
 * before the case counts. A file that cannot be read as such ends the program.
 */
#ifndef ANALYZER_FOLD_FILE_H
#define ANALYZER_FOLD_FILE_H

#include <stddef.h>

#include "analyzer/folded.h"

struct fold_case {
	char *name, *script, *wants;
	char *full, *compact; /* NULL: the case is not about both forms */
	struct bsa_fold_options options;
	struct fold_end end;
};

struct fold_fragment {
	char *name, *lines;
};

struct fold_file {
	struct fold_case *cases;
	struct fold_fragment *fragments;
	size_t n_cases, n_fragments;
};

/* Adds the cases and fragments of the file at @path to @to, which begins as all zero. */
void fold_file_read(struct fold_file *to, const char *path);
void fold_file_fini(struct fold_file *f);

#endif
