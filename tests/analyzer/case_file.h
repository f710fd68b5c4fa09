/*
 * case_file.h -- cases for the analyzer, in a file for the reader: a trace, questions to its database, and the answers.
 *
 *   # remarks
 *   lines of analyzer/timeline.h that each case begins with
 *
 *   == a sentence: what the case shows
 *   lines of its own
 *   ? SELECT ...            # a question, which may go on in more lines with a ?; /full or /compact behind the ? asks
 *   ?        FROM ...       # only of that form
 *   = value | value         # the answer: rows in their order, a line each, columns between |, - for NULL; or = nothing
 *
 * A case whose sentence begins with "full: " or "compact: " is about that form alone; with "kept: ", about full
 * events, imported with each operation kept. What cannot be read ends the program.
 */
#ifndef ANALYZER_CASE_FILE_H
#define ANALYZER_CASE_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum case_forms { CASE_FULL = 1, CASE_COMPACT = 2, CASE_BOTH = 3 };

struct question {
	char *sql, *answer; /* owned */
	unsigned line;      /* number in the file */
	unsigned forms;     /* enum case_forms */
};

struct a_case {
	char *name, *trace; /* owned; trace: for timeline(), with what the file begins with */
	bool lossy;         /* the case has a loss, whose ends a trace cannot have to the nanosecond */
	bool kept;
	unsigned forms;
	struct question *questions; /* owned */
	size_t n_questions;
};

struct case_file {
	struct a_case *cases; /* owned */
	size_t n;
};

void case_file_read(struct case_file *ret, const char *path);
void case_file_fini(struct case_file *f);

#endif
