/* log.c -- writes the logged executions as lines with tabs. */
#include "log.h"

#include <inttypes.h>

#include "nnb/status.h"
#include "scenario.h"

void load_log_head(FILE *to)
{
	fputs("exec\tsubmitted_ns\treturned_ns\tstatus\tpath\n", to);
}

void load_log_write(FILE *to, const struct load_log *log)
{
	uint64_t n = atomic_load_explicit(&log->n, memory_order_acquire);

	for (uint64_t i = 0; i < n && i < log->room; i++) {
		const struct load_log_entry *e = &log->entries[i];

		fprintf(to, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n", e->exec, e->submitted, e->returned,
		        nnb_status_name((enum nnb_status)e->status), load_path_names[e->path]);
	}
}

uint64_t load_log_dropped(const struct load_log *log)
{
	uint64_t n = atomic_load_explicit(&log->n, memory_order_acquire);

	return n > log->room ? n - log->room : 0;
}
