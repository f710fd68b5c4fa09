/* nnburst-fmq -- what a fast message queue costs on this machine, and what the queues of a process are doing. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sys.h"
#include "nnb/fmq.h"
#include "options/narrow.h"
#include "options/options.h"
#include "queue.h"

enum { DONE = 0, USAGE = 2, INPUT = 4, ENVIRONMENT = 5 };

static const struct program program = {
	.name = "nnburst-fmq",
	.manual = "nnburst-fmq(1), which explains the columns",
	.version = BURSTSCOPE_VERSION,
	.usage = "measure      measure a round trip through two queues\n"
		 "show PID...  print the queues of a process, and who waits",
	.about = "Measure fast message queues, or look at those of a process.",
	.statuses = "0 done, 2 wrong usage, 4 no such process, or no permission to look at it, 5 environment.",
	.operand_words = "measure show",
};

/* ---- measure ---- */

enum { TRIPS = 2000, WARM_UP = 200, MESSAGE = 64, PATIENCE_NS = 2000000000 };

struct pair {
	struct nnb_fmq *request, *result;
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* The other process: attach to what comes over the socket, and send back every message. */
static int echo_loop(int sock, int cpu, uint64_t window)
{
	struct nnb_fmq_attach how = { .elem_size = MESSAGE, .keep_counters = true, .window_ns = window };
	struct nnb_fmq *q[2];
	char message[MESSAGE];

	stay_on(cpu);
	for (int i = 0; i < 2; i++) {
		struct nnb_fmq_desc d;

		if (nnb_fmq_desc_recv(sock, &d) || nnb_fmq_attach(&q[i], &d, &how))
			return 1;
		nnb_fmq_desc_close(&d);
	}
	for (int i = 0; i < WARM_UP + TRIPS; i++)
		if (nnb_fmq_read_blocking(q[0], message, 1, PATIENCE_NS) ||
		    nnb_fmq_write_blocking(q[1], message, 1, PATIENCE_NS))
			return 1;
	return 0;
}

static pid_t start_echo(struct pair *p, int cpu, uint64_t window)
{
	struct nnb_fmq_desc d;
	int sock[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(echo_loop(sock[1], cpu, window));
	}
	nnb_fmq_describe(p->request, &d);
	if (pid > 0 && nnb_fmq_desc_send(sock[0], &d) == 0) {
		nnb_fmq_describe(p->result, &d);
		nnb_fmq_desc_send(sock[0], &d);
	}
	close(sock[0]);
	close(sock[1]);
	return pid;
}

static int sample_by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* 0 and the median, or -errno. */
static int round_trips(struct pair *p, uint64_t *ret_ns)
{
	static uint64_t ns[TRIPS];
	char message[MESSAGE] = "ping";
	int r = 0;

	for (int i = -WARM_UP; i < TRIPS && !r; i++) {
		uint64_t start = nnb__now();

		r = nnb_fmq_write_blocking(p->request, message, 1, PATIENCE_NS);
		if (!r)
			r = nnb_fmq_read_blocking(p->result, message, 1, PATIENCE_NS);
		if (i >= 0)
			ns[i] = nnb__now() - start;
	}
	qsort(ns, TRIPS, sizeof(ns[0]), sample_by_value);
	*ret_ns = ns[TRIPS / 2];
	return r == NNB_FMQ_TIMED_OUT ? -ETIMEDOUT : r;
}

/* Median round trip between @mine and @other. -errno on failure; nothing is left behind. */
static int measure_one(uint64_t window, int mine, int other, uint64_t *ret_ns, struct nnb_fmq_waited *ret_waited)
{
	struct nnb_fmq_config c = { MESSAGE, 64, NNB_FMQ_SYNCHRONIZED, .event_flag = true, .window_ns = window };
	struct pair p = { 0 };
	int status;
	pid_t pid;
	int r;

	r = nnb_fmq_new(&p.request, &c);
	if (!r)
		r = nnb_fmq_new(&p.result, &c);
	if (!r) {
		stay_on(mine);
		pid = start_echo(&p, other, window);
		r = pid < 0 ? -errno : round_trips(&p, ret_ns);
		nnb_fmq_waited(p.result, NNB_FMQ_READER, NULL, ret_waited);
		if (pid > 0) {
			if (r)
				kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
		}
	}
	nnb_fmq_free(p.request);
	nnb_fmq_free(p.result);
	return r;
}

static int measure_all(void)
{
	static const struct {
		const char *name;
		uint64_t window;
	} windows[] = {
		{ "polling", NNB_FMQ_WINDOW_ALWAYS },
		{ "sleeping", NNB_FMQ_WINDOW_NONE },
		{ "default", NNB_FMQ_WINDOW_AUTO },
	};
	int cpu[2] = { 0, 0 }, n_cpus = 0;
	cpu_set_t set;
	struct nnb_fmq_waited waited;
	uint64_t ns = 0;
	int r;

	/* the first cpus that this process may use, at most two */
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE && n_cpus < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[n_cpus++] = i;

	printf("waking a sleeper on another cpu    %8.2f us\n", (double)nnb_fmq_wake_cost() / 1e3);
	printf("so a queue polls for               %8.2f us before it sleeps, unless told otherwise\n\n",
	       (double)nnb_fmq_wake_cost() / 1e3);
	printf("round trip of %d bytes between two processes, median of %d\n\n", MESSAGE, TRIPS);
	printf("%-10s %-10s %12s %12s %10s\n", "cpus", "waiting", "p50 us", "polled ms", "sleeps");
	for (int apart = n_cpus - 1; apart >= 0; apart--)
		for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
			r = measure_one(windows[i].window, cpu[0], cpu[apart], &ns, &waited);
			if (r) {
				fprintf(stderr, "nnburst-fmq: measuring %s on %s: %s\n", windows[i].name,
				        apart ? "two cpus" : "one cpu", strerror(-r));
				return ENVIRONMENT;
			}
			printf("%-10s %-10s %12.2f %12.2f %10" PRIu64 "\n", apart ? "two" : "one", windows[i].name,
			       (double)ns / 1e3, (double)waited.spun_ns / 1e6, waited.wakeups);
		}
	return DONE;
}

