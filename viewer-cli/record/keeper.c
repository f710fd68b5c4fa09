/*
 * keeper.c -- shares a session daemon among processes by locks on one file, and ends it in a
 * process of its own.
 *
 * LOCKS  The locks belong to open file descriptions, so the kernel releases them when a process
 *        ends, for whatever reason. USERS: each process that uses the daemon shares it. The keeper
 *        holds it alone while it ends the daemon, so a process that comes meanwhile waits, and
 *        starts another daemon. KEEPER: the keeper holds it for its life. START: a process holds it
 *        while it starts a daemon. A keeper releases KEEPER before USERS, so a process that gets
 *        USERS afterwards sees that there is no keeper.
 * FILE   It has the pid of the daemon's process, when that process began, and its pid namespace,
 *        because pids are reused. A file from an earlier boot names a process that does not run.
 * CRASH  The process that becomes the daemon writes itself to the file before it does so, and holds
 *        USERS until then: so the file names each daemon that burstscope has started. If the keeper
 *        is killed, the next burstscope that begins or stops using the daemon starts another
 *        keeper. A session of a process that was killed has no owner: it does not keep the daemon
 *        alive, and the keeper ends it while others use the daemon.
 */
#include "record/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/programs.h"
#include "record/scratch.h"
#include "record/session.h"
#include "record/triggers.h"

enum place { USERS, KEEPER, START };

enum use { UNUSED, USED, UNKNOWN };

enum {
	LOOK_MS = 20,
	NOTE_BYTES = 80,     /* bytes of the file: three numbers, of 20 digits each at most, and blanks */
	PATIENCE_MS = 40000, /* longer than a daemon that hangs is waited for before it is killed */
	ENDS_MS = 30000,     /* time for a daemon to end, or to report its users */
	WRITTEN_MS = 10000,  /* the same, if everything that it recorded is in files */
	ASK_MS = 1000        /* period in which the daemon is asked whose sessions there are */
};

struct noted {
	long pid; /* 0: the file names no process */
	unsigned long long began, space;
};

static void wait_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

/* ---- the file ---- */

bool bsv_keeper_directory(char ret[PATH_MAX])
{
	const char *own = getenv("LTTNG_HOME"), *home = own && *own ? own : getenv("HOME");
	int n = getuid() ? snprintf(ret, PATH_MAX, "%s/.lttng", home ? home : "")
	                 : snprintf(ret, PATH_MAX, "/var/run/lttng");

	return n < PATH_MAX && (!getuid() || (home && *home == '/'));
}

