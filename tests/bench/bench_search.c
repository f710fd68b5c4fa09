/* bench_search.c -- how long burstscope whatif --search takes on a million executions, and how much memory. */
#include "bench.h"
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXECUTIONS = 1000000, QUICK = 20000, LANES = 2, ALTERNATIVES = 36, JUDGED = 40 };

int main(int argc, char **argv)
{
	char dir[] = "/tmp/bench_search.XXXXXX", db[64], command[512];
	struct rusage used;
	struct bench b;
	double n, seconds;
	uint64_t began;
	int status;

	bench_open(&b, "search", 1, argc, argv);
	n = b.quick ? QUICK : EXECUTIONS;
	if (!mkdtemp(dir)) {
		perror("bench_search");
		return 1;
	}
	snprintf(db, sizeof(db), "%s/x.db", dir);
	facts_database(db, (uint64_t)n, 0, LANES);
	snprintf(command, sizeof(command), "'%s' whatif --search --quiet '%s' >/dev/null", BURSTSCOPE, db);
	began = bench_now();
	status = system(command);
	seconds = (double)(bench_now() - began) / 1e9;
	unlink(db);
	rmdir(dir);
	if (status || getrusage(RUSAGE_CHILDREN, &used)) {
		fprintf(stderr, "bench_search: burstscope whatif --search did not answer\n");
		return 1;
	}
	bench_at_most(&b, "s for 40 alternatives", seconds * JUDGED / ALTERNATIVES, 60);
	bench_at_most(&b, "MiB of memory", (double)used.ru_maxrss / 1024, 64 + 64 * n / (1 << 20));
	return bench_close(&b);
}
