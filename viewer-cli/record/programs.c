/*
 * programs.c -- searches /proc for programs that have the provider loaded, and asks the session
 * daemon which of them it has met.
 */
#include "record/programs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROVIDER "/nnburst/tracepoints.so"

/* Does it see the same files, and so the daemon's sockets? */
static bool sees_the_same(const char *pid)
{
	char path[64], its[64] = "", ours[64] = "";

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	return readlink(path, its, sizeof(its) - 1) > 0 && readlink("/proc/self/ns/mnt", ours, sizeof(ours) - 1) > 0 &&
	       !strcmp(its, ours);
}

static bool has_provider(const char *pid)
{
	char path[64], *line = NULL;
	size_t size = 0;
	bool has = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	f = fopen(path, "re");
	while (f && !has && getline(&line, &size, f) > 0)
		has = strstr(line, PROVIDER) != NULL;
	free(line);
	if (f)
		fclose(f);
	return has;
}

static void process_name_of(const char *pid, char ret[32])
{
	char path[64], file[PATH_MAX], *name;
	ssize_t n;
	FILE *f;

	*ret = 0;
	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	f = fopen(path, "re");
	if (f && !fgets(ret, 32, f))
		*ret = 0;
	if (f)
		fclose(f);
	ret[strcspn(ret, "\n")] = 0;
	if (!strcmp(ret, "exe")) {
		/*
		 * the program was started by a link of that name, as /proc/self/exe: take the name
		 * of the file that it runs
		 */
		snprintf(path, sizeof(path), "/proc/%.20s/exe", pid);
		n = readlink(path, file, sizeof(file) - 1);
		file[n > 0 ? n : 0] = 0;
		name = strrchr(file, '/');
		if (name)
			snprintf(ret, 32, "%.*s", (int)strcspn(name + 1, " "), name + 1);
	}
	for (char *at = ret; *at; at++)
		if (!isprint((unsigned char)*at))
			*at = '?';
}

unsigned bsv_programs_find(struct bsv_program ret[BSV_PROGRAMS_MOST])
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	unsigned n = 0;

	while (proc && n < BSV_PROGRAMS_MOST && (e = readdir(proc))) {
		if (!isdigit((unsigned char)*e->d_name) || !sees_the_same(e->d_name) || !has_provider(e->d_name))
			continue;
		ret[n].pid = (pid_t)strtol(e->d_name, NULL, 10);
		process_name_of(e->d_name, ret[n++].name);
	}
	if (proc)
		closedir(proc);
	return n;
}

bool bsv_programs_of_others(struct bsv_program *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	struct stat owner;
	bool found = false;

	while (proc && !found && (e = readdir(proc))) {
		if (!isdigit((unsigned char)*e->d_name) || fstatat(dirfd(proc), e->d_name, &owner, 0) ||
		    owner.st_uid == geteuid())
			continue;
		process_name_of(e->d_name, ret->name);
		ret->pid = (pid_t)strtol(e->d_name, NULL, 10);
		found = !strcmp(ret->name, "nnburstd");
	}
	if (proc)
		closedir(proc);
	return found;
}

/* The letter of the state of a process, e.g. 'T' when it is stopped, and its parent. 0: there is no such process. */
static char process_state(pid_t pid, long *ret_parent)
{
	char path[64], line[512] = "", state = 0, *after_name;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	f = fopen(path, "re");
	if (f && !fgets(line, sizeof(line), f))
		*line = 0;
	if (f)
		fclose(f);
	after_name = strrchr(line, ')'); /* the name may contain anything */
	return after_name && sscanf(after_name, ") %c %ld", &state, ret_parent) == 2 ? state : 0;
}

bool bsv_program_has_ended(pid_t pid)
{
	long parent;

	/* /proc may hide a process of another user: it is gone only if the kernel has none of that number */
	return pid > 0 && ((kill(pid, 0) && errno == ESRCH) || process_state(pid, &parent) == 'Z');
}

unsigned bsv_programs_stopped(struct bsv_program ret[BSV_PROGRAMS_MOST])
{
	unsigned n = bsv_programs_find(ret), stopped = 0;

	for (unsigned i = 0; i < n; i++) {
		long parent;
		char state = process_state(ret[i].pid, &parent);

		if (state == 'T' || state == 't')
			ret[stopped++] = ret[i];
	}
	return stopped;
}

/* Is @directory/... one of the arguments of the process? */
static bool works_in(const char *pid, const char *directory)
{
	size_t length = strlen(directory), size = 0;
	char path[64], *argument = NULL;
	bool works = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	f = fopen(path, "re");
	while (f && !works && getdelim(&argument, &size, '\0', f) > 0)
		works = !strncmp(argument, directory, length) && argument[length] == '/';
	free(argument);
	if (f)
		fclose(f);
	return works;
}

bool bsv_programs_consume(const char *directory)
{
	DIR *proc = opendir("/proc");
	char name[32];
	struct dirent *e;
	struct stat owner;
	bool consumes = false;

	while (proc && !consumes && (e = readdir(proc))) {
		if (!isdigit((unsigned char)*e->d_name) || !sees_the_same(e->d_name) ||
		    fstatat(dirfd(proc), e->d_name, &owner, 0) || owner.st_uid != geteuid())
			continue;
		process_name_of(e->d_name, name);
		consumes = !strcmp(name, "lttng-consumerd") && works_in(e->d_name, directory);
	}
	if (proc)
		closedir(proc);
	return consumes;
}

void bsv_programs_end_consumers(pid_t session_daemon)
{
	DIR *proc = opendir("/proc");
	char name[32];
	struct dirent *e;
	long parent;

	while (proc && (e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);

		if (pid <= 0 || !process_state(pid, &parent) || parent != session_daemon)
			continue;
		process_name_of(e->d_name, name);
		if (!strcmp(name, "lttng-consumerd"))
			kill(pid, SIGKILL);
	}
	if (proc)
		closedir(proc);
}

/* How many events with our names the daemon has met; 0 and *ret NULL: none. *ret is owned by the caller. */
static int list_events(const struct bsv_lttng *lttng, struct lttng_event **ret)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST };
	struct lttng_handle *handle = lttng->create_handle(NULL, &domain);
	int n;

	*ret = NULL;
	n = handle ? lttng->list_tracepoints(handle, ret) : 0;
	lttng->destroy_handle(handle);
	return n > 0 ? n : 0;
}

static bool is_in(const struct lttng_event *events, int n, pid_t pid)
{
	for (int i = 0; i < n; i++)
		if (events[i].pid == pid && !strncmp(events[i].name, "nnburst:", 8))
			return true;
	return false;
}

unsigned bsv_programs_unmet(struct bsv_program *programs, unsigned n, const struct bsv_lttng *lttng)
{
	struct lttng_event *events;
	int n_events = list_events(lttng, &events);
	unsigned unmet = 0;

	for (unsigned i = 0; i < n; i++)
		if (!is_in(events, n_events, programs[i].pid) && !kill(programs[i].pid, 0))
			programs[unmet++] = programs[i];
	free(events);
	return unmet;
}

bool bsv_program_is_met(const struct bsv_lttng *lttng, pid_t pid)
{
	struct lttng_event *events;
	int n = list_events(lttng, &events);
	bool is = is_in(events, n, pid);

	free(events);
	return is;
}
