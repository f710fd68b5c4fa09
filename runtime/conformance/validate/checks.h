/*
 * checks.h -- records the results of --validate: suites of checks, each check of one rule of the HAL, with many rows.
 *
 * A row is one question to the driver or service. A check passes if it has at least one row and all of its rows pass.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stdio.h>

struct checks;

/*
 * 0 and *ret owned; -ENOMEM. @only NULL: all suites and rules; otherwise a suite's name or a rule's id. @quiet: print
 * only checks that do not pass.
 */
int checks_new(struct checks **ret, const char *only, bool quiet);
void checks_free(struct checks *c);

/* Did the user select this check? */
bool checks_wants(const struct checks *c, const char *suite, const char *rule);

/* Start a check: rows up to checks_end belong to it. All strings are copied. */
void checks_begin(struct checks *c, const char *suite, const char *rule, const char *name);
void checks_end(struct checks *c);

/* Add a row. Returns @good. The text describes a row that fails: the question and the answer. */
bool checks_row(struct checks *c, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Skip the rest of the check, because this driver or service cannot be asked; the text is the reason. */
void checks_skip(struct checks *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct checks_counts {
	unsigned passed, failed, skipped; /* checks */
	unsigned rows;
};

struct checks_counts checks_count(const struct checks *c);

/*
 * Write all checks as JUnit's XML: a testsuite for each suite, a testcase for each check. @of names the subject.
 * Closes @to. 0 or -errno.
 */
int checks_junit(const struct checks *c, const char *of, FILE *to);

#endif
