/* daemon.h -- nnburstd for a benchmark: a process of its own on a socket of its own, gone when the benchmark is. */
#ifndef DAEMON_H
#define DAEMON_H

#include <stdint.h>
#include <sys/types.h>

struct daemon {
	pid_t pid;
	char dir[32], socket[64];
};

/* Each failure here ends the run. It serves when this returns. Options: a NULL ends them; every process is an app. */
void daemon_start(struct daemon *d, const char *program, const char *const options[]);
void daemon_stop(struct daemon *d);

/* The use of a process so far: ns of cpu, and how often one of its threads gave a cpu up or lost it. */
uint64_t cpu_ns(pid_t pid);
uint64_t switches(pid_t pid);

#endif
