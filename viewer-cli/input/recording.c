/* recording.c -- finds the newest recording, when a recording last changed, and the database of a case. */
#include "input/recording.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "bsa/db.h"

enum { DEEPEST = 6, MOST_FILES = 20000 }; /* NAME/ust/uid/0/64-bit is 5 deep; and a user may name the root directory */

static int64_t recording_ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t bsv_file_changed(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : recording_ns_of(st.st_mtim);
}

/* ---- traces ---- */

struct walk {
	int64_t newest;
	bool metadata, stream, denied; /* stream: a file that cannot be read without metadata */
	int files;
};

/* A packet of CTF begins with 0xC1FC1FC1, in the byte order of the machine that recorded it. */
static bool is_stream(int dir, const char *name)
{
	static const unsigned char magic[2][4] = { { 0xc1, 0x1f, 0xfc, 0xc1 }, { 0xc1, 0xfc, 0x1f, 0xc1 } };
	unsigned char begin[4];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool read_all = fd >= 0 && read(fd, begin, sizeof(begin)) == sizeof(begin);

	if (fd >= 0)
		close(fd);
	return read_all && (!memcmp(begin, magic[0], sizeof(begin)) || !memcmp(begin, magic[1], sizeof(begin)));
}

static void trace_walk(struct walk *w, int at, const char *name, int deep)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (deep ? O_NOFOLLOW : 0));
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		w->denied |= errno == EACCES;
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)) && w->files++ < MOST_FILES) {
		struct stat st;

		if (e->d_name[0] == '.' || fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISDIR(st.st_mode) && deep < DEEPEST && strcmp(e->d_name, "index"))
			trace_walk(w, dirfd(dir), e->d_name, deep + 1);
		if (!S_ISREG(st.st_mode))
			continue;
		w->metadata |= !strcmp(e->d_name, "metadata");
		w->stream = w->stream || (!w->metadata && is_stream(dirfd(dir), e->d_name));
		if (recording_ns_of(st.st_mtim) > w->newest)
			w->newest = recording_ns_of(st.st_mtim);
	}
	closedir(dir);
}

int64_t bsv_recording_changed(const char *path)
{
	struct walk w = { 0 };

	trace_walk(&w, AT_FDCWD, path, 0);
	errno = w.denied ? EACCES : w.stream ? ENODATA : ENOENT;
	return w.metadata ? w.newest : 0;
}

/* ---- cases of burstscope watch ---- */

static bool is_case(const char *path, char ret_database[PATH_MAX])
{
	char about[PATH_MAX];

	return snprintf(about, sizeof(about), "%s/case.json", path) < PATH_MAX && !access(about, F_OK) &&
	       snprintf(ret_database, PATH_MAX, "%s/trace.db", path) < PATH_MAX && !access(ret_database, F_OK);
}

enum bsv_case_place bsv_recording_case(const char *path, char ret[PATH_MAX])
{
	enum bsv_case_place place = BSV_NO_CASE;
	char each[PATH_MAX], database[PATH_MAX];
	struct dirent *e;
	DIR *dir;

	if (is_case(path, ret))
		return BSV_A_CASE;
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.' || snprintf(each, sizeof(each), "%s/%s", path, e->d_name) >= PATH_MAX ||
		    !is_case(each, database) || (place && strcmp(each, ret) < 0))
			continue;
		place = BSV_THE_CASES;
		strcpy(ret, each);
	}
	if (dir)
		closedir(dir);
	return place;
}

/* ---- the newest recording ---- */

int bsv_recording_newest(char ret[PATH_MAX], struct bsa_err *err)
{
	DIR *dir = opendir(".");
	char a_case[PATH_MAX];
	int64_t newest = 0;
	struct dirent *e;

	if (!dir)
		return bsa_fail(err, BSA_E_ENV, "the working directory cannot be read: %s", strerror(errno));
	while ((e = readdir(dir))) {
		size_t n = strlen(e->d_name);
		struct bsa_db *db;
		struct stat st;
		int64_t at;

		if (e->d_name[0] == '.' || stat(e->d_name, &st))
			continue;
		at = S_ISDIR(st.st_mode) ? bsv_recording_changed(e->d_name) : recording_ns_of(st.st_mtim);
		if (at <= newest)
			continue;
		if (S_ISDIR(st.st_mode) && bsv_recording_case(e->d_name, a_case) == BSV_THE_CASES)
			continue;
		if (!S_ISDIR(st.st_mode)) {
			if (!S_ISREG(st.st_mode) || n <= 3 || strcmp(e->d_name + n - 3, ".db") ||
			    bsa_db_open(&db, e->d_name, NULL) < 0) /* the file is no database of ours */
				continue;
			bsa_db_close(db);
		}
		newest = at;
		snprintf(ret, PATH_MAX, "%s", e->d_name);
	}
	closedir(dir);
	return newest ? 0
	              : bsa_fail(err, BSA_E_INPUT,
	                         "this directory contains no recording: name one, or make one with burstscope "
	                         "record");
}

/* ---- the cache ---- */

static int make_directories(char *path)
{
	for (char *at = strchr(path + 1, '/');; at = strchr(at + 1, '/')) {
		if (at)
			*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			return -1;
		if (!at)
			return 0;
		*at = '/';
	}
}

int bsv_recording_cache(const char *trace, char ret[PATH_MAX], struct bsa_err *err)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME"), *name;
	char whole[PATH_MAX];
	int n;

	if (!realpath(trace, whole))
		return bsa_fail(err, BSA_E_INPUT, "%s: %s", trace, strerror(errno));
	if (cache && *cache == '/')
		n = snprintf(ret, PATH_MAX, "%s/burstscope", cache);
	else
		n = snprintf(ret, PATH_MAX, "%s/.cache/burstscope", home && *home == '/' ? home : "/nonexistent");
	if (n < PATH_MAX && make_directories(ret))
		return bsa_fail(err, BSA_E_ENV,
		                "%s: no place for a database, neither beside it nor in %s: %s; make one with "
		                "burstscope import -o "
		                "DB",
		                trace, ret, strerror(errno));
	name = strrchr(whole, '/') + 1;
	n += snprintf(ret + (n < PATH_MAX ? n : 0), n < PATH_MAX ? (size_t)(PATH_MAX - n) : 0, "/%s-%016" PRIx64 ".db",
	              name, bsv_hash(BSV_HASH_NONE, whole, strlen(whole)));
	return n < PATH_MAX ? 0 : bsa_fail(err, BSA_E_USAGE, "%s: the name is too long", trace);
}