/* ---- show ---- */

/* A queue's words as they were at one look. Read, not mapped: a stranger's file may shrink meanwhile. */
struct look {
	struct nnb_fmq_room room;
	uint64_t rd, wr;
	uint32_t flag;
};

static bool read_at(int fd, void *to, size_t n, uint64_t at)
{
	return pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* Find the waiting room: it is on a line of its own near the start. */
static bool queue_look_at(int fd, struct look *ret)
{
	for (uint64_t at = LINE; at < (uint64_t)LINE * 8; at += LINE) {
		if (!read_at(fd, &ret->room, sizeof(ret->room), at))
			return false;
		if (ret->room.magic == NNB_FMQ_ROOM_MAGIC)
			return read_at(fd, &ret->rd, sizeof(ret->rd), ret->room.offset[NNB_FMQ_READ_COUNTER]) &&
			       read_at(fd, &ret->wr, sizeof(ret->wr), ret->room.offset[NNB_FMQ_WRITE_COUNTER]) &&
			       read_at(fd, &ret->flag, sizeof(ret->flag), ret->room.offset[NNB_FMQ_EVENT_FLAG]);
	}
	return false;
}

static const char *cpu_name(uint32_t published, char buf[16])
{
	if (!published)
		return "-";
	snprintf(buf, 16, "%" PRIu32, published - 1);
	return buf;
}

/* The bits that a thread sleeps on: it clears them before it sleeps, and the peer sets them. */
static const char *awaited_bits(const struct look *l)
{
	bool data = !(l->flag & NNB_FMQ_NOT_EMPTY);
	bool room = !(l->flag & NNB_FMQ_NOT_FULL) && l->wr != l->rd; /* clear from the start, too */

	if (!l->room.sleepers || !l->room.offset[NNB_FMQ_EVENT_FLAG] || (!data && !room))
		return "-";
	return data && room ? "both" : data ? "data" : "room";
}

/* The queues of a process printed so far, because a process may hold several fds of one queue. */
struct shown {
	uint64_t *inodes;
	size_t n;
};

/* Note the inode. True the first time. */
static bool first_time(struct shown *shown, uint64_t inode)
{
	uint64_t *more;

	for (size_t i = 0; i < shown->n; i++)
		if (shown->inodes[i] == inode)
			return false;
	more = realloc(shown->inodes, (shown->n + 1) * sizeof(*more));
	if (more) {
		shown->inodes = more;
		more[shown->n++] = inode;
	}
	return true;
}

/* Print the queue behind one fd of a process, if it is one. */
static void show_fd(const char *dir, const char *name, struct shown *shown)
{
	static const char memfd[] = "/memfd:" NNB_FMQ_MEMFD_NAME;
	char path[64 + 1 + NAME_MAX + 1], target[64]; /* the directory, and a name in it */
	struct look l;
	struct stat st;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n < (ssize_t)strlen(memfd) || strncmp(target, memfd, strlen(memfd)))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && queue_look_at(fd, &l) && first_time(shown, st.st_ino)) {
		bool synchronized = l.room.flavour == NNB_FMQ_SYNCHRONIZED;
		uint64_t quantum = l.room.quantum ? l.room.quantum : 1;
		uint64_t unread = l.wr - l.rd;
		char writer[16], reader[16], state[32];

		if (!synchronized)
			snprintf(state, sizeof(state), "-");
		else if (unread > l.room.ring_bytes || l.wr % quantum || l.rd % quantum)
			snprintf(state, sizeof(state), "spoilt");
		else
			snprintf(state, sizeof(state), "%" PRIu64, unread / quantum);
		printf("%4s\v%8" PRIu64 "\v%-6s\v%8" PRIu64 "\v%8" PRIu64 "\v%8s\v%12" PRIu64 "\v%8" PRIu32
		       "\v%8s\v%6s\v%6s\n",
		       name, st.st_ino, synchronized ? "sync" : "unsync", quantum, l.room.ring_bytes / quantum, state,
		       l.wr / quantum, (uint32_t)l.room.sleepers, awaited_bits(&l),
		       cpu_name(l.room.cpu[NNB_FMQ_WRITER], writer), cpu_name(l.room.cpu[NNB_FMQ_READER], reader));
	}
	close(fd);
}

