/*
 * tracing_app.c SOCKET FD -- the app of a pair (pair.h): it does what is requested over FD, with the service of
 * SOCKET. A program of its own, so that a build without tracing has one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "app.h"
#include "bench.h"
#include "mobilenet.h"
#include "pair.h"
#include "peers.h"

enum { TINY = 16, TICK_NS = 1000000, SECOND_NS = 1000000000 };

static void sleep_until(uint64_t ns)
{
	const struct timespec t = { .tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

/* Those that have come due, every tick. */
static void run_paced(struct user *u, uint32_t n, uint32_t per_second)
{
	uint64_t start = bench_now(), due;
	uint32_t done = 0;

	for (uint64_t tick = 1; done < n; tick++) {
		sleep_until(start + tick * TICK_NS);
		due = (bench_now() - start) * per_second / SECOND_NS;
		for (; done < n && done < due; done++)
			run_burst(u);
	}
}

static double batch(struct user *u, const struct pair_order *o)
{
	uint64_t start = bench_now();

	if (o->per_second)
		run_paced(u, o->batch, o->per_second);
	else
		for (uint32_t i = 0; i < o->batch; i++)
			run_burst(u);
	return (double)(bench_now() - start) / o->batch;
}

static void obey(const struct pair_order *o, const struct app *a, double *ret)
{
	struct user u = { 0 };

	user_pools(&u, a);
	user_burst(&u, a, o->window_ns);
	for (uint32_t i = 0; i < o->warm_up; i++)
		run_burst(&u);
	for (uint32_t i = 0; i < o->batches; i++)
		ret[i] = batch(&u, o);
	user_close(&u);
}

enum { WIDTHS = 5 };

static struct app apps[WIDTHS]; /* those that were asked for */

static const struct app *app_of(const char *socket, uint32_t width)
{
	struct app *a = &apps[width % WIDTHS];
	struct nnb_model *model;

	if (a->client)
		return a;
	model = width ? mobilenet_new_wide(width) : copy_model(TINY);
	app_open(a, socket, model, width ? MOBILENET_IN_BYTES : TINY, width ? MOBILENET_OUT_BYTES : TINY);
	nnb_model_free(model);
	return a;
}

int main(int argc, char **argv)
{
	struct pair_order o;
	double *times;
	int sock;

	if (argc != 3)
		return 2;
	sock = atoi(argv[2]);
	app_of(argv[1], 0);
	write_fully(sock, "", 1);
	while (recv(sock, &o, sizeof(o), MSG_WAITALL) == sizeof(o)) {
		times = calloc(o.batches, sizeof(*times));
		if (!times)
			die("memory");
		obey(&o, app_of(argv[1], o.mobilenet), times);
		write_fully(sock, times, o.batches * sizeof(*times));
		free(times);
	}
	for (int i = 0; i < WIDTHS; i++)
		if (apps[i].client)
			app_close(&apps[i]);
	return 0;
}
