/*
 * model_fmq.c -- fmq.c and event_flag.c over a simulated weak memory (sim.c), scenario by scenario, seed by seed.
 *
 *     model_fmq [--seeds N] [SCENARIO]     every seed below N; 0, or 1 and the first violation
 *     model_fmq --seed S [SCENARIO]        this seed only, every step printed
 */
#include "nnb/fmq.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fmq/queue.h"
#include "sim.h"

enum {
	DEFAULT_SEEDS = 1000,
	SIDES = 3,
	STREAM = 6, /* elements through a synchronized queue */
	PAIRS = 5,  /* messages of two elements through an unsynchronized one */
	ROUNDS = 2, /* rounds of letters and answers by event flag */
};

/* Each party has a handle of its own, as a process has; this is the number of its handle. */
enum { WRITER, READER, READER_2 };

struct party {
	const char *name;
	void (*body)(void);
};

struct scenario {
	const char *name;
	const struct party *parties; /* the list ends with a party without a body; SIDES at most */
	int (*write)(struct nnb_fmq *q, const uint64_t *elems, size_t n);
	int (*read)(struct nnb_fmq *q, uint64_t *elems, size_t n);
	size_t capacity;
	uint64_t window_ns;
	bool no_room;
	bool sleeps; /* some run must sleep, or the scenario proves nothing */
};

static const struct scenario *playing;
static struct nnb_fmq queue[SIDES];
static struct nnb_event_flag flag;
static uint64_t *letter[2];
static unsigned overruns, taken;

static void wants(int r, int want, const char *call)
{
	if (r != want)
		sim_fail("%s returned %d", call, r);
}

/* ---- synchronized: a stream of numbers ---- */

static size_t batch(uint64_t done)
{
	size_t n = 1 + sim_random(2);

	return n < STREAM - done ? n : (size_t)(STREAM - done);
}

static void check(const uint64_t *elems, size_t n, uint64_t first)
{
	for (size_t i = 0; i < n; i++)
		if (elems[i] != first + i + 1)
			sim_fail("element %ju reads %ju", (uintmax_t)(first + i + 1), (uintmax_t)elems[i]);
}

static void write_stream(void)
{
	size_t n;

	for (uint64_t done = 0; done < STREAM; done += n) {
		uint64_t elems[2] = { done + 1, done + 2 };

		n = batch(done);
		wants(playing->write(&queue[WRITER], elems, n), 0, "write");
	}
}

static void read_stream(void)
{
	uint64_t elems[2];
	size_t n;

	for (uint64_t done = 0; done < STREAM; done += n) {
		n = batch(done);
		wants(playing->read(&queue[READER], elems, n), 0, "read");
		check(elems, n, done);
	}
}

static int write_polling(struct nnb_fmq *q, const uint64_t *elems, size_t n)
{
	for (;;) {
		bool promised = sim_random(2) && nnb_fmq_available_to_write(q) >= n;
		int r = nnb_fmq_write(q, elems, n);

		if (r != NNB_FMQ_FULL || promised)
			return r;
	}
}

static int read_polling(struct nnb_fmq *q, uint64_t *elems, size_t n)
{
	for (;;) {
		bool promised = sim_random(2) && nnb_fmq_available_to_read(q) >= n;
		int r = nnb_fmq_read(q, elems, n);

		if (r != NNB_FMQ_EMPTY || promised)
			return r;
	}
}

static int write_blocking(struct nnb_fmq *q, const uint64_t *elems, size_t n)
{
	return nnb_fmq_write_blocking(q, elems, n, 0);
}

static int read_blocking(struct nnb_fmq *q, uint64_t *elems, size_t n)
{
	return nnb_fmq_read_blocking(q, elems, n, 0);
}

static int write_in_place(struct nnb_fmq *q, const uint64_t *elems, size_t n)
{
	struct nnb_fmq_tx tx;
	int r = nnb_fmq_begin_write_blocking(q, n, 0, &tx);

	if (r)
		return r;
	nnb_fmq_tx_copy_to(&tx, elems, 0, n);
	return nnb_fmq_commit_write_and_wake(q, n);
}