static int show_process(const char *pid)
{
	struct shown shown = { 0 };
	struct narrow fitted;
	struct dirent *e;
	char path[64];
	DIR *dir;

	if (!*pid || strspn(pid, "0123456789") != strlen(pid) || strlen(pid) > 10) {
		fprintf(stderr, "nnburst-fmq: '%s' is no process id\n", pid);
		return USAGE;
	}
	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	dir = opendir(path);
	if (!dir) {
		fprintf(stderr, "nnburst-fmq: process %s: %s\n", pid,
		        errno == ENOENT ? "there is none" : strerror(errno));
		return INPUT;
	}
	narrow_begin(&fitted);
	printf("process %s:\n%4s\v%8s\v%-6s\v%8s\v%8s\v%8s\v%12s\v%8s\v%8s\v%6s\v%6s\n", pid, "fd", "inode", "kind",
	       "element", "capacity", "unread", "written", "sleepers", "awaited", "wr cpu", "rd cpu");
	while ((e = readdir(dir)))
		show_fd(path, e->d_name, &shown);
	closedir(dir);
	if (!shown.n)
		printf("   none\n");
	free(shown.inodes);
	return narrow_end(&fitted) ? DONE : ENVIRONMENT;
}

int main(int argc, char **argv)
{
	int first, status = options_read(&program, NULL, argc, argv, &first);
	const char *command = status == OPTIONS_READ && first < argc ? argv[first] : NULL;
	bool measures = command && !strcmp(command, "measure"), shows = command && !strcmp(command, "show");

	if (status != OPTIONS_READ)
		return status;
	if (!command)
		return options_wrong(&program, "expected measure, or show and a process");
	if (!measures && !shows)
		return options_wrong(&program, "no command '%s'", command);
	if (measures && first + 1 < argc)
		return options_wrong(&program, "unexpected argument '%s'", argv[first + 1]);
	if (shows && first + 1 == argc)
		return options_wrong(&program, "show: expected the id of a process");
	status = measures ? measure_all() : DONE;
	for (int i = first + 1; i < argc && status == DONE; i++)
		status = show_process(argv[i]);
	return status ? status : options_written(&program);
}
