/*
 * bench -- what every benchmark shares: samples, medians, ratios between interleaved rounds, bars, output.
 *
 * The machine is noisy, so nothing is compared across runs: each round measures every mode once, a ratio is
 * taken inside a round, and the median over the rounds is what counts. A bench is single-threaded where it
 * calls this.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench {
	const char *name;
	bool json;
	bool quick; /* a smoke run: few rounds, bars are shown and not judged */
	unsigned rounds;
	struct bench_row *rows;
	size_t n_rows;
	struct bench_ratio *ratios;
	size_t n_ratios;
	struct bench_figure *figures;
	size_t n_figures;
	struct bench_bar *bars;
	size_t n_bars;
};

/* Samples of one mode: single times for the percentiles, one median a round for the ratios. */
struct bench_row {
	char name[64];
	double *samples;   /* ns */
	double *tail;      /* ns; where samples are means of batches, single times for p99. Else unused */
	double *per_round; /* median of the round's samples */
	size_t n, n_tail, n_rounds, room, tail_room;
	size_t round_start; /* first sample of the round under way */
};

/* Read --json, --quick, --rounds N. Exits 2 on anything else. */
void bench_open(struct bench *b, const char *name, unsigned rounds, int argc, char **argv);

/* Add a mode. The index it returns is used below. */
size_t bench_row(struct bench *b, const char *name);

void bench_sample(struct bench *b, size_t row, double ns);
void bench_tail(struct bench *b, size_t row, double ns);
void bench_round_done(struct bench *b, size_t row);

/*
 * Add the ratio @num / @den, round by round, @den the smaller of two rows where @den2 is one (else SIZE_MAX).
 * Returns the median.
 */
double bench_ratio(struct bench *b, const char *name, size_t num, size_t den, size_t den2);

/* The same, but returns what the median is at most, with a certainty of 95 %. */
double bench_ratio_bound(struct bench *b, const char *name, size_t num, size_t den);

/* Add what is neither a time nor a ratio of two: one value a round. The index it returns is used below. */
size_t bench_figure(struct bench *b, const char *name);
void bench_figure_is(struct bench *b, size_t figure, double value);
double bench_figure_median(const struct bench *b, size_t figure);
double bench_figure_error(const struct bench *b, size_t figure); /* standard error of that median, about */
double bench_figure_bound(const struct bench *b, size_t figure); /* upper bound of that median, with 95 % certainty */

/* Judge @value: at most @bound, or at least @bound. */
void bench_at_most(struct bench *b, const char *name, double value, double bound);
void bench_at_least(struct bench *b, const char *name, double value, double bound);

/* Print an interval beside the bar that was added last, which is judged by its value alone. */
void bench_interval(struct bench *b, double low, double high);

/* Print all and free it. The exit status: 0, or 1 if a bar was missed. */
int bench_close(struct bench *b);

uint64_t bench_now(void);                       /* CLOCK_MONOTONIC ns */
void bench_pin(int cpu);                        /* this thread to one cpu; < 0: to all it may use */
double bench_median(const double *v, size_t n); /* v is left as it is */
double bench_percentile(const double *v, size_t n, unsigned percent);

/*
 * An upper bound of the median of that of which @v are @n samples, with a certainty of 95 %: an order statistic,
 * whatever the distribution. Of fewer than five samples it is the largest, and less certain.
 */
double bench_median_bound(const double *v, size_t n);

#endif
