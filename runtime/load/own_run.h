/*
 * own_run.h -- a first run of a person's own model: a scenario of one app, a service for as long as it takes, and a recording of it.
 */
#ifndef LOAD_OWN_RUN_H
#define LOAD_OWN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "nnb/status.h"

/*
 * The scenario of one app that runs @model by bursts, one after the other, for two seconds: its text (free). NULL: there is no such
 * file, or its path is too long, which is in @reason.
 */
char *load_own_scenario(const char *model, struct nnb_reason *reason);

/* nnburstd at a socket of its own, below /tmp. All zeroes are none. */
struct load_service {
	char dir[32], socket[48];
	pid_t pid;
};

/* 0, once it listens; -errno, with a reason. It gets SIGTERM when this process ends, however that ends. */
int load_service_start(struct load_service *service, struct nnb_reason *reason);
void load_service_stop(struct load_service *service);

/*
 * Have burstscope record "nnburst-load ARGV...", into @into or a name after the model, and say what the bursts cost. @socket: record the
 * service there alone; NULL: the run has a service of its own. Returns what this process is to end with.
 */
int load_record(const char *model, const char *into, const char *socket, char *const *argv);

#endif
