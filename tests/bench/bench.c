/* bench.c -- samples in, table or JSON out. See bench.h. */
#include "bench.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base.h"

struct bench_ratio {
	char name[80];
	double median, q1, q3, bound;
};

struct bench_figure {
	char name[80];
	double *values;
	size_t n, room;
};

struct bench_bar {
	char name[80];
	double value, bound;
	double low, high; /* if has_interval */
	bool at_least, pass, has_interval;
};

static void *grow(void *p, size_t n, size_t size)
{
	p = realloc(p, n * size);
	if (!p) {
		perror("bench");
		exit(5);
	}
	return p;
}

void bench_open(struct bench *b, const char *name, unsigned rounds, int argc, char **argv)
{
	*b = (struct bench){ .name = name, .rounds = rounds };
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			b->json = true;
		} else if (!strcmp(argv[i], "--quick")) {
			b->quick = true;
			b->rounds = 2;
		} else if (!strcmp(argv[i], "--rounds") && i + 1 < argc && atoi(argv[i + 1]) > 0) {
			b->rounds = (unsigned)atoi(argv[++i]);
		} else {
			fprintf(stderr, "bench_%s: '%s' is no option; there are --json, --quick, --rounds N\n", name,
			        argv[i]);
			exit(2);
		}
	}
}

size_t bench_row(struct bench *b, const char *name)
{
	b->rows = grow(b->rows, b->n_rows + 1, sizeof(*b->rows));
	b->rows[b->n_rows] = (struct bench_row){ 0 };
	snprintf(b->rows[b->n_rows].name, sizeof(b->rows[0].name), "%s", name);
	return b->n_rows++;
}

static void append(double **v, size_t *n, size_t *room, double x)
{
	if (*n == *room) {
		*room = *room ? 2 * *room : 256;
		*v = grow(*v, *room, sizeof(**v));
	}
	(*v)[(*n)++] = x;
}

void bench_sample(struct bench *b, size_t row, double ns)
{
	struct bench_row *r = &b->rows[row];

	append(&r->samples, &r->n, &r->room, ns);
}

