/*
 * spellings.h -- how a user may write a duration, and which known word the programs suggest for a mistyped one.
 * The programs of runtime and viewer-cli share these rows.
 */
#ifndef NNB_TESTS_SPELLINGS_H
#define NNB_TESTS_SPELLINGS_H

#include <stdint.h>

enum { REFUSED = -1 };

static const struct {
	const char *text;
	int64_t ns; /* a duration; REFUSED: an error */
} durations[] = {
	{ "5ns", 5 },
	{ "40us", 40000 },
	{ "200ms", 200000000 },
	{ "1s", 1000000000 },
	{ "1.5s", 1500000000 },
	{ "2min", 120000000000 },
	{ "1.5min", 90000000000 },
	{ "8h", 28800000000000 },
	{ "0s", 0 },
	{ "007ms", 7000000 },
	{ "0.1us", 100 },
	{ "0.4ns", 0 },
	{ "0.5ns", 1 },
	{ "0.00000000000000000001s", 0 },
	{ "9007199254740993ns", 9007199254740993 }, /* no double has this number */
	{ "4611686018427387904ns", INT64_C(1) << 62 },
	{ "4611686018427387905ns", REFUSED },
	{ "1281023.8h", 4611685680000000000 },
	{ "1281023.9h", REFUSED },
	{ "99999999999999999999ns", REFUSED },
	{ "99999999999999999999s", REFUSED },
	{ "", REFUSED },
	{ "5", REFUSED },
	{ "ms", REFUSED },
	{ "5 ms", REFUSED },
	{ " 5ms", REFUSED },
	{ "5ms ", REFUSED },
	{ "5msms", REFUSED },
	{ "5mss", REFUSED },
	{ "5MS", REFUSED },
	{ "5d", REFUSED },
	{ "5m", REFUSED }, /* ambiguous: 5ms or 5min */
	{ "1.5m", REFUSED },
	{ "+5ms", REFUSED },
	{ "-5ms", REFUSED },
	{ "-0", REFUSED },
	{ "-0ms", REFUSED },
	{ ".5s", REFUSED },
	{ "1.s", REFUSED },
	{ ".s", REFUSED },
	{ "1.2.3ms", REFUSED },
	{ "1,5s", REFUSED },
	{ "0x10ms", REFUSED },
	{ "1e3s", REFUSED },
	{ "nan", REFUSED },
	{ "nans", REFUSED },
	{ "inf", REFUSED },
	{ "infs", REFUSED },
};

static const char *const known_words[] = { "summary", "latency", "sql", "preemptions", "slots" };

static const struct {
	const char *word, *nearest; /* nearest: or NULL */
} mistyped[] = {
	{ "sumary", "summary" },
	{ "lantency", "latency" },
	{ "sqk", "sql" },
	{ "preempt", "preemptions" },
	{ "slot", "slots" },
	{ "x", NULL },
	{ "", NULL },
	{ "frobnicate", NULL },
	{ "a-word-that-is-longer-than-any-which-is-known", NULL },
};

#endif
