/* test_event_flag.c -- the event flag: scripts on one word, then threads and processes that sleep on it. */
#include "fmq_helpers.h"

#include <linux/futex.h>

#define TIMED_OUT NNB_EVENT_TIMED_OUT
#define STALE 0xdeadu /* content of *ret_bits before a wait */

/* ---- scripts: one thread, nothing sleeps for long ---- */

struct step {
	enum { END, WAKE, WAIT } op;
	uint32_t mask;
	int want;
	uint32_t bits; /* WAIT: the bits that it took */
	uint32_t word; /* the word after the step */
};

struct row {
	const char *name;
	const char *rules;
	uint32_t word;
	bool no_retry;
	struct step steps[6];
};

/* clang-format off */
static const struct row rows[] = {
	{ "a bit set before the wait ends it at once", "F-23", .word = 0,
	  .steps = { { WAKE, 4, 0, 0, 4 }, { WAIT, 6, 0, 4, 0 } } },
	{ "bits in the word from its creator on count", "F-25", .word = 2, .steps = { { WAIT, 3, 0, 2, 0 } } },
	{ "all set bits of the mask are taken, no others", "F-24", .word = 0x8000000d,
	  .steps = { { WAIT, 0x80000005, 0, 0x80000005, 8 } } },
	{ "a bit is taken once", "F-24", .word = 1, .steps = { { WAIT, 1, 0, 1, 0 }, { WAIT, 1, TIMED_OUT, 0, 0 } } },
	{ "several wakes are one", "F-22", .word = 0,
	  .steps = { { WAKE, 1, 0, 0, 1 }, { WAKE, 1, 0, 0, 1 }, { WAKE, 3, 0, 0, 3 }, { WAIT, 1, 0, 1, 2 },
		     { WAIT, 1, TIMED_OUT, 0, 2 } } },
	{ "a wake adds to the bits there are", "F-22", .word = 8,
	  .steps = { { WAKE, 1, 0, 0, 9 }, { WAIT, 9, 0, 9, 0 } } },
	{ "a wake of no bit does nothing", "F-22", .word = 8, .steps = { { WAKE, 0, 0, 0, 8 } } },
	{ "every bit is good", "F-21", .word = 0, .steps = { { WAKE, UINT32_MAX, 0, 0, UINT32_MAX },
							     { WAIT, UINT32_MAX, 0, UINT32_MAX, 0 } } },
	{ "no bit to wait for", "F-23", .word = 7, .steps = { { WAIT, 0, -EINVAL, 0, 7 } } },
	{ "other bits end no wait", "F-23", .word = 0xfe, .steps = { { WAIT, 1, TIMED_OUT, 0, 0xfe } } },
	{ "a wait in vain ends in time, without retry", "F-23", .word = 2, .no_retry = true,
	  .steps = { { WAIT, 1, TIMED_OUT, 0, 2 }, { WAIT, 3, 0, 2, 0 } } },
};
/* clang-format on */

static void run_row(void **state)
{
	const struct row *row = *state;
	_Alignas(8) uint32_t word = row->word;
	struct nnb_event_flag *flag;

	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	assert_int_equal(word, row->word); /* F-25: unchanged */
	for (const struct step *s = row->steps; s->op; s++) {
		uint32_t bits = STALE;
		uint64_t begin = now_ns();

		if (s->op == WAKE) {
			assert_int_equal(nnb_event_flag_wake(flag, s->mask), s->want);
		} else {
			uint64_t timeout = s->want == TIMED_OUT ? 5 * MS : PATIENCE;

			assert_int_equal(nnb_event_flag_wait(flag, s->mask, &bits, timeout, !row->no_retry), s->want);
			assert_int_equal(bits, s->bits);
			assert_true(s->want != TIMED_OUT || now_ns() - begin >= timeout);
		}
		assert_int_equal(word, s->word);
	}
	assert_int_equal(nnb_event_flag_delete(&flag), 0);
}

static void unsuitable_words_are_refused(void **state)
{
	_Alignas(8) unsigned char memory[12] = { 0 };
	struct nnb_event_flag *flag = (void *)memory;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&flag, NULL), -EINVAL);
	for (size_t i = 1; i < 8; i++)
		if (i != 4)
			assert_int_equal(nnb_event_flag_new(&flag, (void *)(memory + i)), -EINVAL);
	assert_ptr_equal(flag, memory);
	assert_int_equal(nnb_event_flag_new(&flag, (void *)(memory + 4)), 0);
	assert_int_equal(nnb_event_flag_delete(&flag), 0);
}

