/* recorder.c -- see recorder.h. */
#include "recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peers.h"

enum { COMMAND_MAX = 4096 };

static _Noreturn void command_failed(const char *command)
{
	fprintf(stderr, "%s: this has failed: %s\n", program_invocation_short_name, command);
	exit(5);
}

/* The programs that are executed have to be found again, wherever we are. */
void recorder_inside(const char *script, char **argv)
{
	char self[COMMAND_MAX] = "", *args[16] = { (char *)script, self };
	int n = 2;

	if (getenv("NNB_TRACES"))
		return;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		die("this program");
	for (argv++; *argv; argv++) {
		if (n == 15)
			command_failed("to pass on so many arguments");
		args[n++] = *argv;
	}
	execv(script, args);
	die(script);
}

/* Its output is shown only if it fails. */
__attribute__((format(printf, 1, 2))) static void command_run(const char *format, ...)
{
	char command[COMMAND_MAX];
	int n = snprintf(command, sizeof(command), "{ ");
	va_list args;

	va_start(args, format);
	n += vsnprintf(command + n, sizeof(command) - (size_t)n, format, args);
	va_end(args);
	if ((size_t)n + 80 > sizeof(command))
		command_failed(command);
	snprintf(command + n, sizeof(command) - (size_t)n,
	         "; } >$NNB_TRACES/said 2>&1 || { cat $NNB_TRACES/said >&2; false; }");
	fflush(NULL);
	if (system(command) != 0)
		command_failed(command);
}

/* The numbers that a command prints, @n of them. */
__attribute__((format(printf, 3, 4))) static void command_ask(uint64_t ret[], int n, const char *format, ...)
{
	char command[COMMAND_MAX];
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	fflush(NULL);
	f = popen(command, "re");
	if (!f)
		command_failed(command);
	for (int i = 0; i < n; i++)
		if (fscanf(f, "%" SCNu64, &ret[i]) != 1)
			command_failed(command);
	if (pclose(f) != 0)
		command_failed(command);
}

void recorder_start(const char *session, const char *buffers, const char *const events[], const pid_t *pids,
                    size_t n_pids)
{
	char list[COMMAND_MAX / 2];
	size_t at = 0;

	for (size_t i = 0; i < n_pids; i++) {
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%d", i ? "," : "", (int)pids[i]);
		if (at >= sizeof(list))
			command_failed("lttng track: too many processes for one command");
	}
	command_run("lttng --no-sessiond create %s --output=$NNB_TRACES/%s", session, session);
	command_run("lttng --no-sessiond enable-channel --userspace --session %s %s all", session, buffers);
	for (; *events; events++)
		command_run("lttng --no-sessiond enable-event --userspace --session %s --channel all %s", session,
		            *events);
	command_run("lttng --no-sessiond track --userspace --session %s --vpid=%s", session, list);
	command_run("lttng --no-sessiond start %s", session);
}

void recorder_stop(const char *session, struct recorded *ret)
{
	command_run("lttng --no-sessiond stop %s", session);
	command_ask(&ret->lost, 1,
	            "lttng --no-sessiond list %s | awk '/Discarded events:/ { n += $3; found = 1 } END { if (found) "
	            "print n + "
	            "0 }'",
	            session);
	command_run("lttng --no-sessiond destroy %s", session);
	command_ask(
		&ret->events, 1,
		"babeltrace2 $NNB_TRACES/%s --component=sink.utils.counter --params=step=+0 | awk '/ Event messages/ { "
		"print $1 }'",
		session);
	command_ask(&ret->bytes, 1,
	            "find $NNB_TRACES/%s -name 'all_*' -type f -printf '%%s\\n' | awk '{ n += $1 } END { print n }'",
	            session);
}

void recorder_per_execution(const char *session, unsigned skip, unsigned *ret_fewest, unsigned *ret_most)
{
	uint64_t numbers[2];

	command_ask(numbers, 2,
	            "babeltrace2 $NNB_TRACES/%s | sed -nE 's/.*[ {]exec = ([0-9]+).*/\\1/p' | awk '"
	            "!($1 \"\" in n) { order[++all] = $1 \"\" } { n[$1 \"\"]++ } END {"
	            " for (i = %u + 1; i <= all; i++) {"
	            "  if (!fewest || n[order[i]] < fewest) fewest = n[order[i]];"
	            "  if (n[order[i]] > most) most = n[order[i]] }"
	            " print fewest + 0, most + 0 }'",
	            session, skip);
	*ret_fewest = (unsigned)numbers[0];
	*ret_most = (unsigned)numbers[1];
}

void recorder_forget(const char *session)
{
	command_run("rm -r $NNB_TRACES/%s", session);
}
