/* scratch.c -- makes directories that are not kept, and removes those of processes that have ended. */
#include "record/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/packets.h"

#define PREFIX "burstscope-probe-"

/*
 * As bsv_process_began; *ret_state is a letter of proc(5), 'Z' for a process that has ended and
 * that its parent has not waited for.
 */
static unsigned long long read_process(long pid, char *ret_state)
{
	unsigned long long ticks = 0;
	char path[64], text[1024], *end;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	end = strrchr(text, ')'); /* the end of the name, which may contain anything */
	if (!end || sscanf(end + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
	                   ret_state, &ticks) != 2)
		return 0;
	return ticks;
}

unsigned long long bsv_process_began(long pid)
{
	char state;

	return read_process(pid, &state);
}

bool bsv_process_runs(long pid, unsigned long long began)
{
	char state = 'X';

	return began && read_process(pid, &state) == began && state != 'Z' && state != 'X';
}

unsigned long long bsv_pid_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (unsigned long long)st.st_ino;
}

bool bsv_scratch_make(const char *place, char ret[PATH_MAX])
{
	int n = snprintf(ret, PATH_MAX, "%s/" PREFIX "%llu-%ld-%llu-XXXXXX", place, bsv_pid_namespace(), (long)getpid(),
	                 bsv_process_began(getpid()));

	if (n < PATH_MAX && mkdtemp(ret))
		return true;
	*ret = 0;
	return false;
}

const char *bsv_scratch_place(unsigned index)
{
	const char *const tmp = getenv("TMPDIR"), *const run = getenv("XDG_RUNTIME_DIR");
	const char *const places[] = { run && *run == '/' ? run : "/dev/shm", "/dev/shm", tmp && *tmp ? tmp : "/tmp",
		                       "/tmp", NULL };

	return places[index];
}

bool bsv_scratch_is_own(const char *path)
{
	const char *name = strrchr(path, '/');
	struct stat st;

	return name && !strncmp(name + 1, PREFIX, strlen(PREFIX)) && !lstat(path, &st) && S_ISDIR(st.st_mode) &&
	       st.st_uid == geteuid();
}

static bool is_left(const char *place, const char *name, char path[PATH_MAX])
{
	unsigned long long space, began;
	long pid;

	if (sscanf(name, PREFIX "%llu-%ld-%llu-", &space, &pid, &began) != 3 || pid <= 0 || !space ||
	    space != bsv_pid_namespace() || bsv_process_runs(pid, began))
		return false;
	return snprintf(path, PATH_MAX, "%s/%s", place, name) < PATH_MAX && bsv_scratch_is_own(path);
}

unsigned bsv_scratch_sweep(void)
{
	char path[PATH_MAX];
	unsigned gone = 0;

	for (unsigned i = 0; bsv_scratch_place(i); i++) {
		DIR *d = opendir(bsv_scratch_place(i));

		for (struct dirent *entry; d && (entry = readdir(d));) {
			if (!is_left(bsv_scratch_place(i), entry->d_name, path))
				continue;
			bsv_remove_tree(path);
			gone++;
		}
		if (d)
			closedir(d);
	}
	return gone;
}
