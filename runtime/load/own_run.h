/*
 * own_run.h -- a first run of a person's own model: a scenario of one app, a service for as long as it takes, and a
 * recording of it.
 */
#ifndef LOAD_OWN_RUN_H
#define LOAD_OWN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "nnb/status.h"

/*
 * The scenario of one app that runs @model by bursts, one after the other, for two seconds: its text (free). NULL:
 * there is no such file, or its path is too long, which is in @reason.
 */
char *load_own_scenario(const char *model, struct nnb_reason *reason);

/* nnburstd at a socket of its own, below /tmp. All zeroes are none. */
struct load_service {
	char dir[32], socket[48];
	pid_t pid;
};

/*
 * 0, once the service listens; -errno, with a reason. The service gets SIGTERM when this process ends, for any
 * reason.
 */
int load_service_start(struct load_service *service, struct nnb_reason *reason);
void load_service_stop(struct load_service *service);

/*
 * Hold SIGINT, SIGTERM and SIGHUP, except those that are ignored, until they are released: so this process outlives
 * the programs that it has started, and removes what they leave. @ret_before: for load_signals_release, which
 * delivers a signal that no program was given.
 */
void load_signals_hold(sigset_t *ret_before);
void load_signals_release(const sigset_t *before);

/*
 * Have burstscope record "nnburst-load ARGV...", into @into or a name after the model, and print what the bursts
 * cost. @socket: of the service to be recorded; others are not. The signals are held; one of them ends the recording
 * early. Returns what this process is to end with.
 */
int load_record(const char *model, const char *into, const char *socket, char *const *argv);

#endif
