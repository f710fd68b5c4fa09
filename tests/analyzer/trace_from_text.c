/*
 * trace_from_text.c -- lines of analyzer/script.h on standard input become a trace.
 *
 *   trace_from_text [-u UUID] [-h HOST] [-s SESSION] [-c CLOCK_UUID] [-o CLOCK_OFFSET] [-p PID] [-n EVENTS_A_PACKET]
 *                   [-t TRACE] [-e full|compact|both] [-w KIND] DIRECTORY
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
	fprintf(stderr, "usage: trace_from_text [-u UUID] [-h HOST] [-s SESSION] [-c CLOCK_UUID] [-o CLOCK_OFFSET]\n"
	                "                       [-p PID] [-n EVENTS_A_PACKET] [-t TRACE] [-e full|compact|both] [-w "
	                "KIND] DIRECTORY\n");
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

/* Blank the lines of the events of kind @without, as a session that has not enabled them. */
static void leave_out(char *lines, const char *without)
{
	size_t length = strlen(without);

	for (char *line = lines, *end; *line; line = *end ? end + 1 : end) {
		char *name = line + strcspn(line, " \n");

		end = line + strcspn(line, "\n");
		name += *name == ' ';
		if (!strncmp(name, without, length) && (name[length] == ' ' || name[length] == '\n'))
			memset(line, ' ', (size_t)(end - line));
	}
}

int main(int argc, char **argv)
{
	struct ctf_options options = { 0 };
	uint32_t trace = 1;
	unsigned forms = 0;
	const char *without = NULL;
	char *text;
	struct ctf_writer *w;
	int c;

	while ((c = getopt(argc, argv, "u:h:s:c:o:p:n:t:e:w:")) != -1) {
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
		case 'w':
			without = optarg;
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
	if (without)
		leave_out(text, without);
	w = ctf_writer_new(argv[optind], &options);
	ctf_writer_script(w, text, trace);
	ctf_writer_free(w);
	free(text);
	return 0;
}