static void deleting_a_flag_twice_fails(void **state)
{
	_Alignas(8) uint32_t word = 5;
	struct nnb_event_flag *flag;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	assert_int_equal(nnb_event_flag_delete(&flag), 0);
	assert_null(flag);
	assert_int_equal(nnb_event_flag_delete(&flag), -EINVAL);
	assert_int_equal(nnb_event_flag_delete(NULL), -EINVAL);
	assert_int_equal(word, 5);
}

static void a_wait_needs_room_for_the_bits(void **state)
{
	_Alignas(8) uint32_t word = 5;
	struct nnb_event_flag *flag;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	assert_int_equal(nnb_event_flag_wait(flag, 5, NULL, PATIENCE, true), -EINVAL);
	assert_int_equal(word, 5);
	nnb_event_flag_delete(&flag);
}

/* ---- threads ---- */

struct waiter {
	struct actor actor;
	struct nnb_event_flag *flag;
	uint32_t mask, bits;
	bool retry;
};

static int wait_once(struct actor *a)
{
	struct waiter *w = a->arg;

	return nnb_event_flag_wait(w->flag, w->mask, &w->bits, a->timeout_ns, w->retry);
}

static void start_waiter(struct waiter *w, struct nnb_event_flag *flag, uint32_t mask, uint64_t timeout_ns, bool retry)
{
	*w = (struct waiter){ .flag = flag, .mask = mask, .bits = STALE, .retry = retry };
	w->actor.act = wait_once;
	w->actor.arg = w;
	w->actor.timeout_ns = timeout_ns;
	start(&w->actor);
}

static int set_up(void **state)
{
	static _Alignas(8) uint32_t word;

	alarm(WATCHDOG_S);
	word = 0;
	return nnb_event_flag_new((struct nnb_event_flag **)state, &word);
}

static int tear_down(void **state)
{
	return nnb_event_flag_delete((struct nnb_event_flag **)state);
}

static void sleeper_is_woken(void **state)
{
	/* 0 and timeouts beyond the clock: wait without a limit */
	static const uint64_t timeouts[] = { 0, PATIENCE, UINT64_MAX, UINT64_MAX / 2 };
	struct waiter w;

	for (size_t i = 0; i < N_OF(timeouts); i++) {
		start_waiter(&w, *state, 6, timeouts[i], true);
		assert_true(actor_sleeps(&w.actor));
		assert_int_equal(nnb_event_flag_wake(*state, 9), 0); /* not the waiter's bit */
		assert_true(actor_sleeps(&w.actor));
		assert_int_equal(nnb_event_flag_wake(*state, 3), 0);
		assert_int_equal(finish(&w.actor), 0);
		assert_int_equal(w.bits, 2);
		assert_int_equal(nnb_event_flag_wait(*state, 15, &w.bits, PATIENCE, true), 0);
		assert_int_equal(w.bits, 9); /* the bits that it did not wait for are still set */
	}
}

static void each_waiter_has_its_bit(void **state)
{
	struct waiter w[4];

	for (unsigned i = 0; i < 4; i++)
		start_waiter(&w[i], *state, 1u << i, PATIENCE, true);
	for (unsigned i = 0; i < 4; i++)
		assert_true(actor_sleeps(&w[i].actor));
	assert_int_equal(nnb_event_flag_wake(*state, 4), 0);
	assert_int_equal(finish(&w[2].actor), 0);
	assert_int_equal(w[2].bits, 4);
	for (unsigned i = 0; i < 4; i++)
		assert_true(i == 2 || actor_sleeps(&w[i].actor));
	assert_int_equal(nnb_event_flag_wake(*state, 0xf), 0);
	for (unsigned i = 0; i < 4; i++)
		if (i != 2) {
			assert_int_equal(finish(&w[i].actor), 0);
			assert_int_equal(w[i].bits, 1u << i);
		}
	assert_int_equal(nnb_event_flag_wait(*state, 0xf, &w[2].bits, PATIENCE, true), 0);
	assert_int_equal(w[2].bits, 4);
}

