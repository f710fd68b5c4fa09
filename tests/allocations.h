/*
 * allocations.h -- counting what a program allocates: linked in, ours come before the C library's, for every library
 * of the process.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

/* Calls of malloc and its like, and of mmap, so far. Always 0 under a sanitizer, which has its own. */
unsigned long allocations(void);

#endif
