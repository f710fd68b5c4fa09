/*
 * checks.h -- what --validate finds: suites of checks, each of one rule of the HAL, each of many rows.
 *
 * A row is one thing that is asked of the driver or service. A check passes if all of its rows do, and it had some.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stdio.h>

struct checks;

/* 0 and *ret owned; -ENOMEM. @only: NULL: all suites and rules; else a suite's name or a rule's id. @quiet: say nothing of what passes. */
int checks_new(struct checks **ret, const char *only, bool quiet);
void checks_free(struct checks *c);

/* Is it asked for? */
bool checks_wants(const struct checks *c, const char *suite, const char *rule);

/* From here to end, rows belong to this check. All strings are copied. */
void checks_begin(struct checks *c, const char *suite, const char *rule, const char *name);
void checks_end(struct checks *c);

/* A row. Returns @good. The words are for one that is not: what was asked, and what came. */
bool checks_row(struct checks *c, bool good, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The check, or the rest of it, cannot be asked of this driver or service: the words say why. */
void checks_skip(struct checks *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct checks_counts {
	unsigned passed, failed, skipped; /* checks */
	unsigned rows;
};

struct checks_counts checks_count(const struct checks *c);

/* All of them, as JUnit's XML: a testsuite each suite, a testcase each check. @of names what was checked. 0 or -errno. */
int checks_junit(const struct checks *c, const char *of, const char *path);

#endif
