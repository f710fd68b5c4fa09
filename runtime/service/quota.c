/* quota.c -- divides the machine's limits of one process among apps. */
#include "service/quota.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>

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

/* The least memory.max of this process's cgroup and of those above it. */
static uint64_t cgroup_memory(void)
{
	char dir[3100], path[3200];
	uint64_t least = UINT64_MAX, n;
	char *end;

	if (!own_cgroup(dir, sizeof(dir)))
		return least;
	do {
		snprintf(path, sizeof(path), "%s/memory.max", dir);
		n = number_in(path);
		least = n < least ? n : least;
		end = strrchr(dir, '/');
		*end = '\0';
	} while (strlen(dir) >= sizeof("/sys/fs/cgroup") - 1);
	return least;
}

uint64_t nnb__machine_memory(void)
{
	uint64_t least = limit_of(RLIMIT_AS), n = cgroup_memory();
	struct sysinfo info;

	least = n < least ? n : least;
	if (sysinfo(&info))
		return least;
	n = (uint64_t)info.totalram * info.mem_unit;
	return n < least ? n : least;
}