static struct noted read_noted(int fd)
{
	struct noted n = { 0 };
	char text[NOTE_BYTES + 1];
	ssize_t got = pread(fd, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = 0;
	if (sscanf(text, "%ld %llu %llu", &n.pid, &n.began, &n.space) != 3 || n.pid <= 0)
		return (struct noted){ 0 };
	return n;
}

static bool daemon_runs(const struct noted *n)
{
	return n->pid && n->space && n->space == bsv_pid_namespace() && bsv_process_runs(n->pid, n->began);
}

/* The size of the file never changes, so a write that fails leaves the note that was there. */
int bsv_keeper_note(int fd)
{
	struct noted before = read_noted(fd);
	char text[NOTE_BYTES + 1];
	ssize_t n;

	if (daemon_runs(&before))
		return 1;
	snprintf(text, sizeof(text), "%-20ld %-20llu %-20llu%*s", (long)getpid(), bsv_process_began(getpid()),
	         bsv_pid_namespace(), NOTE_BYTES - 62, "\n");
	n = pwrite(fd, text, NOTE_BYTES, 0);
	if (n < 0)
		return -errno;
	return n == NOTE_BYTES ? 0 : -ENOSPC;
}

/* ---- locks ---- */

static struct flock lock_at(enum place place, int type)
{
	return (struct flock){ .l_type = (short)type, .l_whence = SEEK_SET, .l_start = place, .l_len = 1 };
}

static bool lock_now(int fd, enum place place, int type)
{
	struct flock lock = lock_at(place, type);

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/* Wait for the lock, but go on without it after PATIENCE_MS: no process hangs because another one does. */
static void lock_soon(int fd, enum place place, int type)
{
	for (int i = 0; !lock_now(fd, place, type) && i < PATIENCE_MS / LOOK_MS; i++)
		wait_ms(LOOK_MS);
}

/* The lock that other processes hold there: F_RDLCK, F_WRLCK; F_UNLCK: none. */
static int locked_by_others(int fd, enum place place)
{
	struct flock lock = lock_at(place, F_WRLCK);

	return fcntl(fd, F_OFD_GETLK, &lock) ? F_UNLCK : lock.l_type;
}

void bsv_keeper_begin_start(int fd)
{
	lock_soon(fd, START, F_WRLCK);
}

void bsv_keeper_end_start(int fd)
{
	lock_now(fd, START, F_UNLCK);
}

/* ---- the keeper ---- */

/* Does the daemon have a session or a trigger that does not belong to a burstscope that has ended? */
static enum use daemon_use(const struct bsv_lttng *lttng)
{
	struct lttng_session *sessions = NULL;
	int n = lttng->list_sessions(&sessions), triggers;
	bool used = false;

	for (int i = 0; i < n; i++)
		used |= !bsv_session_is_stale(sessions[i].name);
	free(sessions);
	if (used)
		return USED;
	triggers = bsv_triggers_used(lttng);
	if (triggers > 0)
		return USED;
	return n < 0 || triggers < 0 ? UNKNOWN : UNUSED;
}

unsigned bsv_keeper_sweep(const struct bsv_lttng *lttng)
{
	bsv_triggers_sweep(lttng);
	return bsv_session_sweep(lttng);
}

/*
 * The session daemon waits for its consumer daemons, and these wait until each program has closed
 * their buffers. A program that is stopped never does.
 */
static void end_daemon(const struct noted *n, const struct bsv_lttng *lttng)
{
	bool is_written = bsv_session_none(lttng);
	int most_ms = is_written ? WRITTEN_MS : ENDS_MS;

	if (daemon_runs(n))
		kill((pid_t)n->pid, SIGTERM);
	for (int i = 0; daemon_runs(n) && i < most_ms / LOOK_MS; i++) {
		if (is_written && i == BSV_CONSUMERS_END_MS / LOOK_MS)
			bsv_programs_end_consumers((pid_t)n->pid);
		wait_ms(LOOK_MS);
	}
	if (daemon_runs(n)) /* the daemon hangs */
		kill((pid_t)n->pid, SIGKILL);
}

static void note_alarm(int signal)
{
	(void)signal; /* the signal interrupts a system call, and does nothing more */
}

/*
 * Wait until no process uses the daemon, for ASK_MS at most. An alarm that comes before the wait
 * begins is missed, so it is repeated. 1: no process uses it; 0: others do; negative: the lock
 * failed.
 */
static int wait_alone(int fd)
{
	static const struct itimerval each = { .it_interval.tv_usec = LOOK_MS * 1000,
		                               .it_value.tv_sec = ASK_MS / 1000 },
				      none = { .it_value.tv_sec = 0 };
	struct flock alone = lock_at(USERS, F_WRLCK);
	int r;

	setitimer(ITIMER_REAL, &each, NULL);
	r = fcntl(fd, F_OFD_SETLKW, &alone) ? -errno : 1;
	setitimer(ITIMER_REAL, &none, NULL);
	return r == -EINTR ? 0 : r;
}

static void keep_daemon(int fd, const struct bsv_lttng *lttng)
{
	int unknown_ms = 0; /* how long the daemon has not answered who uses it */
	int alone;
	struct noted n;
	enum use use;

	if (!lock_now(fd, KEEPER, F_WRLCK))
		return; /* another keeper has begun */
	while ((alone = wait_alone(fd)) >= 0) {
		n = read_noted(fd);
		if (!daemon_runs(&n))
			break;
		if (!alone) {
			bsv_keeper_sweep(lttng);
			continue;
		}
		use = daemon_use(lttng);
		unknown_ms = use == UNKNOWN ? unknown_ms + ASK_MS : 0;
		if (use == UNUSED || unknown_ms > ENDS_MS) {
			end_daemon(&n, lttng);
			break;
		}
		lock_now(fd, USERS, F_UNLCK);
		if (use == USED)
			bsv_keeper_sweep(lttng);
		wait_ms(ASK_MS);
	}
	lock_now(fd, KEEPER, F_UNLCK);
}

void bsv_keeper_begin(int fd, const struct bsv_lttng *lttng)
{
	int null, own;
	char path[40];
	sigset_t none;
	pid_t pid;

	if (locked_by_others(fd, KEEPER) != F_UNLCK)
		return;
	fflush(NULL);
	pid = fork();
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (pid)
		return;

	/* Become the keeper: a process without a terminal that keeps no file, pipe or directory of its parent open. */
	null = open("/dev/null", O_RDWR);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	own = open(path, O_RDWR | O_CLOEXEC); /* a descriptor of its own for the same file */
	if (null < 0)                         /* a container may lack /dev/null */
		null = memfd_create("nothing", MFD_CLOEXEC);
	if (null < 0 || own < 0 || setsid() < 0 || fork())
		_exit(0); /* makes init the parent of the keeper */
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = note_alarm }, NULL); /* no SA_RESTART */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "burstscope-keep");
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		dup2(null, i);
	dup2(own, 3);
	fcntl(3, F_SETFD, FD_CLOEXEC);
	if (close_range(4, ~0U, 0))
		for (int i = 4; i < 1024; i++)
			close(i);
	if (!chdir("/"))
		keep_daemon(3, lttng);
	_exit(0);
}