/* F-22 wakes both, F-24 gives the bit to one of them: the other goes back to sleep. */
static void one_of_two_takes_the_bit(void **state)
{
	struct waiter w[2];
	unsigned first;

	for (unsigned i = 0; i < 2; i++)
		start_waiter(&w[i], *state, 1, PATIENCE, true);
	for (unsigned i = 0; i < 2; i++)
		assert_true(actor_sleeps(&w[i].actor));
	assert_int_equal(nnb_event_flag_wake(*state, 1), 0);
	while (!atomic_load(&w[0].actor.done) && !atomic_load(&w[1].actor.done))
		nap();
	first = atomic_load(&w[0].actor.done) ? 0 : 1;
	assert_true(actor_sleeps(&w[!first].actor));
	assert_int_equal(nnb_event_flag_wake(*state, 1), 0);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(finish(&w[i].actor), 0);
		assert_int_equal(w[i].bits, 1);
	}
}

static void do_nothing(int sig)
{
	(void)sig;
}

static void catch_signal(void)
{
	struct sigaction act = { .sa_handler = do_nothing };

	sigaction(SIGUSR1, &act, NULL);
}

/* Wake the sleepers on @word without a reason. Returns their number. */
static long stray_wake(uint32_t *word)
{
	return syscall(SYS_futex, word, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, UINT32_MAX);
}

static void disturbed_without_retry(void **state)
{
	_Alignas(8) static uint32_t word;
	struct nnb_event_flag *flag;
	struct waiter w;

	(void)state;
	catch_signal();
	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	start_waiter(&w, flag, 1, PATIENCE, false);
	assert_true(actor_sleeps(&w.actor));
	assert_int_equal(stray_wake(&word), 1);
	assert_int_equal(finish(&w.actor), -EAGAIN);
	assert_int_equal(w.bits, 0);

	start_waiter(&w, flag, 1, PATIENCE, false);
	assert_true(actor_sleeps(&w.actor));
	pthread_kill(w.actor.thread, SIGUSR1);
	assert_int_equal(finish(&w.actor), -EINTR);
	assert_int_equal(w.bits, 0);

	start_waiter(&w, flag, 1, PATIENCE, false);
	assert_true(actor_sleeps(&w.actor));
	assert_int_equal(nnb_event_flag_wake(flag, 1), 0);
	assert_int_equal(finish(&w.actor), 0);
	assert_int_equal(w.bits, 1);
	nnb_event_flag_delete(&flag);
}

static void disturbed_with_retry(void **state)
{
	_Alignas(8) static uint32_t word;
	struct nnb_event_flag *flag;
	struct waiter w;

	(void)state;
	catch_signal();
	assert_int_equal(nnb_event_flag_new(&flag, &word), 0);
	start_waiter(&w, flag, 1, PATIENCE, true);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(actor_sleeps(&w.actor));
		assert_int_equal(stray_wake(&word), 1);
		assert_true(actor_sleeps(&w.actor));
		pthread_kill(w.actor.thread, SIGUSR1);
	}
	assert_int_equal(nnb_event_flag_wake(flag, 1), 0);
	assert_int_equal(finish(&w.actor), 0);
	assert_int_equal(w.bits, 1);

	/* A retry waits for the rest of the timeout, not for all of it: endless signals must not prolong a wait. */
	start_waiter(&w, flag, 1, 50 * MS, true);
	while (!atomic_load(&w.actor.done)) {
		pthread_kill(w.actor.thread, SIGUSR1);
		nap();
	}
	assert_int_equal(finish(&w.actor), TIMED_OUT);
	assert_int_equal(w.bits, 0);
	nnb_event_flag_delete(&flag);
}

struct restless {
	_Atomic uint32_t word;
	_Atomic bool stop;
};

static int keep_changing(struct actor *a)
{
	struct restless *r = a->arg;

	while (!atomic_load_explicit(&r->stop, memory_order_relaxed))
		atomic_fetch_add(&r->word, 0x100);
	return 0;
}