void bench_tail(struct bench *b, size_t row, double ns)
{
	struct bench_row *r = &b->rows[row];

	append(&r->tail, &r->n_tail, &r->tail_room, ns);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The sample that is the @rank-th, from 1. */
static double ranked(const double *v, size_t n, size_t rank)
{
	double *sorted;
	double x;

	if (!n)
		return 0;
	sorted = grow(NULL, n, sizeof(*sorted));
	memcpy(sorted, v, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	x = sorted[rank - 1];
	free(sorted);
	return x;
}

/* Nearest rank. */
double bench_percentile(const double *v, size_t n, unsigned percent)
{
	return ranked(v, n, (n * percent + 99) / 100 ? (n * percent + 99) / 100 : 1);
}

double bench_median(const double *v, size_t n)
{
	return bench_percentile(v, n, 50);
}

/*
 * Each sample is below the true median as likely as above, so how many are below is binomial. The k-th is below only
 * if at least k are: the first k for which that is less likely than 5 % will do.
 */
double bench_median_bound(const double *v, size_t n)
{
	double exactly = pow(0.5, (double)n), below = exactly; /* P(k samples below), P(at most k) */
	size_t rank = 1;

	while (rank < n && below < 0.95) {
		exactly *= (double)(n - rank + 1) / (double)rank;
		below += exactly;
		rank++;
	}
	return ranked(v, n, rank);
}

void bench_round_done(struct bench *b, size_t row)
{
	struct bench_row *r = &b->rows[row];

	r->per_round = grow(r->per_round, r->n_rounds + 1, sizeof(*r->per_round));
	r->per_round[r->n_rounds++] = bench_median(r->samples + r->round_start, r->n - r->round_start);
	r->round_start = r->n;
}

static const struct bench_ratio *ratio(struct bench *b, const char *name, size_t num, size_t den, size_t den2)
{
	const struct bench_row *a = &b->rows[num];
	struct bench_ratio *r;
	double *v = grow(NULL, a->n_rounds, sizeof(*v));

	for (size_t i = 0; i < a->n_rounds; i++) {
		double d = b->rows[den].per_round[i];

		if (den2 != SIZE_MAX && b->rows[den2].per_round[i] < d)
			d = b->rows[den2].per_round[i];
		v[i] = a->per_round[i] / d;
	}
	b->ratios = grow(b->ratios, b->n_ratios + 1, sizeof(*b->ratios));
	r = &b->ratios[b->n_ratios++];
	snprintf(r->name, sizeof(r->name), "%s", name);
	r->median = bench_median(v, a->n_rounds);
	r->q1 = bench_percentile(v, a->n_rounds, 25);
	r->q3 = bench_percentile(v, a->n_rounds, 75);
	r->bound = bench_median_bound(v, a->n_rounds);
	free(v);
	return r;
}

double bench_ratio(struct bench *b, const char *name, size_t num, size_t den, size_t den2)
{
	return ratio(b, name, num, den, den2)->median;
}

double bench_ratio_bound(struct bench *b, const char *name, size_t num, size_t den)
{
	return ratio(b, name, num, den, SIZE_MAX)->bound;
}

size_t bench_figure(struct bench *b, const char *name)
{
	b->figures = grow(b->figures, b->n_figures + 1, sizeof(*b->figures));
	b->figures[b->n_figures] = (struct bench_figure){ 0 };
	snprintf(b->figures[b->n_figures].name, sizeof(b->figures[0].name), "%s", name);
	return b->n_figures++;
}

void bench_figure_is(struct bench *b, size_t figure, double value)
{
	struct bench_figure *f = &b->figures[figure];

	append(&f->values, &f->n, &f->room, value);
}

double bench_figure_median(const struct bench *b, size_t figure)
{
	return bench_median(b->figures[figure].values, b->figures[figure].n);
}

/* The deviation of a normal distribution which by its quartiles is as wide as this one. */
double bench_figure_error(const struct bench *b, size_t figure)
{
	const struct bench_figure *f = &b->figures[figure];
	double quartiles = bench_percentile(f->values, f->n, 75) - bench_percentile(f->values, f->n, 25);

	return f->n ? 1.2533 * quartiles / 1.349 / sqrt((double)f->n) : 0;
}

double bench_figure_bound(const struct bench *b, size_t figure)
{
	return bench_median_bound(b->figures[figure].values, b->figures[figure].n);
}

static void bar(struct bench *b, const char *name, double value, double bound, bool at_least)
{
	struct bench_bar *r;

	b->bars = grow(b->bars, b->n_bars + 1, sizeof(*b->bars));
	r = &b->bars[b->n_bars++];
	*r = (struct bench_bar){ .value = value, .bound = bound, .at_least = at_least };
	r->pass = at_least ? value >= bound : value <= bound;
	snprintf(r->name, sizeof(r->name), "%s", name);
}

void bench_at_most(struct bench *b, const char *name, double value, double bound)
{
	bar(b, name, value, bound, false);
}

void bench_at_least(struct bench *b, const char *name, double value, double bound)
{
	bar(b, name, value, bound, true);
}

void bench_interval(struct bench *b, double low, double high)
{
	struct bench_bar *r = &b->bars[b->n_bars - 1];

	r->low = low;
	r->high = high;
	r->has_interval = true;
}

/* "AMD EPYC, 2 cpus, Linux 6.18.44" */
static void describe_machine(char *ret, size_t size)
{
	char line[256], cpu[128] = "unknown cpu";
	FILE *f = fopen("/proc/cpuinfo", "re");
	struct utsname u;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "model name", 10) && strchr(line, ':')) {
			snprintf(cpu, sizeof(cpu), "%.*s", (int)strcspn(strchr(line, ':') + 2, "\n"),
			         strchr(line, ':') + 2);
			break;
		}
	if (f)
		fclose(f);
	uname(&u);
	snprintf(ret, size, "%s, %ld cpus, Linux %s", cpu, sysconf(_SC_NPROCESSORS_ONLN), u.release);
}

struct figures {
	double p50, p99, min;
};

static struct figures figures(const struct bench_row *r)
{
	const double *tail = r->n_tail ? r->tail : r->samples;
	size_t n_tail = r->n_tail ? r->n_tail : r->n;

	return (struct figures){ bench_percentile(r->samples, r->n, 50), bench_percentile(tail, n_tail, 99),
		                 bench_percentile(r->samples, r->n, 0) };
}

