/* burstscope.c -- finds the command and runs it. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/letters.h"
#include "base/nearest.h"
#include "base/screen.h"
#include "options/describe.h"
#include "options/options.h"

const struct bsv_command *const bsv_commands[] = {
	&bsv_demo,     &bsv_record,   &bsv_top,        &bsv_watch,          &bsv_cases,   &bsv_import,   &bsv_doctor,
	&bsv_summary,  &bsv_latency,  &bsv_overhead,   &bsv_misses,         &bsv_explain, &bsv_timeline, &bsv_whatif,
	&bsv_fairness, &bsv_priority, &bsv_starvation, &bsv_preemptions,    &bsv_slots,   &bsv_memory,   &bsv_diff,
	&bsv_check,    &bsv_sql,      &bsv_schema,     &bsv_report_command, &bsv_export,  &bsv_exporter, NULL,
};

enum { N_COMMANDS = sizeof(bsv_commands) / sizeof(*bsv_commands) - 1 };

/* Titles in the usage, each with the first command of its group. */
static const struct {
	const struct bsv_command *first;
	const char *title;
} groups[] = {
	{ &bsv_demo, "get a recording" },
	{ &bsv_summary, "analyse a recording" },
	{ &bsv_diff, "compare and judge" },
	{ &bsv_sql, "read and export rows" },
};

enum { NAMES = 11 }; /* columns of the longest name of a command */

static void print_usage(FILE *to)
{
	static const char *const last[] = {
		"INPUT is a database, or the directory of a trace, which is imported first; by default the newest "
		"recording in the working directory. burstscope COMMAND --help shows the use of a command; burstscope "
		"--version prints the version.",
		"Exit status: 0 done or passed, 1 a verdict that was asked for failed, 2 wrong usage, 3 a verdict that "
		"cannot tell (losses, or too few samples), 4 unreadable or wrong input, 5 the environment does not "
		"allow it, 130 stopped, 141 the reader closed the output.",
	};
	const struct bsv_screen screen = bsv_options_screen();

	fputs("usage: burstscope COMMAND [OPTION...] [INPUT]\n", to);
	for (size_t i = 0; i < N_COMMANDS; i++) {
		for (size_t j = 0; j < sizeof(groups) / sizeof(*groups); j++)
			if (groups[j].first == bsv_commands[i])
				fprintf(to, "\n%s\n", groups[j].title);
		fprintf(to, "  %-*s  ", NAMES, bsv_commands[i]->name);
		bsv_print_painted(to, &screen, BSV_PLAIN, "", bsv_commands[i]->says, NAMES + 4, NAMES + 4);
	}
	for (size_t i = 0; i < sizeof(last) / sizeof(*last); i++) {
		fputc('\n', to);
		bsv_print_wrapped(to, &screen, BSV_PLAIN, last[i], 0);
	}
}

static const struct bsv_command *command_find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, bsv_commands[i]->name))
			return bsv_commands[i];
	return NULL;
}

/* Print one line, with unprintable letters escaped. @who may be NULL. */
static void print_error(const char *who, const char *text)
{
	char *shown = bsv_printable(text, strlen(text), 0);

	bsv_notice("burstscope: %s%s%s", who ? who : "", who ? ": " : "", shown ? shown : "no memory");
	free(shown);
}

/* Flush the standard output, and report if that fails. */
static int output_flush(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return BSV_DONE;
	print_error(NULL, "the standard output cannot be written");
	return BSV_ENVIRONMENT;
}

static int command_missing(const char *name)
{
	const char *names[N_COMMANDS], *nearest;
	struct bsa_err err = { "" };

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = bsv_commands[i]->name;
	nearest = bsv_nearest(name, names, N_COMMANDS, sizeof(*names));
	if (!access(name, F_OK))
		bsa_fail(&err, 0, "no command '%s'; did you mean 'burstscope summary %s'?", name, name);
	else if (nearest)
		bsa_fail(&err, 0, "no command '%s'; did you mean '%s'?", name, nearest);
	else
		bsa_fail(&err, 0, "no command '%s'; see burstscope --help", name);
	print_error(NULL, err.text);
	return BSV_USAGE;
}

int main(int argc, char **argv)
{
	alignas(max_align_t) char own[BSV_OPTIONS_MAX];
	const struct bsv_command *command;
	const char *name = argc > 1 ? argv[1] : "";
	struct bsa_err err = { "" };
	struct bsv_call call;
	int r;

	/*
	 * The program that starts us may have closed standard descriptors. The first files to be
	 * opened would get their numbers, and be written to as output, and replaced in the programs
	 * that we start. Reads and writes of these descriptors fail, as those of closed ones do.
	 */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			break;
	setlocale(LC_CTYPE, "");  /* before any thread: base/letters.c asks for it */
	signal(SIGPIPE, SIG_DFL); /* a reader that closes our output ends us, silently, with 141 */
	signal(SIGXFSZ, SIG_IGN); /* reaching the limit of file sizes is reported by write() */
	if (!strcmp(name, "--version")) {
		printf("burstscope %s\n", BURSTSCOPE_VERSION);
		return output_flush();
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && argc == 2)) {
		print_usage(stdout);
		return output_flush();
	}
	if (argc < 2) {
		print_usage(stderr);
		return BSV_USAGE;
	}
	if (!strcmp(name, "help") && !strcmp(argv[2], "--as")) /* used by the build for manual pages and completions */
		return bsv_describe(argc - 3, argv + 3);
	if (!strcmp(name, "help")) { /* help for one command */
		command = command_find(argv[2]);
		if (!command)
			return command_missing(argv[2]);
		bsv_options_help(command);
		return output_flush();
	}
	command = command_find(name);
	if (!command)
		return command_missing(name);
	r = bsv_options_read(command, argc - 1, argv + 1, own, &call, &err);
	if (r >= 0 && call.common.help) {
		bsv_options_help(command);
		return output_flush();
	}
	if (r >= 0)
		r = command->run(&call, &err);
	if (r >= 0 && fflush(stdout))
		r = bsa_fail(&err, BSA_E_ENV, "the standard output cannot be written: %s", strerror(errno));
	if (r >= 0 && ferror(stdout))
		r = bsa_fail(&err, BSA_E_ENV, "the standard output cannot be written");
	if (r >= 0)
		return r;
	print_error(command->name, err.text);
	return bsa_exit_status(r);
}