/* While the word changes, the kernel never sleeps, so it never looks at the clock. */
static void timed_out_though_the_word_changes(void **state)
{
	struct restless restless = { 0 };
	struct actor actor = { .act = keep_changing, .arg = &restless };
	struct nnb_event_flag *flag;
	uint32_t bits = STALE;
	uint64_t begin;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&flag, (uint32_t *)&restless.word), 0);
	start(&actor);
	begin = now_ns();
	assert_int_equal(nnb_event_flag_wait(flag, 1, &bits, 50 * MS, true), TIMED_OUT);
	assert_true(now_ns() - begin >= 50 * MS);
	assert_int_equal(bits, 0);
	atomic_store(&restless.stop, true);
	finish(&actor);
	nnb_event_flag_delete(&flag);
}

enum { HANDOVERS = 2000 };

struct handover {
	struct nnb_event_flag *flag;
	uint64_t value; /* plain: only the thread that took the bit may touch it, which the thread sanitizer checks. */
};

static int take_over(struct actor *a)
{
	struct handover *h = a->arg;
	uint32_t bits;

	for (uint64_t i = 0; i < HANDOVERS; i++) {
		if (nnb_event_flag_wait(h->flag, 1, &bits, PATIENCE, true) || h->value != 2 * i)
			return -EPROTO;
		h->value++;
		nnb_event_flag_wake(h->flag, 2);
	}
	return 0;
}

static void a_woken_thread_sees_earlier_writes(void **state)
{
	struct handover h = { .flag = *state };
	struct actor actor = { .act = take_over, .arg = &h };
	uint32_t bits;

	start(&actor);
	for (uint64_t i = 0; i < HANDOVERS; i++) {
		assert_int_equal(nnb_event_flag_wake(h.flag, 1), 0);
		assert_int_equal(nnb_event_flag_wait(h.flag, 2, &bits, PATIENCE, true), 0);
		assert_int_equal(h.value, 2 * i + 1);
		h.value++;
	}
	assert_int_equal(finish(&actor), 0);
}

/* ---- processes ---- */

static uint32_t *shared_word(void)
{
	uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(word != MAP_FAILED);
	return word;
}

static void answer_from_a_child(void *arg)
{
	struct nnb_event_flag *flag;
	uint32_t bits;

	must(nnb_event_flag_new(&flag, arg) == 0);
	for (unsigned i = 0; i < 100; i++) {
		must(nnb_event_flag_wait(flag, 0x11, &bits, PATIENCE, true) == 0 && bits == 0x10);
		must(nnb_event_flag_wake(flag, 2) == 0);
	}
}

static void across_processes(void **state)
{
	uint32_t *word = shared_word();
	struct nnb_event_flag *flag;
	uint32_t bits;
	pid_t pid;

	(void)state;
	assert_int_equal(nnb_event_flag_new(&flag, word), 0);
	pid = spawn(answer_from_a_child, word);
	for (unsigned i = 0; i < 100; i++) {
		if (i % 10 == 0)
			assert_true(falls_asleep(pid, pid));
		assert_int_equal(nnb_event_flag_wake(flag, 0x10), 0);
		assert_int_equal(nnb_event_flag_wait(flag, 2, &bits, PATIENCE, true), 0);
		assert_int_equal(bits, 2);
	}
	assert_int_equal(reap(pid), 0);
	nnb_event_flag_delete(&flag);
	munmap(word, 4096);
}

/* In a child, which a system call would kill. @arg: the bits of the last wake. */
static void wake_without_system_call(void *arg)
{
	_Alignas(8) uint32_t word = 6;
	struct nnb_event_flag *flag;
	uint32_t bits;

	must(nnb_event_flag_new(&flag, &word) == 0);
	forbid_futex();
	for (unsigned i = 0; i < 1000; i++) {
		must(nnb_event_flag_wake(flag, 0) == 0);
		must(nnb_event_flag_wake(flag, 2) == 0);
		must(nnb_event_flag_wake(flag, 6) == 0);
	}
	must(nnb_event_flag_wait(flag, 4, &bits, PATIENCE, true) == 0 && bits == 4);
	nnb_event_flag_wake(flag, *(const uint32_t *)arg);
}