static void print_json(const struct bench *b, const char *machine)
{
	printf("{\"bench\":\"%s\",\"machine\":\"%s\",\"rounds\":%u,\"rows\":[", b->name, machine, b->rounds);
	for (size_t i = 0; i < b->n_rows; i++) {
		struct figures f = figures(&b->rows[i]);

		printf("%s{\"name\":\"%s\",\"n\":%zu,\"p50_ns\":%.1f,\"p99_ns\":%.1f,\"min_ns\":%.1f}", i ? "," : "",
		       b->rows[i].name, b->rows[i].n, f.p50, f.p99, f.min);
	}
	printf("],\"ratios\":[");
	for (size_t i = 0; i < b->n_ratios; i++)
		printf("%s{\"name\":\"%s\",\"value\":%.3f,\"spread\":[%.3f,%.3f]}", i ? "," : "", b->ratios[i].name,
		       b->ratios[i].median, b->ratios[i].q1, b->ratios[i].q3);
	printf("],\"figures\":[");
	for (size_t i = 0; i < b->n_figures; i++) {
		const struct bench_figure *f = &b->figures[i];

		printf("%s{\"name\":\"%s\",\"n\":%zu,\"value\":%.3f,\"spread\":[%.3f,%.3f]}", i ? "," : "", f->name,
		       f->n, bench_percentile(f->values, f->n, 50), bench_percentile(f->values, f->n, 25),
		       bench_percentile(f->values, f->n, 75));
	}
	printf("],\"bars\":[");
	for (size_t i = 0; i < b->n_bars; i++) {
		const struct bench_bar *r = &b->bars[i];

		printf("%s{\"name\":\"%s\",\"value\":%.3f,\"bound\":%.3f,\"is\":\"%s\",\"pass\":%s", i ? "," : "",
		       r->name, r->value, r->bound, r->at_least ? "at least" : "at most", r->pass ? "true" : "false");
		if (r->has_interval)
			printf(",\"interval\":[%.3f,%.3f]", r->low, r->high);
		printf("}");
	}
	printf("]}\n");
}

static void print_table(const struct bench *b, const char *machine)
{
	printf("bench %s: %u interleaved rounds; %s\n\n", b->name, b->rounds, machine);
	printf("%-40s %9s %12s %12s %12s\n", "mode", "n", "p50 ns", "p99 ns", "min ns");
	for (size_t i = 0; i < b->n_rows; i++) {
		struct figures f = figures(&b->rows[i]);

		printf("%-40s %9zu %12.1f %12.1f %12.1f\n", b->rows[i].name, b->rows[i].n, f.p50, f.p99, f.min);
	}
	printf("\n%-60s %8s   %s\n", "ratio", "median", "quartiles");
	for (size_t i = 0; i < b->n_ratios; i++)
		printf("%-60s %8.3f   %.3f .. %.3f\n", b->ratios[i].name, b->ratios[i].median, b->ratios[i].q1,
		       b->ratios[i].q3);
	if (b->n_figures)
		printf("\n%-60s %8s   %s\n", "figure", "median", "quartiles");
	for (size_t i = 0; i < b->n_figures; i++) {
		const struct bench_figure *f = &b->figures[i];

		printf("%-60s %8.3f   %.3f .. %.3f\n", f->name, bench_percentile(f->values, f->n, 50),
		       bench_percentile(f->values, f->n, 25), bench_percentile(f->values, f->n, 75));
	}
	printf("\n%-60s %8s   %s\n", "bar", "value", "bound");
	for (size_t i = 0; i < b->n_bars; i++) {
		const struct bench_bar *r = &b->bars[i];

		printf("%-60s %8.3f   %s %-6g  %s", r->name, r->value, r->at_least ? ">=" : "<=", r->bound,
		       r->pass ? "pass" : "MISSED");
		if (r->has_interval)
			printf("%*s %.3f .. %.3f", r->pass ? 2 : 0, "", r->low, r->high);
		printf("\n");
	}
}

int bench_close(struct bench *b)
{
	char machine[256];
	bool missed = false;

	describe_machine(machine, sizeof(machine));
	if (b->json)
		print_json(b, machine);
	else
		print_table(b, machine);
	for (size_t i = 0; i < b->n_bars; i++)
		missed |= !b->bars[i].pass;
	for (size_t i = 0; i < b->n_rows; i++) {
		free(b->rows[i].samples);
		free(b->rows[i].tail);
		free(b->rows[i].per_round);
	}
	for (size_t i = 0; i < b->n_figures; i++)
		free(b->figures[i].values);
	free(b->rows);
	free(b->ratios);
	free(b->figures);
	free(b->bars);
	return missed && !b->quick;
}

uint64_t bench_now(void)
{
	return now_ns();
}

void bench_pin(int cpu)
{
	static cpu_set_t allowed;
	static bool known;
	cpu_set_t set;

	if (!known) {
		sched_getaffinity(0, sizeof(allowed), &allowed);
		known = true;
	}
	CPU_ZERO(&set);
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), cpu >= 0 ? &set : &allowed);
}
