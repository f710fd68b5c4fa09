/* test_nnburst_fmq.c -- the program: what it shows of a process, what it measures, how it ends. */
#include "fmq_helpers.h"

enum { OUTPUT_MAX = 16384 };

/*
 * Run the program with one or two words. Returns its exit status; @output has what it printed, errors
 * included.
 */
static int run(char output[OUTPUT_MAX], const char *a, const char *b)
{
	char command[256];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' %s %s 2>&1", NNBURST_FMQ, a, b ? b : "");
	fflush(NULL);
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(output, 1, OUTPUT_MAX - 1, f);
	output[n] = '\0';
	return WEXITSTATUS(pclose(f));
}

static char *number(char buf[24], long v)
{
	snprintf(buf, 24, "%ld", v);
	return buf;
}

/* Split the line of @output with " KIND " into words; return their number. */
static unsigned words_of_line(char *output, const char *kind, char *words[16])
{
	unsigned n = 0;

	for (char *save, *line = strtok_r(output, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *inner;

		if (!strstr(line, kind))
			continue;
		for (char *w = strtok_r(line, " ", &inner); w && n < 16; w = strtok_r(NULL, " ", &inner))
			words[n++] = w;
		break;
	}
	return n;
}

static int read_one(struct actor *a)
{
	uint64_t v;

	return nnb_fmq_read_blocking(a->q, &v, 1, PATIENCE);
}

static void shows_a_sleeping_reader(void **state)
{
	struct nnb_fmq_config c = {
		.elem_size = 8,
		.capacity = 100,
		.flavour = NNB_FMQ_SYNCHRONIZED,
		.event_flag = true,
		.window_ns = NNB_FMQ_WINDOW_NONE,
	};
	struct actor reader = { .act = read_one };
	char output[OUTPUT_MAX], pid[24];
	uint64_t v = 0;
	char *w[16];

	(void)state;
	assert_int_equal(nnb_fmq_new(&reader.q, &c), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(nnb_fmq_write(reader.q, &v, 1), 0);
		assert_int_equal(nnb_fmq_read(reader.q, &v, 1), 0);
	}
	start(&reader);
	assert_true(actor_sleeps(&reader));
	assert_int_equal(run(output, "show", number(pid, getpid())), 0);
	/* fd inode kind element capacity unread written sleepers awaited wr-cpu rd-cpu */
	assert_int_equal(words_of_line(output, " sync ", w), 11);
	assert_string_equal(w[3], "8");
	assert_string_equal(w[4], "100");
	assert_string_equal(w[5], "0");
	assert_string_equal(w[6], "3");
	assert_string_equal(w[7], "1");
	assert_string_equal(w[8], "data");
	assert_string_equal(w[9], "-"); /* no thread has made a blocking write yet */
	assert_true(strspn(w[10], "0123456789") > 0);
	assert_int_equal(nnb_fmq_write_blocking(reader.q, &v, 1, PATIENCE), 0);
	assert_int_equal(finish(&reader), 0);
	nnb_fmq_free(reader.q);
}

static void shows_spoilt_counters_and_each_queue_once(void **state)
{
	struct nnb_fmq_config sync = { .elem_size = 8, .capacity = 16, .flavour = NNB_FMQ_SYNCHRONIZED };
	struct nnb_fmq_config unsync = { .elem_size = 24, .capacity = 16, .flavour = NNB_FMQ_UNSYNCHRONIZED };
	char output[OUTPUT_MAX], pid[24];
	struct nnb_fmq *q, *again, *other;
	const char *first;
	struct raw raw;
	char *w[16];

	(void)state;
	assert_int_equal(nnb_fmq_new(&q, &sync), 0);
	assert_int_equal(join_queue(&again, q), 0);
	assert_int_equal(nnb_fmq_new(&other, &unsync), 0);
	raw_open(&raw, q);
	atomic_store(raw_counter(&raw, NNB_FMQ_WRITE_COUNTER), 7);
	assert_int_equal(run(output, "show", number(pid, getpid())), 0);
	first = strstr(output, " sync ");
	assert_non_null(first);
	assert_null(strstr(first + 1, " sync "));
	assert_non_null(strstr(output, " unsync "));
	assert_int_equal(words_of_line(output, " sync ", w), 11);
	assert_string_equal(w[5], "spoilt");
	raw_close(&raw);
	nnb_fmq_free(other);
	nnb_fmq_free(again);
	nnb_fmq_free(q);
}

static void measures_and_leaves_nothing_running(void **state)
{
	char output[OUTPUT_MAX];

	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* what measure leaves becomes a child of this process */
	assert_int_equal(run(output, "measure", NULL), 0);
	assert_non_null(strstr(output, "waking a sleeper"));
	assert_non_null(strstr(output, "one        sleeping"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static const struct ending {
	const char *name, *a, *b;
	int status;
	const char *says;
} endings[] = {
	{ "no command", "", NULL, 2, "expected measure, or show and a process" },
	{ "an unknown command", "shwo", NULL, 2, "no command 'shwo'; see nnburst-fmq --help" },
	{ "show without a process", "show", NULL, 2, "show: expected the id of a process" },
	{ "measure with a word too many", "measure", "me", 2, "unexpected argument 'me'" },
	{ "no process id", "show", "12x", 2, "'12x' is no process id" },
	{ "an absurd process id", "show", "99999999999999999999", 2, "is no process id" },
	{ "no such process", "show", "4194305", 4, "process 4194305: there is none" },
	{ "a process without queues", "show", "$$", 0, "none" },
	{ "--help", "--help", NULL, 0, "usage:" },
	{ "--version", "--version", NULL, 0, "nnburst-fmq " },
};

static void ends_as_documented(void **state)
{
	const struct ending *e = *state;
	char output[OUTPUT_MAX];

	assert_int_equal(run(output, e->a, e->b), e->status);
	if (!strstr(output, e->says))
		fail_msg("'%s' is not in: %s", e->says, output);
}

int main(void)
{
	alarm(WATCHDOG_S);
	add_test(shows_a_sleeping_reader, NULL, NULL, NULL, "shows a sleeping reader");
	add_test(shows_spoilt_counters_and_each_queue_once, NULL, NULL, NULL,
	         "shows spoilt counters, and each queue once");
	add_test(measures_and_leaves_nothing_running, NULL, NULL, NULL, "measures, and leaves nothing running");
	for (size_t i = 0; i < N_OF(endings); i++)
		add_test(ends_as_documented, NULL, NULL, (void *)&endings[i], "exit status: %s", endings[i].name);
	return _cmocka_run_group_tests("nnburst-fmq", tests, n_tests, NULL, NULL);
}