static int read_in_place(struct nnb_fmq *q, uint64_t *elems, size_t n)
{
	struct nnb_fmq_tx tx;
	int r = nnb_fmq_begin_read_blocking(q, n, 0, &tx);

	if (r)
		return r;
	nnb_fmq_tx_copy_from(&tx, elems, 0, n);
	return nnb_fmq_commit_read_and_wake(q, n);
}

/* ---- unsynchronized: an accepted pair was written at that place, both elements ---- */

static void write_pairs(void)
{
	for (uint64_t i = 0; i < PAIRS; i++) {
		uint64_t pair[2] = { 2 * i + 1, 2 * i + 2 };

		wants(nnb_fmq_write(&queue[WRITER], pair, 2), 0, "write");
	}
}

static void read_pairs(struct nnb_fmq *q)
{
	uint64_t position = 0;
	uint64_t pair[2];

	while (position < 2 * PAIRS) {
		int r = nnb_fmq_read(q, pair, 2);

		position = q->end[NNB_FMQ_READER].mine / sizeof(*pair);
		if (r == 0) {
			check(pair, 2, position - 2);
			taken++;
		} else if (r == NNB_FMQ_OVERRUN) {
			overruns++;
		} else {
			wants(r, NNB_FMQ_EMPTY, "read");
		}
	}
}

static void read_pairs_1(void)
{
	read_pairs(&queue[READER]);
}

static void read_pairs_2(void)
{
	read_pairs(&queue[READER_2]);
}

/*
 * ---- the event flag alone: letters to two readers; bit 1 << i announces letter i, 4 << i that it was read
 * ----
 */

static void post_letters(void)
{
	uint32_t unanswered;
	uint32_t bits;

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		for (unsigned i = 0; i < 2; i++) {
			memcpy(letter[i], &round, sizeof(round));
			wants(nnb_event_flag_wake(&flag, 1U << i), 0, "wake");
		}
		for (unanswered = 12; unanswered; unanswered &= ~bits)
			wants(nnb_event_flag_wait(&flag, unanswered, &bits, 0, true), 0, "wait");
	}
}

static void read_letters(unsigned i, bool retry)
{
	uint64_t text;
	uint32_t bits;
	int r;

	for (uint64_t round = 1; round <= ROUNDS; round++) {
		do
			r = nnb_event_flag_wait(&flag, 1U << i, &bits, 0, retry);
		while (!retry && (r == -EAGAIN || r == -EINTR));
		wants(r, 0, "wait");
		memcpy(&text, letter[i], sizeof(text));
		check(&text, 1, round - 1);
		wants(nnb_event_flag_wake(&flag, 4U << i), 0, "wake");
	}
}

static void read_letters_0(void)
{
	read_letters(0, true);
}

static void read_letters_1(void)
{
	read_letters(1, false);
}

/* ---- the scenarios ---- */

static const struct party stream[] = { { "writer", write_stream }, { "reader", read_stream }, { NULL, NULL } };

static const struct party pairs[] = {
	{ "writer", write_pairs }, { "reader", read_pairs_1 }, { "reader_2", read_pairs_2 }, { NULL, NULL }
};

static const struct party letters[] = {
	{ "poster", post_letters }, { "first", read_letters_0 }, { "second", read_letters_1 }, { NULL, NULL }
};

/* clang-format off */
static const struct scenario scenarios[] = {
	{ "sync-polling", stream, write_polling, read_polling, .capacity = 3 },
	{ "sync-sleeping", stream, write_blocking, read_blocking, .capacity = 3, .window_ns = 1, .sleeps = true },
	{ "sync-in-place", stream, write_in_place, read_in_place, .capacity = 3, .window_ns = 1, .sleeps = true },
	{ "sync-window", stream, write_blocking, read_blocking, .capacity = 3, .window_ns = 12, .sleeps = true },
	{ "sync-packed", stream, write_blocking, read_blocking, .capacity = 3, .window_ns = 1, .no_room = true,
	  .sleeps = true },
	{ "unsync-torn", pairs, .capacity = 3 },
	{ "unsync-roomy", pairs, .capacity = 5 },
	{ "flag-counted", letters, .sleeps = true },
	{ "flag-alone", letters, .no_room = true, .sleeps = true },
};
/* clang-format on */

enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

/* The region that region.c would make, without files and maps. */
static void set_up(const struct scenario *s)
{
	struct nnb_fmq q = { .elem_size = sizeof(uint64_t), .elem_pow2 = true, .capacity = s->capacity };

	q.ring_bytes = q.capacity * q.elem_size;
	q.synchronized = q.has_flag = s->write != NULL;
	q.window_ns = s->window_ns;
	q.rd = sim_shared("rd", sizeof(*q.rd));
	q.wr = sim_shared("wr", sizeof(*q.wr));
	q.flag.word = sim_shared("word", sizeof(*q.flag.word));
	q.ring = sim_shared("ring", q.ring_bytes);
	if (!s->no_room) {
		q.room = sim_shared("room", sizeof(*q.room));
		q.flag.sleepers = &q.room->sleepers;
	}
	letter[0] = sim_shared("letter", 2 * sizeof(*letter[0]));
	letter[1] = letter[0] + 1;
	flag = q.flag;
	for (unsigned i = 0; i < SIDES; i++)
		queue[i] = q;
}

/* 0; or 1 and a line about the violation. */
static int play(const struct scenario *s, uint64_t seed, bool trace)
{
	const char *wrong;

	playing = s;
	sim_begin(seed, trace);
	set_up(s);
	for (const struct party *p = s->parties; p->body; p++)
		sim_spawn(p->name, p->body);
	wrong = sim_run();
	if (wrong)
		printf("%s seed %ju: %s; replay: model_fmq --seed %ju %s\n", s->name, (uintmax_t)seed, wrong,
		       (uintmax_t)seed, s->name);
	return wrong != NULL;
}

static int usage(const char *word)
{
	fprintf(stderr, "model_fmq: '%s'? Usage: model_fmq [--seeds N | --seed S] [SCENARIO], of\n", word);
	for (unsigned i = 0; i < SCENARIOS; i++)
		fprintf(stderr, "\t%s\n", scenarios[i].name);
	return 2;
}

int main(int argc, char **argv)
{
	uint64_t sleeps[SCENARIOS] = { 0 };
	const char *soak = getenv("NNB_SOAK_SECONDS"); /* instead of a number of seeds */
	time_t stop = soak && atoi(soak) > 0 && argc == 1 ? time(NULL) + atoi(soak) : 0;
	uint64_t first = 0, end = stop ? UINT64_MAX : DEFAULT_SEEDS;
	const char *only = NULL;
	bool one = false;
	bool found = false;

	for (int i = 1; i < argc; i++) {
		one |= !strcmp(argv[i], "--seed");
		if (!strcmp(argv[i], "--seeds") && i + 1 < argc)
			end = strtoull(argv[++i], NULL, 0);
		else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
			end = (first = strtoull(argv[++i], NULL, 0)) + 1;
		else if (argv[i][0] == '-' || only)
			return usage(argv[i]);
		else
			only = argv[i];
	}
	for (uint64_t seed = first; seed < end; seed++) {
		if (stop && time(NULL) >= stop)
			end = seed + 1;
		for (unsigned i = 0; i < SCENARIOS; i++) {
			uint64_t before = sim_counts.sleeps;

			if (only && strcmp(only, scenarios[i].name))
				continue;
			found = true;
			if (play(&scenarios[i], seed, one))
				return 1;
			sleeps[i] += sim_counts.sleeps - before;
		}
	}
	if (!found)
		return usage(only ? only : "--seeds");
	for (unsigned i = 0; i < SCENARIOS && !one && !only; i++)
		if (scenarios[i].sleeps && !sleeps[i]) {
			printf("%s: no thread slept in any run, so sleeps were not tested; use more seeds\n",
			       scenarios[i].name);
			return 1;
		}
	printf("ok: %ju seeds, %ju steps, %ju stale loads, %ju sleeps, %u pairs taken and %u times overrun\n",
	       (uintmax_t)(end - first), (uintmax_t)sim_counts.steps, (uintmax_t)sim_counts.stale,
	       (uintmax_t)sim_counts.sleeps, taken, overruns);
	return 0;
}
