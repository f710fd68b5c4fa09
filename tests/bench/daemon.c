/* daemon.c -- see daemon.h. */
#include "daemon.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peers.h"

enum { DAEMONS_MAX = 16, OPTIONS_MAX = 16 };

static struct daemon *daemons[DAEMONS_MAX]; /* those that run */
static pid_t owner;

static void clean_up(const struct daemon *d)
{
	char lock[80];

	snprintf(lock, sizeof(lock), "%s.lock", d->socket);
	unlink(lock);
	unlink(d->socket);
	rmdir(d->dir);
}

/* The run may end anywhere; a peer, which is a copy of us, owns nothing. */
static void stop_all(void)
{
	for (int i = 0; i < DAEMONS_MAX && getpid() == owner; i++) {
		if (!daemons[i])
			continue;
		kill(daemons[i]->pid, SIGKILL);
		clean_up(daemons[i]);
	}
}

static void enlist(struct daemon *d)
{
	int i = 0;

	if (!owner)
		atexit(stop_all);
	owner = getpid();
	while (daemons[i])
		i++;
	daemons[i] = d;
}

/* A socket for the daemon's message that it is ready, as a service manager has it. */
static int notify_socket(const struct daemon *d, struct sockaddr_un *at)
{
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	*at = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(at->sun_path, sizeof(at->sun_path), "%s/notify", d->dir);
	if (sock < 0 || bind(sock, (struct sockaddr *)at, sizeof(*at)))
		die("a socket");
	return sock;
}

static void run_daemon(const struct daemon *d, const char *program, const char *const options[], const char *notify)
{
	const char *args[OPTIONS_MAX + 6] = { program, "--socket", d->socket, "--app-identity", "pid" };

	for (int n = 5; *options && n < OPTIONS_MAX + 5; n++)
		args[n] = *options++;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("NOTIFY_SOCKET", notify, 1);
	execv(program, (char *const *)args);
	fprintf(stderr, "%s: %s\n", program, strerror(errno));
	_exit(5);
}

void daemon_start(struct daemon *d, const char *program, const char *const options[])
{
	struct sockaddr_un notify;
	struct pollfd ready = { .events = POLLIN };

	snprintf(d->dir, sizeof(d->dir), "/tmp/bench.XXXXXX");
	if (!mkdtemp(d->dir))
		die(d->dir);
	snprintf(d->socket, sizeof(d->socket), "%s/socket", d->dir);
	ready.fd = notify_socket(d, &notify);
	fflush(NULL);
	d->pid = fork();
	if (d->pid < 0)
		die("fork");
	if (d->pid == 0)
		run_daemon(d, program, options, notify.sun_path);
	enlist(d);
	while (poll(&ready, 1, 100) == 0)
		if (waitpid(d->pid, NULL, WNOHANG) == d->pid) {
			fprintf(stderr, "%s ended before it was ready\n", program);
			exit(5);
		}
	close(ready.fd);
	unlink(notify.sun_path);
}

void daemon_stop(struct daemon *d)
{
	int status;

	kill(d->pid, SIGTERM);
	if (waitpid(d->pid, &status, 0) != d->pid || status) {
		fprintf(stderr, "%s: the service ended with %#x\n", program_invocation_short_name, status);
		exit(1);
	}
	for (int i = 0; i < DAEMONS_MAX; i++)
		if (daemons[i] == d)
			daemons[i] = NULL;
	clean_up(d);
}

uint64_t cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	errno = clock_getcpuclockid(pid, &clock);
	if (errno || clock_gettime(clock, &t))
		die("the cpu time of a process");
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t switches_of_task(pid_t pid, const char *task)
{
	char path[64], line[128];
	unsigned long long n;
	uint64_t sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%.16s/status", (int)pid, task);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

uint64_t switches(pid_t pid)
{
	struct dirent *e;
	char path[64];
	uint64_t sum = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		die(path);
	while ((e = readdir(tasks)))
		if (e->d_name[0] != '.')
			sum += switches_of_task(pid, e->d_name);
	closedir(tasks);
	return sum;
}
