/*
 * folders.h -- an empty folder for each test of a program, below one of the program.
 *
 *   cmocka_unit_test_setup(test, folder_begin) ... cmocka_run_group_tests(all, folders_make, folders_remove)
 *
 * KEEP in the environment: they are left there.
 */
#ifndef ANALYZER_FOLDERS_H
#define ANALYZER_FOLDERS_H

/* The program's, below TMPDIR. For cmocka: 0, or not. */
int folders_make(void **state);
int folders_remove(void **state);

/* The test's. For cmocka: 0, or not. */
int folder_begin(void **state);

/* A path below the test's folder, valid until it is called 16 times more. */
const char *folder_at(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
