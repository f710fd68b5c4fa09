/*
 * test_fold_memory.c -- a fold that runs out of memory: each allocation fails once, and the fold returns an
 * error or does without; and its memory is limited by what is open.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/script.h"
#include "fold/fold.h"

/* ---- allocations that fail: the n-th from now on, 0 none ---- */

static size_t fail_at, n_allocations, in_use, most_in_use;

static bool fails(void)
{
	n_allocations++;
	return fail_at && --fail_at == 0;
}

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
#pragma GCC visibility push(default) /* a sanitizer's library looks for these functions */
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
#pragma GCC visibility pop

static void *counted(void *p)
{
	if (p && ++in_use > most_in_use)
		most_in_use = in_use;
	return p;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	void *more = fails() ? NULL : __real_realloc(p, n);

	return p ? more : counted(more);
}

void __wrap_free(void *p)
{
	in_use -= p != NULL;
	__real_free(p);
}

/* ---- facts, of which only the number counts ---- */

static size_t n_facts;

static void count_fact(void *ctx, const void *fact)
{
	(void)ctx;
	(void)fact;
	n_facts++;
}

/* A table of callbacks that count their calls. */
static struct bsa_facts all_facts(void)
{
	void (*call)(void *, const void *) = count_fact;
	struct bsa_facts facts = { 0 };

	for (size_t at = offsetof(struct bsa_facts, app); at < sizeof(facts); at += sizeof(call))
		memcpy((char *)&facts + at, &call, sizeof(call));
	return facts;
}

/* ---- a bit of everything ---- */

static char *everything; /* content of everything.events; kept until the end */

static int take_all(struct bsa_fold *f, struct script *s)
{
	const struct bsa_event *e;
	int r = 0;

	while (!r && (e = script_next(s)))
		r = bsa_fold_event(f, e);
	return r ? r : bsa_fold_finish(f);
}

/* Fold everything while the allocation number @nth fails; returns the fold's error. */
static int fold(const struct bsa_fold_options *options, size_t nth)
{
	struct script *s = script_new(everything);
	struct bsa_facts facts = all_facts();
	struct bsa_fold *f;
	int r;

	n_allocations = 0;
	fail_at = nth;
	f = bsa_fold_new(&facts, options);
	r = f ? take_all(f, s) : -ENOMEM;
	bsa_fold_free(f);
	fail_at = 0;
	script_free(s);
	return r;
}

static void each_allocation_may_fail(void **state)
{
	static const struct bsa_fold_options options[] = { { 0 }, { .horizon_ns = 1000 }, { .under_way_max = 2 } };
	size_t n, failed = 0, before = in_use;

	(void)state;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		assert_int_equal(fold(&options[i], 0), 0);
		n = n_allocations;
		assert_true(n > 30 && n_facts > 20);
		for (size_t nth = 1; nth <= n; nth++) {
			int r = fold(&options[i], nth);

			assert_true(r == 0 || r == -ENOMEM);
			assert_int_equal(in_use, before);
			failed += r != 0;
		}
	}
	assert_true(failed > 60);
}

/* ---- strangers ---- */

static void play(struct bsa_fold *f, const char *format, uint64_t n)
{
	char line[256];
	struct bsa_event *e;

	snprintf(line, sizeof(line), format, n, n, n);
	e = script_record(line);
	e->at += n;
	assert_int_equal(bsa_fold_event(f, e), 0);
	free(e);
}

/* For numbers that come once and never end, the fold keeps the latest of them only. */
static void invented_numbers_use_no_memory(void **state)
{
	static const char *const formats[] = {
		"1 exec_submit exec=%zu:7 model=%zu path=async\n",
		"1 sched_enqueue exec=%zu:7 model=%zu app=20\n",
		"1 pool_map owner=stream owner_id=%zu slot=4 bytes=64\n",
		"1 pool_map owner=exec owner_id=%zu slot=4 bytes=64\n",
		"1 buffer_copy buffer=%zu\n",
		"1 stream_close stream=%zu\n",
		"1 model_release model=%zu\n",
		"1 sched_preempt exec=5:%zu by=6:%zu lane=0\n",
	};
	const struct bsa_fold_options options = { .under_way_max = 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct bsa_facts facts = all_facts();
		struct bsa_fold *f = bsa_fold_new(&facts, &options);
		size_t before = in_use;

		assert_non_null(f);
		for (uint64_t n = 1; n < 300000; n++)
			play(f, formats[i], n);
		if (in_use - before > 280000)
			fail_msg("%s%zu allocations are in use", formats[i], in_use - before);
		assert_int_equal(bsa_fold_finish(f), 0);
		bsa_fold_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_allocation_may_fail),
		cmocka_unit_test(invented_numbers_use_no_memory),
	};

	everything = script_read_file(EVERYTHING);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
