/* subuid.c -- reads lines ACCOUNT:FIRST:COUNT, where an account is a name or a uid, and finds the range of a uid. */
#include "service/subuid.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

enum { RANGES_MIN = 16 };

void nnb__subuids_init(struct nnb__subuids *u, const char *file, const char *passwd)
{
	*u = (struct nnb__subuids){ .file = file, .passwd = passwd };
}

void nnb__subuids_fini(struct nnb__subuids *u)
{
	for (size_t i = 0; i < u->n; i++)
		free(u->ranges[i].name);
	free(u->ranges);
	u->ranges = NULL;
	u->n = u->room = 0;
}

/* ---- reading ---- */

/* A decimal number of 32 bits, and nothing behind it. */
static bool number_parse(const char *text, uint32_t *ret)
{
	unsigned long long n;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	n = strtoull(text, NULL, 10);
	*ret = (uint32_t)n;
	return !errno && n <= UINT32_MAX;
}

/* Append the range of a line. 0 or -ENOMEM. */
static int range_append(struct nnb__subuids *u, char *line)
{
	char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	struct nnb__subuid_range range;
	uint32_t from, n;

	if (!count || first == line)
		return 0;
	*first++ = *count++ = '\0';
	count[strcspn(count, "\n")] = '\0';
	if (!number_parse(first, &from) || !number_parse(count, &n) || !n)
		return 0;
	range = (struct nnb__subuid_range){ .first = from, .end = (uint64_t)from + n, .name = strdup(line) };
	if (!range.name || !NNB__RESERVE(u->ranges, u->room, u->n + 1, RANGES_MIN)) {
		free(range.name);
		return -ENOMEM;
	}
	u->ranges[u->n++] = range;
	return 0;
}

static int ranges_read(struct nnb__subuids *u, FILE *f)
{
	char *line = NULL;
	size_t room = 0;
	int r = 0;

	errno = 0;
	while (!r && getline(&line, &room, f) >= 0)
		r = range_append(u, line);
	if (!r && !feof(f))
		r = errno ? -errno : -EIO;
	free(line);
	return r;
}

static int name_compare(const void *one, const void *other)
{
	const struct nnb__subuid_range *a = one, *b = other;
	int names = strcmp(a->name, b->name);

	return names ? names : (a->first > b->first) - (a->first < b->first);
}

static int first_compare(const void *one, const void *other)
{
	const struct nnb__subuid_range *a = one, *b = other;

	return (a->first > b->first) - (a->first < b->first);
}

/* The first of the ranges, which are by name, that has @name; as many as there are: none has it. */
static size_t name_find(const struct nnb__subuids *u, const char *name)
{
	size_t from = 0, to = u->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (strcmp(u->ranges[middle].name, name) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < u->n && !strcmp(u->ranges[from].name, name) ? from : u->n;
}

/* Give the ranges of an account, from @at on, its owner. The ranges are by name. */
static void owner_set(struct nnb__subuids *u, size_t at, uint32_t owner)
{
	for (size_t i = at; i < u->n && !strcmp(u->ranges[i].name, u->ranges[at].name); i++)
		u->ranges[i].owner = owner;
}

/* Give the ranges that name the account of this line of passwd its uid. */
static void passwd_line_take(struct nnb__subuids *u, char *line)
{
	char *password = strchr(line, ':'), *uid = password ? strchr(password + 1, ':') : NULL;
	uint32_t owner;

	if (!uid)
		return;
	*password = '\0';
	uid++;
	uid[strcspn(uid, ":\n")] = '\0';
	if (number_parse(uid, &owner))
		owner_set(u, name_find(u, line), owner);
}

/* The file itself is read, because a server that knows further names may let the service wait. */
static void owners_find(struct nnb__subuids *u)
{
	FILE *f = fopen(u->passwd, "re");
	char *line = NULL;
	size_t room = 0;

	qsort(u->ranges, u->n, sizeof(*u->ranges), name_compare);
	for (size_t i = 0; i < u->n; i++)
		if (!i || strcmp(u->ranges[i - 1].name, u->ranges[i].name) != 0) {
			uint32_t owner;

			owner_set(u, i, number_parse(u->ranges[i].name, &owner) ? owner : (uint32_t)u->ranges[i].first);
		}
	while (f && getline(&line, &room, f) >= 0)
		passwd_line_take(u, line);
	free(line);
	if (f)
		fclose(f);
}

/* Sort the ranges for nnb__subuid_owner. */
static void ranges_finish(struct nnb__subuids *u)
{
	qsort(u->ranges, u->n, sizeof(*u->ranges), first_compare);
	for (size_t i = 0; i < u->n; i++) {
		struct nnb__subuid_range *range = &u->ranges[i];
		uint64_t before = i ? range[-1].reach : 0;

		range->reach = range->end > before ? range->end : before;
		free(range->name);
		range->name = NULL;
	}
}

/* ---- the calls ---- */

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int nnb__subuids_refresh(struct nnb__subuids *u)
{
	struct nnb__subuids is = { .file = u->file, .passwd = u->passwd };
	FILE *f;
	int r = 0;

	if (!u->file)
		return 0;
	if (stat(u->file, &is.seen) && errno != ENOENT)
		return -errno;
	if (stat(u->passwd, &is.seen_passwd)) /* accounts are known by their numbers then */
		is.seen_passwd = (struct stat){ 0 };
	if (is_same(&is.seen, &u->seen) && is_same(&is.seen_passwd, &u->seen_passwd))
		return 0;
	f = fopen(u->file, "re");
	if (f)
		r = ranges_read(&is, f);
	else if (errno != ENOENT)
		r = -errno;
	if (f)
		fclose(f);
	if (r) {
		nnb__subuids_fini(&is);
		return r;
	}
	if (is.n) {
		owners_find(&is);
		ranges_finish(&is);
	}
	nnb__subuids_fini(u);
	*u = is;
	return 0;
}

uint32_t nnb__subuid_owner(const struct nnb__subuids *u, uint32_t uid)
{
	size_t from = 0, to = u->n;

	while (from < to) { /* find the first range that begins after @uid */
		size_t middle = from + (to - from) / 2;

		if (u->ranges[middle].first <= uid)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from && u->ranges[from - 1].reach > uid; from--)
		if (u->ranges[from - 1].end > uid)
			return u->ranges[from - 1].owner;
	return uid;
}
