/*
 * trace_from_text.c -- lines of analyzer/script.h on standard input become a trace.
 *
 *   trace_from_text [-u UUID] [-h HOST] [-s SESSION] [-c CLOCK_UUID] [-o CLOCK_OFFSET] [-p PID] [-n EVENTS_A_PACKET]
 *                   [-t TRACE] [-e full|compact|both] DIRECTORY
 *
 * -e: they are lines of analyzer/timeline.h, with executions in that form.
 * cpu=N in a line says whose stream it is in. -t: the lines with that trace=, 1 unless it is given.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/ctf_writer.h"
#include "analyzer/timeline.h"

static _Noreturn void usage(void)
{
	fprintf(stderr,
	        "usage: trace_from_text [-u UUID] [-h HOST] [-s SESSION] [-c CLOCK_UUID] [-o CLOCK_OFFSET]\n"
	        "                       [-p PID] [-n EVENTS_A_PACKET] [-t TRACE] [-e full|compact|both] DIRECTORY\n");
	exit(2);
}

static char *whole_input(void)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t n = getdelim(&text, &room, 0, stdin);

	if (n > 0 && !text[n - 1]) {
		fputs("trace_from_text: the input has a NUL byte\n", stderr);
		exit(4);
	}
	if (n >= 0)
		return text;
	if (ferror(stdin) || !text) {
		fputs("trace_from_text: the input cannot be read\n", stderr);
		exit(5);
	}
	*text = 0; /* nothing at all is a trace, too */
	return text;
}

static int64_t number(const char *text, int64_t least, int64_t most)
{
	int64_t n;
	char *end;

	errno = 0;
	n = strtoll(text, &end, 0);
	if (errno || end == text || *end || n < least || n > most)
		usage();
	return n;
}

static unsigned forms_of(const char *name)
{
	if (!strcmp(name, "both"))
		return TIMELINE_FULL | TIMELINE_COMPACT;
	if (!strcmp(name, "full"))
		return TIMELINE_FULL;
	if (strcmp(name, "compact"))
		usage();
	return TIMELINE_COMPACT;
}

int main(int argc, char **argv)
{
	struct ctf_options options = { 0 };
	uint32_t trace = 1;
	unsigned forms = 0;
	char *text;
	struct ctf_writer *w;
	int c;

	while ((c = getopt(argc, argv, "u:h:s:c:o:p:n:t:e:")) != -1) {
		switch (c) {
		case 'u':
			options.uuid = optarg;
			break;
		case 'h':
			options.host = optarg;
			break;
		case 's':
			options.session = optarg;
			break;
		case 'c':
			options.clock_uuid = optarg;
			break;
		case 'o':
			options.clock_offset = number(optarg, INT64_MIN, INT64_MAX);
			break;
		case 'p':
			options.pid = (unsigned)number(optarg, 0, UINT32_MAX);
			break;
		case 'n':
			options.packet = (unsigned)number(optarg, 0, UINT32_MAX);
			break;
		case 't':
			trace = (uint32_t)number(optarg, 0, UINT32_MAX);
			break;
		case 'e':
			forms = forms_of(optarg);
			break;
		default:
			usage();
		}
	}
	if (optind != argc - 1)
		usage();
	text = whole_input();
	if (forms) {
		char *lines = timeline(text, forms);

		free(text);
		text = lines;
	}
	w = ctf_writer_new(argv[optind], &options);
	ctf_writer_script(w, text, trace);
	ctf_writer_free(w);
	free(text);
	return 0;
}
