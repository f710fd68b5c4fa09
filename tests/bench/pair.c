/* pair.c -- see pair.h: the side of the benchmark. */
#include "pair.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nnb/fmq.h"
#include "peers.h"

static void start_app(struct pair *p, const char *program)
{
	char number[16], ready;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		die("a socket pair");
	snprintf(number, sizeof(number), "%d", pair[1]);
	fflush(NULL);
	p->app = fork();
	if (p->app < 0)
		die("fork");
	if (p->app == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(pair[1], F_SETFD, 0);
		execl(program, program, p->service.socket, number, (char *)NULL);
		die(program);
	}
	close(pair[1]);
	p->sock = pair[0];
	read_fully(p->sock, &ready, 1);
}

void pair_open(struct pair *p, const struct pair_config *c)
{
	const char *spin = c->window_ns == NNB_FMQ_WINDOW_ALWAYS ? "always"
	                   : c->window_ns == NNB_FMQ_WINDOW_NONE ? "none"
	                                                         : "auto";
	const char *const options[] = { "--driver", c->driver, "--spin", spin, NULL };

	setenv("NNBURST_TRACEPOINTS", c->provider, 1);
	daemon_start(&p->service, c->nnburstd, options);
	start_app(p, c->app);
	unsetenv("NNBURST_TRACEPOINTS");
	p->window_ns = c->window_ns;
}

static bool maps(pid_t pid, const char *name)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, name) != NULL;
	fclose(f);
	return found;
}

int pair_maps(const struct pair *p, const char *name)
{
	bool app = maps(p->app, name);

	return app == maps(p->service.pid, name) ? app : -1;
}

void pair_close(struct pair *p)
{
	close(p->sock);
	end_peer(p->app);
	daemon_stop(&p->service);
}

void pair_run(const struct pair *p, const struct pair_order *order, double *ret)
{
	struct pair_order o = *order;

	o.window_ns = p->window_ns;
	settle_all(p->service.pid, cpu_of(TWO_CPUS, SERVER));
	settle_all(p->app, cpu_of(TWO_CPUS, CLIENT));
	write_fully(p->sock, &o, sizeof(o));
	read_fully(p->sock, ret, o.batches * sizeof(*ret));
}