static void a_wake_without_a_new_bit_makes_no_system_call(void **state)
{
	static const uint32_t old_bit = 2;
	static const uint32_t new_bit = 4;
	int status = reap(spawn(wake_without_system_call, (void *)(uintptr_t)&old_bit));

	(void)state;
	if (lacks_seccomp(status))
		skip();
	assert_int_equal(status, 0);
	/* A wake with a new bit must die, which shows that the filter works. */
	status = reap(spawn(wake_without_system_call, (void *)(uintptr_t)&new_bit));
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

/* In a child: without a wake-up, and without the kernel's clock. */
static void wait_with_answers(void *arg)
{
	const struct futex_answer *a = arg;
	_Alignas(8) uint32_t word = 6;
	struct nnb_event_flag *flag;
	uint64_t begin = now_ns();
	uint32_t bits = STALE;

	must(nnb_event_flag_new(&flag, &word) == 0);
	if (!answer_futex(SECCOMP_RET_ERRNO | (uint32_t)a->answer))
		_exit(NO_SECCOMP);
	must(nnb_event_flag_wait(flag, 1, &bits, 20 * MS, true) == a->want && bits == 0);
	must(a->want < 0 || now_ns() - begin >= 20 * MS);
	bits = STALE;
	must(nnb_event_flag_wait(flag, 1, &bits, PATIENCE, false) == -a->answer && bits == 0);
	must(word == 6);
}

static void any_answer_ends_in_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_OF(futex_answers); i++) {
		int status = reap(spawn(wait_with_answers, (void *)(uintptr_t)&futex_answers[i]));

		if (lacks_seccomp(status))
			skip();
		assert_int_equal(status, 0);
	}
}

/* ---- the flag of a queue, whose sleepers are counted ---- */

static void queue_flag(void **state)
{
	struct nnb_fmq_config config = {
		.elem_size = 8, .capacity = 8, .flavour = NNB_FMQ_SYNCHRONIZED, .event_flag = true
	};
	struct nnb_fmq *q;
	struct nnb_fmq *other;
	struct waiter w;

	assert_int_equal(new_queue(&q, config, *state), 0);
	assert_int_equal(join_queue(&other, q), 0);
	for (unsigned i = 0; i < 3; i++) {
		start_waiter(&w, nnb_fmq_event_flag(q), 0x30, PATIENCE, true);
		assert_true(actor_sleeps(&w.actor));
		assert_int_equal(nnb_event_flag_wake(nnb_fmq_event_flag(other), 0x50), 0);
		assert_int_equal(finish(&w.actor), 0);
		assert_int_equal(w.bits, 0x10);
		start_waiter(&w, nnb_fmq_event_flag(other), 0xc0, 0, true);
		assert_int_equal(finish(&w.actor), 0);
		assert_int_equal(w.bits, 0x40);
	}
	nnb_fmq_free(other);
	nnb_fmq_free(q);
}

#define ADD(run, name, rules) add_test(run, set_up, tear_down, NULL, "%s %s", name, rules)

int main(void)
{
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(run_row, NULL, NULL, (void *)(uintptr_t)&rows[i], "%s %s", rows[i].name, rows[i].rules);
	ADD(unsuitable_words_are_refused, "null and misaligned words", "F-25");
	ADD(deleting_a_flag_twice_fails, "deleting a flag twice fails, and nothing", "F-25");
	ADD(a_wait_needs_room_for_the_bits, "a wait needs room for the bits", "F-23");
	ADD(sleeper_is_woken, "a sleeper is woken by its bits", "F-22 F-23");
	ADD(each_waiter_has_its_bit, "several waiters on different bits", "F-22");
	ADD(one_of_two_takes_the_bit, "of two waiters one takes the bit", "F-22 F-24");
	ADD(disturbed_without_retry, "disturbed, without retry", "F-23");
	ADD(disturbed_with_retry, "disturbed, with retry", "F-23");
	ADD(timed_out_though_the_word_changes, "timed out though the word keeps changing", "F-23");
	ADD(a_woken_thread_sees_earlier_writes, "a woken thread sees earlier writes", "F-22");
	ADD(across_processes, "from process to process", "F-21");
	ADD(a_wake_without_a_new_bit_makes_no_system_call, "no bit newly set, no system call", "F-22");
	ADD(any_answer_ends_in_time, "whatever the kernel answers", "F-23");
	for (size_t i = 0; i < N_OF(arrangements); i++)
		add_test(queue_flag, NULL, NULL, (void *)(uintptr_t)&arrangements[i], "a queue's flag (%s) F-22",
		         arrangements[i].name);
	return cmocka_run_group_tests_name("event_flag", tests, NULL, NULL);
}
