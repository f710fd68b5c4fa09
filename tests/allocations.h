/*
 * allocations.h -- count what a program allocates. A program that links this file gets these functions before
 * the C library's, for every library of the process.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

/*
 * The number of calls of malloc, of functions like it, and of mmap, so far. Always 0 under a sanitizer, which
 * has functions of its own.
 */
unsigned long allocations(void);

#endif
