/* save.c -- copies the tracefiles of a session that goes on into a recording. */
#include "live/save.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/packets.h"

enum { DEPTH_MAX = 8 };

struct saving {
	time_t since;
	size_t bytes;
	struct bsa_err *err;
};

static int save_failed(const struct saving *s, const char *path)
{
	return bsa_fail(s->err, BSA_E_ENV, "%s cannot be saved: %s", path, strerror(errno));
}

static int copy_bytes(const struct saving *s, int from, int to, off_t n, const char *path)
{
	char bytes[1 << 16];

	for (off_t at = 0; at < n;) {
		ssize_t got = pread(from, bytes, sizeof(bytes), at);

		if (got < 0)
			return save_failed(s, path);
		if (!got)
			return 0;
		if (got > n - at)
			got = n - at;
		if (write(to, bytes, (size_t)got) != got)
			return save_failed(s, path);
		at += got;
	}
	return 0;
}

/*
 * Metadata is whole, or cut behind a packet: the rest comes with the next one, which describes
 * events that are not there.
 */
static int copy_file(struct saving *s, const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), out, r;
	struct stat st, after;

	if (in < 0)
		return 0; /* the file is gone */
	if (fstat(in, &st) || !S_ISREG(st.st_mode)) {
		close(in);
		return 0;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	r = out < 0 ? save_failed(s, to) : copy_bytes(s, in, out, st.st_size, to);
	if (r == 0 && (fstat(in, &after) || after.st_size < st.st_size))
		unlink(to); /* written anew */
	else if (r == 0)
		s->bytes += (size_t)st.st_size;
	if (out >= 0)
		close(out);
	close(in);
	return r;
}

static int copy_directory(struct saving *s, const char *from, const char *to, int depth)
{
	char source[PATH_MAX], target[PATH_MAX];
	DIR *d = opendir(from);
	const struct dirent *e;
	struct stat st;
	int r = 0;

	if (!d)
		return save_failed(s, from);
	if (mkdir(to, 0777))
		r = save_failed(s, to);
	while (r == 0 && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
		    snprintf(source, sizeof(source), "%s/%s", from, e->d_name) >= (int)sizeof(source) ||
		    snprintf(target, sizeof(target), "%s/%s", to, e->d_name) >= (int)sizeof(target) ||
		    lstat(source, &st))
			continue;
		if (S_ISDIR(st.st_mode) && strcmp(e->d_name, "index") != 0 && depth < DEPTH_MAX)
			r = copy_directory(s, source, target, depth + 1);
		/* A buffer that had nothing to write is there, too: otherwise it would seem to be missing. */
		else if (S_ISREG(st.st_mode) &&
		         (st.st_mtime >= s->since || !st.st_size || !strcmp(e->d_name, "metadata")))
			r = copy_file(s, source, target);
	}
	closedir(d);
	return r;
}

int bsv_live_save(const char *from, const char *to, unsigned seconds, size_t *ret_bytes, struct bsa_err *err)
{
	struct saving s = { .since = time(NULL) - (time_t)seconds, .err = err };
	int r = copy_directory(&s, from, to, 0);

	if (r < 0)
		bsv_remove_tree(to);
	*ret_bytes = s.bytes;
	return r;
}
