/*
 * long_import.c -- a long recording is imported in the memory that a short one takes, and nothing of it is lost on
 * the way.
 *
 * $NNB_IMPORT_EXECUTIONS is how many executions are recorded, fourteen events each.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "importing.h"
#include "peers.h"

enum { SHORT = 20000, EVENTS = 14, MOST_MIB = 64 };

int main(int argc, char **argv)
{
	const char *wanted = getenv("NNB_IMPORT_EXECUTIONS");
	uint32_t executions = wanted ? (uint32_t)atoi(wanted) : SHORT;
	char db[PATH_BYTES];
	struct trace trace;
	struct pair p;
	struct ran ran;
	double whole;

	(void)argc;
	recorder_inside(TRACING_SH, argv);
	find_cpus();
	importing_open(&p);
	importing_record(&trace, "long", DETAIL_FULL, &p, executions);
	pair_close(&p);
	snprintf(db, sizeof(db), "%s/long.db", getenv("NNB_TRACES"));
	ran = must_run((const char *const[]){ BURSTSCOPE, "import", "-q", "-o", db, trace.path, NULL });
	whole = answer_of(db, "SELECT count(*) FROM execution WHERE complete");
	printf("%" PRIu64 " events of %" PRIu32 " executions, %" PRIu64
	       " lost, %.1f MB: imported in %.1f s, %.1f MiB at most, "
	       "%.0f executions complete, a database of %.1f MB\n",
	       trace.got.events, executions, trace.got.lost, (double)trace.got.bytes / 1e6, (double)ran.ns / 1e9,
	       (double)ran.peak_bytes / (1 << 20), whole, (double)bytes_of(db) / 1e6);
	return trace.got.lost || trace.got.events < (uint64_t)executions * EVENTS || whole != executions ||
	       ran.peak_bytes > (uint64_t)MOST_MIB << 20;
}
