/* burstscope -- questions in, answers out: finds the command and runs it. */
#include <signal.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "options.h"

static const struct bsv_command *const commands[] = { &bsv_import, &bsv_sql, &bsv_schema };

enum { N_COMMANDS = sizeof(commands) / sizeof(*commands) };

static void usage(FILE *to)
{
	fputs("usage: burstscope COMMAND [OPTION...] [INPUT...]\n\n", to);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->says);
	fputs("\nburstscope COMMAND --help shows how each is used; burstscope --version says which one this is.\n\n"
	      "Exit status: 0 done, 2 wrong usage, 4 unreadable or wrong input, 5 the environment does not allow it,\n"
	      "130 stopped.\n",
	      to);
}

static const struct bsv_command *find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static int no_command(const char *name)
{
	const char *names[N_COMMANDS], *nearest;

	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i]->name;
	nearest = bsv_nearest(name, names, N_COMMANDS, sizeof(*names));
	if (nearest)
		fprintf(stderr, "burstscope: no command '%s'; did you mean '%s'?\n", name, nearest);
	else
		fprintf(stderr, "burstscope: no command '%s'; see burstscope --help\n", name);
	return BSV_USAGE;
}

static int run(const struct bsv_command *command, int argc, char **argv)
{
	alignas(max_align_t) char own[BSV_OPTIONS_MAX];
	struct bsa_err err = { "" };
	struct bsv_call call;
	int r = bsv_options_read(command, argc, argv, own, &call, &err);

	if (r >= 0 && call.common.help) {
		bsv_options_help(command);
		return BSV_DONE;
	}
	if (r >= 0)
		r = command->run(&call, &err);
	if (r >= 0 && (fflush(stdout) || ferror(stdout)))
		r = bsa_fail(&err, BSA_E_ENV, "the standard output cannot be written");
	if (r >= 0)
		return r;
	fprintf(stderr, "burstscope: %s: %s\n", command->name, err.text);
	return bsa_exit_status(r);
}

int main(int argc, char **argv)
{
	const struct bsv_command *command;
	const char *name = argc > 1 ? argv[1] : "";

	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error like any other */
	if (!strcmp(name, "--version")) {
		printf("burstscope %s\n", BURSTSCOPE_VERSION);
		return BSV_DONE;
	}
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || (!strcmp(name, "help") && argc == 2)) {
		usage(stdout);
		return BSV_DONE;
	}
	if (argc < 2) {
		usage(stderr);
		return BSV_USAGE;
	}
	if (!strcmp(name, "help")) { /* of a command */
		command = find(argv[2]);
		if (!command)
			return no_command(argv[2]);
		bsv_options_help(command);
		return BSV_DONE;
	}
	command = find(name);
	return command ? run(command, argc - 1, argv + 1) : no_command(name);
}
