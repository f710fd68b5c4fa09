/*
 * log.h -- every execution as its app saw it, kept in memory and written in the end: a witness for traces.
 *
 * A thread of an app adds, the parent reads once the app is gone. nnburst-load(1) has the format of the file.
 */
#ifndef LOAD_LOG_H
#define LOAD_LOG_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { LOAD_LOG_ROOM = 1 << 22 }; /* entries of a thread; untouched entries take no memory */

struct load_log_entry {
	uint64_t exec;                /* number of the execution in traces; 0: unknown */
	uint64_t submitted, returned; /* CLOCK_MONOTONIC, in ns */
	uint32_t status, path;        /* enum nnb_status, enum load_path */
};

struct load_log {
	uint64_t room;
	atomic_uint_least64_t n; /* more than @room: those were dropped */
	struct load_log_entry entries[];
};

static inline size_t load_log_bytes(uint64_t room)
{
	return room ? sizeof(struct load_log) + room * sizeof(struct load_log_entry) : 0;
}

static inline void load_log_add(struct load_log *log, const struct load_log_entry *entry)
{
	uint64_t n = atomic_load_explicit(&log->n, memory_order_relaxed);

	if (n < log->room)
		log->entries[n] = *entry;
	atomic_store_explicit(&log->n, n + 1, memory_order_release);
}

void load_log_head(FILE *to);
void load_log_write(FILE *to, const struct load_log *log); /* an error is left for ferror */
uint64_t load_log_dropped(const struct load_log *log);

#endif
