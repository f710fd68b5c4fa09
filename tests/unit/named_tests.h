/*
 * named_tests.h -- tests that a program names at run time, for example one for each row of a table. One group
 * in a program.
 */
#ifndef NAMED_TESTS_H
#define NAMED_TESTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct CMUnitTest tests[4096];
static size_t n_tests;

/* Add a test: its function, the state that the function is given, and its name. */
static __attribute__((format(printf, 3, 4))) void add_test(CMUnitTestFunction run, const void *state,
                                                           const char *format, ...)
{
	char *name;
	va_list args;

	if (n_tests == sizeof(tests) / sizeof(*tests))
		abort();
	va_start(args, format);
	if (vasprintf(&name, format, args) < 0)
		abort();
	va_end(args);
	tests[n_tests++] = (struct CMUnitTest){ name, run, NULL, NULL, (void *)(uintptr_t)state };
}

#endif
