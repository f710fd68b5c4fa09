/*
 * output.c -- writes a file under a temporary name beside its own, and renames it when it is whole.
 *
 * CONCURRENCY  A signal handler unlinks the file that is being written: its name is written before
 *              the handler is installed.
 */
#include "export/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/scoped.h"

/* A file that becomes @name when it is whole. */
struct output {
	FILE *to;
	char path[PATH_MAX];
};

static char unfinished[PATH_MAX]; /* for who stops us */

static void remove_unfinished(int number)
{
	unlink(unfinished);
	raise(number); /* SA_RESETHAND: this ends the process when the handler returns */
}

static void output_fini(struct output *o)
{
	if (o->to)
		fclose(o->to);
	if (*o->path)
		unlink(o->path);
}

static int output_open(struct output *o, const char *name, struct bsa_err *err)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
	struct sigaction way = { .sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND }, before;
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (snprintf(o->path, sizeof(o->path), "%s.XXXXXX", name) >= (int)sizeof(o->path)) {
		*o->path = 0;
		return bsa_fail(err, BSA_E_USAGE, "-o: too long a name");
	}
	fd = mkstemp(o->path);
	if (fd < 0) {
		*o->path = 0;
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	}
	/* Remove the unfinished file if a signal ends the process. */
	snprintf(unfinished, sizeof(unfinished), "%s", o->path);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(numbers[i], &way, NULL);
	fchmod(fd, 0666 & ~mask);
	o->to = fdopen(fd, "w");
	if (!o->to)
		close(fd);
	return o->to ? 0 : bsv_no_memory(err);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * A device or a pipe is written as it is: *target is what special_open must find there. Refuse a
 * pipe, a device or a link that another user has created: that user would read what is written, or
 * never read, so that the writer waits. The owner of the entry of the directory counts, and not the
 * owner of what it leads to: the pipe behind /dev/stdout may belong to the user who called sudo.
 */
static int output_is_special(const char *name, struct stat *target, struct bsa_err *err)
{
	struct stat entry;

	if (stat(name, target) || S_ISREG(target->st_mode))
		return false;
	if (lstat(name, &entry))
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	if (!S_ISLNK(entry.st_mode) && !is_same_file(&entry, target))
		return bsa_fail(err, BSA_E_ENV, "%s was replaced just now; try again", name);
	if (entry.st_uid && entry.st_uid != geteuid() && !S_ISDIR(target->st_mode))
		return bsa_fail(err, BSA_E_ENV, "%s is no regular file and belongs to another user; give another name",
		                name);
	return true;
}

enum { READER_MS = 2000, LOOK_MS = 20 };

/*
 * Open @target, a device or a pipe. A user who can write to its directory may have replaced it
 * meanwhile by a link to a file of this user. So opening truncates nothing, and the open file must
 * be @target. The open does not block, because a pipe without a reader would block it forever. If
 * the reader of a pipe ends, the write must fail with an error, and no signal may end this process.
 */
static int special_open(struct output *o, const char *name, const struct stat *target, struct bsa_err *err)
{
	struct stat st;
	int fd;

	/* A pipe that no program reads yet has a while to get its reader, so that both may be started together. */
	for (int ms = 0;; ms += LOOK_MS) {
		fd = open(name, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd >= 0 || errno != ENXIO || ms >= READER_MS)
			break;
		nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
	}
	if (fd < 0 && errno == ENXIO && !stat(name, &st) && S_ISFIFO(st.st_mode))
		return bsa_fail(err, BSA_E_ENV, "%s is a pipe that no program reads; start its reader first", name);
	if (fd < 0)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	if (fstat(fd, &st) || !is_same_file(&st, target)) {
		close(fd);
		return bsa_fail(err, BSA_E_ENV, "%s was replaced just now; try again", name);
	}
	if (S_ISFIFO(st.st_mode))
		signal(SIGPIPE, SIG_IGN);
	fcntl(fd, F_SETFL, 0);
	o->to = fdopen(fd, "w");
	if (!o->to)
		close(fd);
	return o->to ? 0 : bsv_no_memory(err);
}

bool bsv_output_is(const char *a, const char *b)
{
	struct stat as, bs;

	return !stat(a, &as) && !stat(b, &bs) && is_same_file(&as, &bs);
}

int bsv_output_write(const char *name, bsv_writes *writes, void *ctx, struct bsa_err *err)
{
	__attribute__((cleanup(output_fini))) struct output o = { 0 };
	struct stat target;
	bool fine;
	int r = output_is_special(name, &target, err);

	if (r < 0)
		return r;
	r = r ? special_open(&o, name, &target, err) : output_open(&o, name, err);
	if (r >= 0)
		r = writes(ctx, o.to, err);
	if (r < 0)
		return r;
	fine = !fflush(o.to) && !ferror(o.to);
	if (*o.path) {
		fine = fine && !fsync(fileno(o.to));
		fine = !fclose(o.to) && fine;
		o.to = NULL;
		fine = fine && !rename(o.path, name);
	}
	if (!fine)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", name, strerror(errno));
	*o.path = 0;
	return r;
}
