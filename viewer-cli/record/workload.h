/*
 * workload.h -- the recorded command, and the signals that end it and us.
 *
 * After bsv_signals_hold, signals stay pending until bsv_signals_next takes them: whatever runs in
 * between is not interrupted.
 */
#ifndef BSV_WORKLOAD_H
#define BSV_WORKLOAD_H

#include "bsa/err.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bsv_signals {
	sigset_t held, before;
	struct sigaction pipe_before;
};

/* SIGINT, SIGTERM, SIGHUP (those that were not ignored) and SIGCHLD. */
void bsv_signals_hold(struct bsv_signals *s);
void bsv_signals_release(struct bsv_signals *s);

/*
 * The next one, waited for so long at the most; 0: none came. @ret_typed: the terminal sent it, and
 * to the command as well.
 */
int bsv_signals_next(const struct bsv_signals *s, int ms, bool *ret_typed);

struct bsv_workload {
	bool apart;  /* in a session of its own, which Ctrl-C does not reach, and gone when we are */
	bool silent; /* the command's output is not shown */
	pid_t pid;   /* 0: not begun */
	bool ended;
	int status;          /* as of waitpid() */
	const char *told_as; /* report under this name that it is waited for; NULL: report nothing. Borrowed */
	int killed_after_ms; /* how long after it was asked to end we killed it; 0: we did not */
};

/* Is there such a program? BSA_E_USAGE: no. */
int bsv_workload_find(const char *name, struct bsa_err *err);

/* @argv ends with NULL. BSA_E_USAGE: it cannot be executed. */
int bsv_workload_start(struct bsv_workload *w, const char *const *argv, const struct bsv_signals *s,
                       struct bsa_err *err);

/* Has it ended? */
bool bsv_workload_ended(struct bsv_workload *w);

/*
 * Wait for the workload, and after a while kill it; report after a second that it is waited for. The caller has asked
 * it to end before. Signals shorten the wait. Does nothing if it was not begun.
 */
void bsv_workload_stop(struct bsv_workload *w, const struct bsv_signals *s);

/* The exit status as shells have it: 128 and the number of the signal, if one ended the workload. */
int bsv_workload_exit_status(const struct bsv_workload *w);

enum { BSV_WORKLOAD_TEXT = 128 };

/* "ended with 3", or how we killed it, into @to, which is returned. */
const char *bsv_workload_text(const struct bsv_workload *w, char to[BSV_WORKLOAD_TEXT]);

#endif
