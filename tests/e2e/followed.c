/*
 * followed.c DIRECTORY SETTLE_MS -- follow a recording until standard input ends; the recording must have
 * stopped by then. Then read the same files as an import does, and compare: each record must come in both, in
 * the same order unless one was late. Prints the counts; ends with 1 where the two differ.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "decode/decode.h"
#include "decode/follow.h"

enum { LOOK_MS = 2, LAGS_MAX = 1 << 20 };

/*
 * The records, without losses that no packet shows: a sum in their order, and one that does not depend on the
 * order.
 */
struct sum {
	uint64_t n, ordered, unordered;
	uint64_t gaps; /* losses of the cause BSA_LOSS_GAP */
};

static uint64_t *lags;
static size_t n_lags;

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	for (size_t i = 0; i < n; i++)
		h = (h ^ at[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* The numbers of traces differ between the two readings, because they follow the order of finding them. */
static void add(struct sum *sum, const struct bsa_event *e)
{
	uint64_t h = mix(UINT64_C(0xcbf29ce484222325), &e->at, sizeof(e->at));

	if (e->kind == BSA_loss) {
		sum->gaps += BSA_OF(e, loss)->cause == BSA_LOSS_GAP;
		return;
	}
	h = mix(h, &e->kind, sizeof(e->kind));
	h = mix(h, e + 1, e->size - sizeof(*e));
	sum->n++;
	sum->ordered = mix(sum->ordered, &h, sizeof(h));
	sum->unordered += h;
}

static int fails(const struct bsa_err *err)
{
	fprintf(stderr, "followed: %s\n", err->text);
	return 1;
}

static int step(struct bsa_follow *f, uint64_t at, struct sum *sum, struct bsa_err *err)
{
	const struct bsa_event *e;
	int r = bsa_follow_look(f, at, err);

	while (r >= 0 && (r = bsa_follow_next(f, &e, err)) > 0) {
		add(sum, e);
		if (at != BSA_NEVER && n_lags < LAGS_MAX)
			lags[n_lags++] = now_ns() - e->at;
	}
	return r;
}

static int follow(const char *directory, uint64_t settle_ns, struct sum *sum, struct bsa_followed *ret)
{
	struct pollfd in = { .events = POLLIN };
	struct bsa_follow *f = NULL;
	struct bsa_err err = { "" };
	int r = bsa_follow_open(&f, &(struct bsa_follow_options){ directory, settle_ns }, &err);

	while (r >= 0 && poll(&in, 1, LOOK_MS) <= 0)
		r = step(f, now_ns(), sum, &err);
	if (r >= 0)
		r = step(f, BSA_NEVER, sum, &err);
	if (r >= 0)
		*ret = bsa_follow_followed(f);
	bsa_follow_free(f);
	return r < 0 ? fails(&err) : 0;
}

static int decode(const char *directory, struct sum *sum)
{
	struct bsa_decode *d = NULL;
	const struct bsa_event *e;
	struct bsa_err err = { "" };
	int r = bsa_decode_open(&d, &directory, 1, NULL, &err);

	while (r >= 0 && (r = bsa_decode_next(d, &e, &err)) > 0)
		add(sum, e);
	bsa_decode_free(d);
	return r < 0 ? fails(&err) : 0;
}

int main(int argc, char **argv)
{
	struct sum live = { 0 }, whole = { 0 };
	struct bsa_followed followed = { 0 };

	if (argc != 3 || !(lags = malloc(LAGS_MAX * sizeof(*lags))))
		return 2;
	if (follow(argv[1], strtoull(argv[2], NULL, 10) * 1000000, &live, &followed) || decode(argv[1], &whole))
		return 1;
	qsort(lags, n_lags, sizeof(*lags), by_number);
	printf("records %" PRIu64 " of %" PRIu64 ", live %zu, late %" PRIu64 " by %.3f ms at most, broken %" PRIu64
	       ", overwritten %" PRIu64 ", streams %zu, gaps %" PRIu64 " of %" PRIu64 "\n",
	       live.n, whole.n, n_lags, followed.late, (double)followed.late_ns / 1e6, followed.broken,
	       followed.lost_hold, followed.streams, live.gaps, whole.gaps);
	if (n_lags)
		printf("lag p50 %.3f ms, p99 %.3f ms\n", (double)lags[n_lags / 2] / 1e6,
		       (double)lags[n_lags - 1 - n_lags / 100] / 1e6);
	free(lags);
	if (live.n != whole.n || !live.n)
		return 1;
	/* a late record was emitted with another time: then only the number of records can be compared */
	return !followed.late && (live.ordered != whole.ordered || live.unordered != whole.unordered);
}
