/* quota.c -- divides the machine's limits of one process among apps. */
#include "service/quota.h"

#include <assert.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define MAPPINGS_USUAL UINT64_C(65530) /* vm.max_map_count, if it cannot be read */

/* ---- quotas ---- */

void nnb__quota_init(struct nnb__quota *q, uint64_t limit)
{
	*q = (struct nnb__quota){ .limit = limit, .guaranteed = limit / NNB__QUOTA_PARTS, .most = limit / 4 };
	q->shared = limit - limit / 4 - NNB__QUOTA_APPS * q->guaranteed;
}

void nnb__quota_init_of_apps(struct nnb__quota *q, uint64_t limit)
{
	*q = (struct nnb__quota){ .limit = limit, .guaranteed = limit / NNB__QUOTA_PARTS, .most = limit };
	q->shared = limit - NNB__QUOTA_APPS * q->guaranteed;
}

/* The part of the shared units that @held would use with @units. */
static uint64_t shared_part(const struct nnb__quota *q, const struct nnb__quota_held *held, uint64_t units)
{
	uint64_t own = held->guaranteed ? q->guaranteed : 0;

	return units > own ? units - own : 0;
}

enum nnb__quota_answer nnb__quota_asks(const struct nnb__quota *q, const struct nnb__quota_held *held, uint64_t n)
{
	uint64_t more;

	if (n > q->most || held->units > q->most - n)
		return NNB__QUOTA_OWN;
	more = shared_part(q, held, held->units + n) - shared_part(q, held, held->units);
	return more > q->shared - q->shared_used ? NNB__QUOTA_SHARED : NNB__QUOTA_HAS;
}

void nnb__quota_take(struct nnb__quota *q, struct nnb__quota_held *held, uint64_t n)
{
	assert(nnb__quota_asks(q, held, n) == NNB__QUOTA_HAS);
	q->shared_used += shared_part(q, held, held->units + n) - shared_part(q, held, held->units);
	q->used += n;
	held->units += n;
}

void nnb__quota_give(struct nnb__quota *q, struct nnb__quota_held *held, uint64_t n)
{
	uint64_t shared;

	assert(n <= held->units && n <= q->used);
	shared = shared_part(q, held, held->units) - shared_part(q, held, held->units - n);
	assert(shared <= q->shared_used);
	q->shared_used -= shared;
	q->used -= n;
	held->units -= n;
}

/* ---- the machine ---- */

static uint64_t limit_of(int resource)
{
	struct rlimit r;

	return getrlimit((__rlimit_resource_t)resource, &r) || r.rlim_cur == RLIM_INFINITY ? UINT64_MAX : r.rlim_cur;
}

/* The number in a file; UINT64_MAX: the file has no number ("max"), or does not exist. */
static uint64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	bool is = f && fscanf(f, "%llu", &n) == 1;

	if (f)
		fclose(f);
	return is ? n : UINT64_MAX;
}

uint64_t nnb__machine_descriptors(void)
{
	return limit_of(RLIMIT_NOFILE);
}

uint64_t nnb__machine_mappings(void)
{
	uint64_t n = number_in("/proc/sys/vm/max_map_count");

	return n == UINT64_MAX ? MAPPINGS_USUAL : n;
}

/* Write the path of this process's cgroup (version 2) to @ret. False: the process has no such cgroup. */
static bool own_cgroup(char *ret, size_t room)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[3000];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		found = strncmp(line, "0::", 3) == 0 &&
		        snprintf(ret, room, "/sys/fs/cgroup%s", strcmp(line + 3, "/") ? line + 3 : "") < (int)room;
	}
	if (f)
		fclose(f);
	return found;
}

/* The number in the file @name of the cgroup @dir. */
static uint64_t number_in_cgroup(const char *dir, const char *name)
{
	char path[3200];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return number_in(path);
}

/* Replace @dir, a cgroup, by the one above it. False: @dir is the root. */
static bool cgroup_rise(char *dir)
{
	char *end = strrchr(dir, '/');

	*end = '\0';
	return strlen(dir) >= sizeof("/sys/fs/cgroup") - 1;
}

uint64_t nnb__machine_memory(void)
{
	uint64_t least = limit_of(RLIMIT_AS), n;
	struct sysinfo info;
	char dir[3100];

	/* The least memory.max of this process's cgroup and of those above it. */
	if (own_cgroup(dir, sizeof(dir)))
		do {
			n = number_in_cgroup(dir, "memory.max");
			least = n < least ? n : least;
		} while (cgroup_rise(dir));
	if (sysinfo(&info))
		return least;
	n = (uint64_t)info.totalram * info.mem_unit;
	return n < least ? n : least;
}

/* ---- threads ---- */

/* The real uid and the number of threads of the process @pid, a name in /proc. False: the process is gone or hidden. */
static bool process_threads(const char *pid, unsigned *uid, uint64_t *threads)
{
	char path[300], line[256];
	bool has_uid = false, has_threads = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	f = fopen(path, "re");
	while (f && !has_threads && fgets(line, sizeof(line), f)) {
		unsigned long long n;

		has_uid |= sscanf(line, "Uid: %u", uid) == 1;
		has_threads = sscanf(line, "Threads: %llu", &n) == 1;
		if (has_threads)
			*threads = n;
	}
	if (f)
		fclose(f);
	return has_uid && has_threads;
}

/* The threads of all processes of this user. */
static uint64_t user_threads(void)
{
	uint64_t sum = 0, n;
	DIR *proc = opendir("/proc");
	unsigned uid;

	for (struct dirent *e; proc && (e = readdir(proc));)
		if (isdigit((unsigned char)e->d_name[0]) && process_threads(e->d_name, &uid, &n) && uid == getuid())
			sum += n;
	if (proc)
		closedir(proc);
	return sum;
}

/* The threads that @limit leaves to this process, which has @own of the @used threads. */
static uint64_t left_of(uint64_t limit, uint64_t used, uint64_t own)
{
	uint64_t others = used > own ? used - own : 0;

	return limit == UINT64_MAX ? limit : limit > others ? limit - others : 0;
}

static void keep_least(uint64_t n, const char *name, uint64_t *least, const char **least_name)
{
	if (n < *least) {
		*least = n;
		*least_name = name;
	}
}

uint64_t nnb__machine_threads(const char **name)
{
	FILE *f = fopen("/proc/loadavg", "re");
	uint64_t own = 1, least = UINT64_MAX;
	unsigned long long all = 0; /* the threads of the machine */
	char dir[3100];
	unsigned uid;

	if (f && fscanf(f, "%*f %*f %*f %*u/%llu", &all) != 1)
		all = 0;
	if (f)
		fclose(f);

	process_threads("self", &uid, &own);

	*name = "kernel.threads-max";
	keep_least(left_of(number_in("/proc/sys/kernel/threads-max"), all, own), "kernel.threads-max", &least, name);
	keep_least(left_of(number_in("/proc/sys/kernel/pid_max"), all, own), "kernel.pid_max", &least, name);
	if (getuid()) /* root has as many as it wants */
		keep_least(left_of(limit_of(RLIMIT_NPROC), user_threads(), own), "RLIMIT_NPROC", &least, name);
	if (!own_cgroup(dir, sizeof(dir)))
		return least;
	do
		keep_least(left_of(number_in_cgroup(dir, "pids.max"), number_in_cgroup(dir, "pids.current"), own),
		           "pids.max", &least, name);
	while (cgroup_rise(dir));
	return least;
}
