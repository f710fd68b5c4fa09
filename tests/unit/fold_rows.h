/* fold_rows.h -- tables of scripts, and of what a fold is to make of them. */
#ifndef FOLD_ROWS_H
#define FOLD_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyzer/expect.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define N_OF(a) (sizeof(a) / sizeof((a)[0]))

struct fold_row {
	const char *name, *script, *wants;
	struct bsa_fold_options options;
};

static inline void fold_rows(const struct fold_row *rows, size_t n)
{
	bool right = true;

	for (size_t i = 0; i < n; i++) {
		struct folded f;

		fold_script(&f, rows[i].script, &rows[i].options);
		right &= expect_facts(rows[i].name, &f, rows[i].wants);
		folded_fini(&f);
	}
	assert_true(right);
}

/* A service of one lane; an app with a model; streams of every path: 3 burst, 4 sync, 5 fenced, 6 async. */
#define HERE                                                                                            \
	"1 service_state pid=9 lanes=1\n"                                                               \
	"2 client_connect conn=1 pid=20 uid=1000 app=20 name=camera\n"                                  \
	"3 model_prepare model=2 conn=1 name=net priority=high estimate_ns=400 step_ns=50 took_ns=10\n" \
	"4 stream_open stream=3 conn=1 path=burst model=2 cache=slots\n"                                \
	"5 stream_open stream=4 conn=1 path=sync\n"                                                     \
	"6 stream_open stream=5 conn=1 path=fenced\n"                                                   \
	"7 stream_open stream=6 conn=1 path=async\n"

#endif