/* ---- those who use it ---- */

int bsv_keeper_share(void)
{
	char directory[PATH_MAX], path[PATH_MAX + 20];
	struct stat st;
	int fd;

	if (!bsv_keeper_directory(directory))
		return -1;
	mkdir(directory, getuid() ? 0700 : 0755); /* only the first daemon of a user makes it */
	snprintf(path, sizeof(path), "%s/burstscope.lock", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600); /* may be a pipe */
	if (fd < 0)
		return fd;
	/*
	 * Another user, who may write to the directory, could name any process of this user as the
	 * daemon to be ended.
	 */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid()) {
		close(fd);
		return -1;
	}
	lock_soon(fd, USERS, F_RDLCK);
	return fd;
}

bool bsv_keeper_look(int fd, const struct bsv_lttng *lttng)
{
	struct noted n = read_noted(fd);

	if (!daemon_runs(&n))
		return false;
	bsv_keeper_begin(fd, lttng);
	return true;
}

void bsv_keeper_leave(int fd, const struct bsv_lttng *lttng)
{
	bool ours = bsv_keeper_look(fd, lttng);
	struct noted n = read_noted(fd);

	lock_now(fd, USERS, F_UNLCK);
	for (int i = 0; ours && daemon_runs(&n) && i < PATIENCE_MS / LOOK_MS; i++) {
		if (locked_by_others(fd, USERS) == F_RDLCK)
			break;
		if (i % (ASK_MS / LOOK_MS) == 0 && daemon_use(lttng) == USED)
			break;
		/* By now a keeper that was started holds its lock. If none could be started: do its work here, once. */
		if (i == ASK_MS / LOOK_MS && locked_by_others(fd, KEEPER) == F_UNLCK && lock_now(fd, USERS, F_WRLCK)) {
			if (daemon_use(lttng) == UNUSED)
				end_daemon(&n, lttng);
			lock_now(fd, USERS, F_UNLCK);
		}
		wait_ms(LOOK_MS);
	}
	close(fd);
}
