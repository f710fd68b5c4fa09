/*
 * trace_check.c -- check that a recording can be true. [--full FILE] [--compact FILE] [--log FILE]
 * [--tolerance NS] [--strays N] [--from NS] [--cut] [--holes] [--own]
 *
 * FILE is the output of `babeltrace2 --clock-cycles --no-delta TRACE`; "-" is the standard input. Both files
 * must be recordings of the same executions. The log is nnburst-load's. Phases of the two forms, and times of
 * the log, may differ by NS, except for N of a thousand. --events: print the names of all events. See
 * trace_judge.h for the rest. 0: no fault; 1: a line for each fault; 2: the input is no recording.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "trace_judge.h"

static int by_exec(const void *one, const void *other)
{
	uint64_t a = ((const struct judge_witness *)one)->exec, b = ((const struct judge_witness *)other)->exec;

	return (a > b) - (a < b);
}

/* A heading, then a line for each execution: exec, submission, return, status, path. */
static bool read_line(const char *line, struct judge_witness *ret)
{
	char status[64];

	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %63s", &ret->exec, &ret->submitted, &ret->returned,
	           status) != 4)
		return false;
	ret->failed = strcmp(status, "NONE");
	ret->met = false;
	return true;
}

static struct judge_witness *read_log(const char *path, size_t *ret_n)
{
	struct judge_witness *all = NULL;
	char line[256];
	size_t n = 0, room = 0;
	FILE *file = fopen(path, "r");

	if (!file || !fgets(line, sizeof(line), file)) {
		fprintf(stderr, "trace_check: %s: %s\n", path, file ? "it is empty" : strerror(errno));
		exit(2);
	}
	while (fgets(line, sizeof(line), file)) {
		if (n == room)
			all = realloc(all, (room = room ? room * 2 : 1024) * sizeof(*all));
		if (!all || !read_line(line, &all[n++])) {
			fprintf(stderr, "trace_check: %s: not an execution: %s", path, line);
			exit(2);
		}
	}
	fclose(file);
	if (n)
		qsort(all, n, sizeof(*all), by_exec);
	*ret_n = n;
	return all;
}

enum { FULL, COMPACT, LOG, TOLERANCE, STRAYS, FROM, CUT, HOLES, OWN, EVENTS };

static const struct option options[] = {
	{ "full", required_argument, NULL, FULL },
	{ "compact", required_argument, NULL, COMPACT },
	{ "log", required_argument, NULL, LOG },
	{ "tolerance", required_argument, NULL, TOLERANCE },
	{ "strays", required_argument, NULL, STRAYS },
	{ "from", required_argument, NULL, FROM },
	{ "cut", no_argument, NULL, CUT },
	{ "holes", no_argument, NULL, HOLES },
	{ "own", no_argument, NULL, OWN },
	{ "events", no_argument, NULL, EVENTS },
	{ 0 },
};

static struct text_input inputs[2]; /* FULL, COMPACT */
static struct judge_terms terms;
static struct judge_witness *witness;
static size_t n_witness;

static bool take(int option)
{
	switch (option) {
	case FULL:
	case COMPACT:
		*(option == FULL ? &terms.full : &terms.compact) = true;
		return text_open(&inputs[option], optarg);
	case LOG:
		witness = read_log(optarg, &n_witness);
		return terms.witnessed = true;
	case TOLERANCE:
		terms.tolerance_ns = strtoull(optarg, NULL, 10);
		return true;
	case STRAYS:
		terms.strays = (unsigned)strtoul(optarg, NULL, 10);
		return true;
	case FROM:
		terms.from = strtoull(optarg, NULL, 10);
		return true;
	case HOLES:
		terms.holes = true;
		/* fall through */
	case CUT:
		return terms.cut = true;
	case OWN:
		return terms.own = true;
	default:
		return false;
	}
}

/* Judge the events of both, in the order of their times. */
static bool judge_all(void)
{
	int has[2];
	uint64_t last[2] = { 0, 0 };

	for (int i = 0; i < 2; i++)
		has[i] = text_next(&inputs[i]);
	while (has[0] > 0 || has[1] > 0) {
		int i = has[0] <= 0 || (has[1] > 0 && inputs[1].event.at < inputs[0].event.at);

		if (inputs[i].event.at < last[i])
			judge_object("%s:%" PRIu64 ": the clock goes back", inputs[i].path, inputs[i].line);
		last[i] = inputs[i].event.at;
		judge_event(&inputs[i].event, i == 0);
		has[i] = text_next(&inputs[i]);
		if (has[i] < 0)
			return false;
	}
	return has[0] >= 0 && has[1] >= 0;
}

int main(int argc, char **argv)
{
	int option, status;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == EVENTS) {
			for (int event = 0; event < NBT_EVENTS; event++)
				puts(text_names[event]);
			return 0;
		}
		if (!take(option))
			return 2;
	}
	if (optind < argc || (!terms.full && !terms.compact)) {
		fprintf(stderr, "trace_check: which recording?\n");
		return 2;
	}
	judge_begin(&terms, witness, n_witness);
	if (!judge_all())
		return 2;
	for (int i = 0; i < 2; i++)
		text_close(&inputs[i]);
	status = judge_end() ? 0 : 1;
	free(witness);
	return status;
}
