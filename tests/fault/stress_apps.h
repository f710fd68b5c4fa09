/*
 * stress_apps.h -- a service, and apps that work on it until the test kills them or calls them off. An app is a child
 * process; the test replaces a random one again and again, and may kill an app in any step, even at its start.
 */
#ifndef FAULT_STRESS_APPS_H
#define FAULT_STRESS_APPS_H

#include "fault/stress_length.h"
#include "service_helpers.h"

enum { STRESS_APPS_MAX = 8 };

/* ---- in the test ---- */

struct stress_app {
	struct child child;
	int line;   /* calls the app off, and brings its report */
	bool works; /* the app has reported that it runs */
};

struct stress_crowd {
	struct service s;
	struct stress_app apps[STRESS_APPS_MAX];
	unsigned n, started, killed;
	int shared_fd; /* a file that all apps inherit; -1: no file */
	uint64_t seed;
};

/* Start the app at @i. Its argument is that of stress_app_read(). */
void stress_app_start(struct stress_crowd *c, unsigned i);

void stress_app_kill(struct stress_crowd *c, unsigned i);

/*
 * Call the app at @i off, and fail unless it exits with 0: so an app that may have failed is called off, not killed.
 * Its report, of @bytes, goes to @report.
 */
void stress_app_end(struct stress_crowd *c, unsigned i, void *report, size_t bytes);

/* Let operations take another time, wait for up to @most_ns, and replace a random app. */
void stress_crowd_step(struct stress_crowd *c, uint64_t most_ns);

/* ---- in an app ---- */

struct stress_argument {
	int line, shared_fd;
	unsigned seat, number; /* its place in the crowd; its number among all apps that were started, from 1 */
};

/* False: @text is no argument of stress_app_start(). */
bool stress_app_read(struct stress_argument *ret, const char *text);

/* Wait for up to 100 ms for the test to call this app off. */
bool stress_app_is_called_off(int line);

/* Exit if a thread has waited for longer than PATIENCE, @since the beginning of its execution. */
void stress_app_check_wait(uint64_t since);

#endif
