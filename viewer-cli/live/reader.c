/*
 * reader.c -- starts the importer with --follow behind two pipes, writes commands to it, and reads
 * its answers with a limit on time. It checks lengths and texts, because the importer reads
 * untrusted data.
 */
#include "live/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "input/apart.h"
#include "input/shared.h"

enum {
	PATIENCE_MS = 60000,
	METRICS_MS = 5000,
	METRICS_REST_MS = 1000,
	ROWS_MS = 500,
	NOT_STARTED = 127,
	NUMBER_TEXT = 24,
	BUCKETS_TEXT = BSV_BUCKETS_MAX * 22 + 1
};
static const rlim_t most_memory = 1 << 30;
static const uint64_t conditions_patience = UINT64_C(15000000000), save_patience = UINT64_C(60000000000);

/* A process that is started with @argv. */
static int start_reader(struct bsv_reader *ret, const char *const *argv, struct bsa_err *err)
{
	char program[PATH_MAX];
	pid_t parent = getpid();
	int to[2], from[2], r = bsv_importer_find(program, err);

	if (r < 0)
		return r;
	if (pipe2(to, O_CLOEXEC))
		return bsa_fail(err, BSA_E_ENV, "no pipe: %s", strerror(errno));
	if (pipe2(from, O_CLOEXEC)) {
		close(to[0]);
		close(to[1]);
		return bsa_fail(err, BSA_E_ENV, "no pipe: %s", strerror(errno));
	}
	*ret = (struct bsv_reader){ .pid = fork(), .to = to[1], .from = from[0] };
	if (!ret->pid) { /* the child becomes the reader */
		const int left[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH };
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		struct rlimit limit;
		sigset_t none;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++)
			signal(left[i], SIG_IGN); /* the terminal sends them to both; it ends with its input */
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		if (BSV_LIMIT_MEMORY && !getrlimit(RLIMIT_DATA, &limit) && limit.rlim_cur > most_memory) {
			limit.rlim_cur = most_memory;
			setrlimit(RLIMIT_DATA, &limit);
		}
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		execv(program, (char *const *)argv);
		_exit(NOT_STARTED);
	}
	close(to[0]);
	close(from[1]);
	if (ret->pid > 0)
		return 0;
	close(to[1]);
	close(from[0]);
	*ret = (struct bsv_reader){ .pid = 0 };
	return bsa_fail(err, BSA_E_ENV, "no process to read it: %s", strerror(errno));
}

int bsv_reader_open(struct bsv_reader *ret, const char *directory, uint64_t settle_ns, bool compact,
                    const struct bsv_buckets *buckets, bool held_back, struct bsa_err *err)
{
	char settle[NUMBER_TEXT], bounds[BUCKETS_TEXT];
	size_t n = 0;
	const char *const argv[] = { BSV_IMPORTER,        BSV_FOLLOW, BURSTSCOPE_VERSION,    directory, settle,
		                     compact ? "1" : "0", bounds,     held_back ? "1" : "0", NULL };

	snprintf(settle, sizeof(settle), "%" PRIu64, settle_ns);
	strcpy(bounds, buckets ? "" : "-"); /* as figures.h has them */
	for (size_t i = 0; buckets && i < buckets->n; i++)
		n += (size_t)snprintf(bounds + n, sizeof(bounds) - n, "%" PRId64 ",", buckets->bounds[i]);
	return start_reader(ret, argv, err);
}

int bsv_reader_watch(struct bsv_reader *ret, const char *directory, uint64_t settle_ns, bool compact,
                     const struct bsv_watching *watching, struct bsa_err *err)
{
	enum { BEFORE = 10 };
	char settle[NUMBER_TEXT], window[NUMBER_TEXT], keep[NUMBER_TEXT];
	const char *argv[BEFORE + BSV_CONDITIONS_MOST + 1] = { BSV_IMPORTER, BSV_FOLLOW, BURSTSCOPE_VERSION,
		                                               directory,    settle,     compact ? "1" : "0",
		                                               "-",          "0",        window,
		                                               keep };

	for (size_t i = 0; i < watching->n_conditions && i < BSV_CONDITIONS_MOST; i++)
		argv[BEFORE + i] = watching->conditions[i].text;
	snprintf(settle, sizeof(settle), "%" PRIu64, settle_ns);
	snprintf(window, sizeof(window), "%" PRIu64, watching->window_ns);
	snprintf(keep, sizeof(keep), "%" PRIu64, watching->keep_bytes);
	return start_reader(ret, argv, err);
}

void bsv_reader_close(struct bsv_reader *r)
{
	if (!r->pid)
		return;
	close(r->to);
	close(r->from);
	free(r->tail);
	kill(r->pid, SIGKILL); /* the process keeps nothing that could be lost */
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*r = (struct bsv_reader){ .pid = 0 };
}

/* ---- what it says ---- */

/*
 * Ends the use of @r, whose question has failed for the reason @why: its answer may still come, and the next
 * question would take it for its own.
 */
static int reader_fail(struct bsv_reader *r, const char *why, struct bsa_err *err)
{
	r->failed = why;
	return bsa_fail(err, BSA_E_ENV, "%s", why);
}

static int reader_gone(struct bsv_reader *r, struct bsa_err *err)
{
	return reader_fail(r, "the process that reads the recording has gone", err);
}

static int reader_is_silent(struct bsv_reader *r, struct bsa_err *err)
{
	return reader_fail(r, "the process that reads the recording does not answer", err);
}

static int answers_something_else(struct bsv_reader *r, struct bsa_err *err)
{
	return reader_fail(r, "the process that reads the recording answers something else", err);
}

/* 0, or the error of the question that has failed. */
static int check_usable(const struct bsv_reader *r, struct bsa_err *err)
{
	return r->failed ? bsa_fail(err, BSA_E_ENV, "%s", r->failed) : 0;
}

static uint64_t after_ms(uint64_t since, unsigned ms)
{
	return since + ms * UINT64_C(1000000);
}

/*
 * Whether an answer, or the end of the process, is there before @until (as bsv_now), and before
 * @interrupt is readable.
 */
static bool answer_comes(const struct bsv_reader *r, int interrupt, uint64_t until)
{
	struct pollfd p[] = { { .fd = r->from, .events = POLLIN }, { .fd = interrupt, .events = POLLIN } };
	uint64_t now;
	int ready;

	do {
		now = bsv_now();
		ready = poll(p, 2, now < until ? (int)((until - now + 999999) / 1000000) : 0);
	} while (ready < 0 && errno == EINTR);
	return ready > 0 && p[0].revents;
}

/* 1: all of it; 0: not by then; *n_got counts on. */
static int read_until(struct bsv_reader *r, void *to, size_t n, size_t *n_got, int interrupt, uint64_t until,
                      struct bsa_err *err)
{
	bool first = true; /* what is there is read even if there is no time to wait */

	while (*n_got < n) {
		ssize_t got;

		if ((!first && bsv_now() >= until) || !answer_comes(r, interrupt, until))
			return 0;
		first = false;
		got = read(r->from, (char *)to + *n_got, n - *n_got);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return reader_gone(r, err);
		*n_got += (size_t)got;
	}
	return 1;
}

static void end_texts(struct bsv_figures *f, struct bsa_live_row *rows)
{
	f->err.text[sizeof(f->err.text) - 1] = 0;
	f->why[sizeof(f->why) - 1] = 0;
	for (size_t i = 0; i < BSV_CONDITIONS_MOST; i++) {
		f->folded[i].why[BSV_FOLDED_WHY - 1] = 0;
		f->folded[i].lost[BSV_FOLDED_LOST - 1] = 0;
	}
	f->session[sizeof(f->session) - 1] = 0;
	f->state.why = NULL;
	f->state.exact = !*f->why;
	for (uint32_t i = 0; i < f->n_rows; i++) {
		rows[i].app[sizeof(rows[i].app) - 1] = 0;
		rows[i].model[sizeof(rows[i].model) - 1] = 0;
	}
}

/*
 * Take as much of an answer, which may have @most_rows rows and @most_metrics bytes of metrics, as
 * comes until @until or @interrupt: into r->head and r->tail. 1: all of it is there; 0: not yet.
 */
static int take_whole(struct bsv_reader *r, uint32_t most_rows, uint32_t most_metrics, int interrupt, uint64_t until,
                      struct bsa_err *err)
{
	int k = read_until(r, &r->head, sizeof(r->head), &r->n_head, interrupt, until, err);
	size_t n;

	if (k <= 0)
		return k;
	if (r->head.magic != BSV_FIGURES_MAGIC || r->head.n_rows > most_rows || r->head.metrics_bytes > most_metrics)
		return answers_something_else(r, err);
	n = r->head.n_rows * sizeof(struct bsa_live_row) + r->head.metrics_bytes;
	if (!r->tail && !(r->tail = malloc(n + 1)))
		return reader_fail(r, "no memory for an answer of the process that reads the recording", err);
	return read_until(r, r->tail, n, &r->n_tail, interrupt, until, err);
}

/* The next answer is another one. Returns what followed the figures; owned by the caller. */
static char *take_tail(struct bsv_reader *r)
{
	char *ret = r->tail;

	r->tail = NULL;
	r->n_head = r->n_tail = 0;
	return ret;
}

/* The figures, and the rows, of the answer that is there. @rows NULL: there are to be none. */
static int give_rows(struct bsv_reader *r, struct bsv_figures *ret, struct bsa_live_row *rows, struct bsa_err *err)
{
	char *tail = take_tail(r);

	if (!rows && r->head.n_rows) {
		free(tail);
		return answers_something_else(r, err);
	}
	*ret = r->head;
	if (rows)
		memcpy(rows, tail, ret->n_rows * sizeof(*rows));
	free(tail);
	end_texts(ret, rows);
	return ret->code ? bsa_fail(err, BSA_E_ENV, "%s", ret->err.text) : 0;
}

static int put_words(struct bsv_reader *r, const char *words, struct bsa_err *err)
{
	size_t n = strlen(words);

	return r->pid && write(r->to, words, n) == (ssize_t)n ? 0 : reader_gone(r, err);
}

static int take_metrics(struct bsv_reader *r, int interrupt, uint64_t until, struct bsa_err *err)
{
	return take_whole(r, 0, BSV_FIGURES_METRICS, interrupt, until, err);
}

/*
 * An answer that nothing waits for any more is read, and dropped, if it comes until @until or @interrupt. 1: no
 * answer is due; 0: not yet.
 */
static int drop_answer(struct bsv_reader *r, int interrupt, uint64_t until, struct bsa_err *err)
{
	uint64_t since = r->counting ? r->counting_since : r->asking_since;
	int k;

	if (!r->counting && !r->asking)
		return 1;
	k = r->counting ? take_metrics(r, interrupt, until, err)
	                : take_whole(r, BSV_FIGURES_ROWS, 0, interrupt, until, err);
	if (!k && bsv_now() >= after_ms(since, PATIENCE_MS))
		k = reader_is_silent(r, err);
	if (k <= 0)
		return k;
	free(take_tail(r));
	r->counting = r->asking = false;
	return 1;
}

/*
 * The answer to the question of bsv_reader_ask that is open, if it comes until @until or @interrupt. 1: it is
 * there, and take_tail takes it; 0: not yet.
 */
static int take_rows(struct bsv_reader *r, int interrupt, uint64_t until, struct bsa_err *err)
{
	int k = take_whole(r, BSV_FIGURES_ROWS, 0, interrupt, until, err);

	if (!k && bsv_now() >= after_ms(r->asking_since, PATIENCE_MS))
		return reader_is_silent(r, err);
	r->asking = k <= 0;
	return k;
}

/* Write @words, the answer to which is due from now on. */
static int open_question(struct bsv_reader *r, const char *words, enum bsv_reader_rows which, struct bsa_err *err)
{
	int k = put_words(r, words, err);

	if (k < 0)
		return k;
	r->asking = true;
	r->asking_rows = which;
	r->asking_since = bsv_now();
	return 1;
}

int bsv_reader_ask(struct bsv_reader *r, enum bsv_reader_rows which, int interrupt, struct bsv_figures *ret,
                   struct bsa_live_row *rows, struct bsa_err *err)
{
	static const char *const words[] = { "look\n", "all\n", "finish\n", "state\n" };
	uint64_t until = after_ms(bsv_now(), ROWS_MS);
	bool is_other;
	int k = check_usable(r, err);

	if (k < 0)
		return k;
	do {
		if (!r->asking) {
			k = drop_answer(r, interrupt, until, err);
			if (k > 0)
				k = open_question(r, words[which], which, err);
			if (k <= 0)
				return k;
		}
		k = take_rows(r, interrupt, until, err);
		if (k <= 0)
			return k;
		is_other = r->asking_rows != which;
		if (is_other)
			free(take_tail(r));
	} while (is_other);
	k = give_rows(r, ret, rows, err);
	return k < 0 ? k : 1;
}

bool bsv_reader_is_asking(const struct bsv_reader *r)
{
	return !r->failed && r->asking && r->asking_rows != BSV_ROWS_NONE;
}

int bsv_reader_state(struct bsv_reader *r, int interrupt, struct bsv_figures *ret, struct bsa_err *err)
{
	return bsv_reader_ask(r, BSV_ROWS_NONE, interrupt, ret, NULL, err);
}

/* ---- without waiting ---- */

/* Read as much of the answer as is there. 1: all of it; 0: not yet. */
static int take_answer(struct bsv_reader *r, struct bsv_figures *answer, struct bsa_err *err)
{
	struct pollfd p = { .fd = r->from, .events = POLLIN };

	while (r->n_got < sizeof(*answer) && poll(&p, 1, 0) > 0) {
		ssize_t n = read(r->from, (char *)answer + r->n_got, sizeof(*answer) - r->n_got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return reader_gone(r, err);
		r->n_got += (size_t)n;
	}
	if (r->n_got == sizeof(*answer))
		return 1;
	if (bsv_now() - r->asked_at < r->patience)
		return 0;
	r->failed = "the process that reads the recording has not answered for a long time";
	return bsa_fail(err, BSA_E_ENV, "the process that reads the recording has not answered for %" PRIu64 " s",
	                r->patience / 1000000000);
}

/* Ask @words, if no question is open, and take what there is of the answer. 1: all of it. */
static int question(struct bsv_reader *r, const char *words, uint64_t patience, struct bsv_figures *answer,
                    struct bsa_err *err)
{
	size_t n = strlen(words);
	int k = check_usable(r, err);

	if (k < 0)
		return k;
	if (!r->pid)
		return reader_gone(r, err);
	if (!r->asked) {
		if (write(r->to, words, n) != (ssize_t)n)
			return reader_gone(r, err);
		r->asked = true;
		r->asked_at = bsv_now();
		r->patience = patience;
		r->n_got = 0;
	}
	k = take_answer(r, answer, err);
	if (k <= 0)
		return k;
	r->asked = false;
	if (answer->magic != BSV_FIGURES_MAGIC || answer->n_rows || answer->metrics_bytes)
		return answers_something_else(r, err);
	end_texts(answer, NULL);
	return 1;
}

int bsv_reader_conditions(struct bsv_reader *r, struct bsv_figures *answer, struct bsa_err *err)
{
	int k = question(r, "conditions\n", conditions_patience, answer, err);

	return k > 0 && answer->code ? bsa_fail(err, BSA_E_ENV, "%s", answer->err.text) : k;
}

int bsv_reader_save(struct bsv_reader *r, const char *path, struct bsv_figures *answer, struct bsa_err *err)
{
	char words[PATH_MAX + 8];
	int k;

	if (snprintf(words, sizeof(words), "save %s\n", path) >= (int)sizeof(words) || strchr(path, '\n'))
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be written", path);
	k = question(r, words, save_patience, answer, err);
	return k > 0 && answer->code ? bsa_fail(err, BSA_E_INPUT, "%s", answer->err.text) : k;
}

bool bsv_reader_take_metrics(struct bsv_reader *r)
{
	return r->failed || !r->counting || bsv_now() >= after_ms(r->counting_since, PATIENCE_MS) ||
	       take_metrics(r, -1, 0, NULL);
}

int bsv_reader_metrics(struct bsv_reader *r, enum bsv_metrics_form form, int interrupt, char **ret, size_t *ret_bytes,
                       struct bsa_err *err)
{
	uint64_t until, begun;
	bool usable;
	char *tail;
	int k = check_usable(r, err);

	*ret = NULL;
	*ret_bytes = 0;
	if (k < 0)
		return k;
	if (r->asking) { /* the answer to that comes first */
		k = take_rows(r, interrupt, after_ms(r->asking_since, METRICS_MS), err);
		if (k <= 0)
			return k;
		free(take_tail(r));
	}
	if (!r->counting) {
		k = put_words(r, form == BSV_OPENMETRICS ? "openmetrics\n" : "text\n", err);
		if (k < 0)
			return k;
		r->counting = true;
		r->counting_form = form;
		r->counting_since = bsv_now();
	}
	until = after_ms(r->counting_since, METRICS_MS);
	begun = after_ms(bsv_now(), METRICS_REST_MS);
	if ((r->n_head || answer_comes(r, -1, 0)) && until < begun)
		until = begun;
	usable = r->counting_form == form && bsv_now() < after_ms(r->counting_since, PATIENCE_MS);
	k = take_metrics(r, interrupt, until, err);
	if (!k && bsv_now() >= after_ms(r->counting_since, PATIENCE_MS))
		k = reader_is_silent(r, err);
	if (k <= 0)
		return k;
	r->counting = false;
	tail = take_tail(r);
	end_texts(&r->head, NULL);
	if (!usable) { /* the answer is of a scrape in another form, or too long ago */
		free(tail);
		return bsv_reader_metrics(r, form, interrupt, ret, ret_bytes, err);
	}
	if (r->head.code) {
		free(tail);
		return bsa_fail(err, BSA_E_ENV, "%s", r->head.err.text);
	}
	*ret = tail;
	*ret_bytes = r->head.metrics_bytes;
	return 1;
}

int bsv_reader_move(struct bsv_reader *r, const char *directory, int interrupt, struct bsa_err *err)
{
	char words[PATH_MAX + 8];
	int k = check_usable(r, err);

	if (k < 0)
		return k;
	if (snprintf(words, sizeof(words), "move %s\n", directory) >= (int)sizeof(words) || strchr(directory, '\n'))
		return bsa_fail(err, BSA_E_ENV, "%s cannot be followed", directory);
	k = drop_answer(r, interrupt, after_ms(bsv_now(), ROWS_MS), err);
	return k > 0 ? open_question(r, words, BSV_ROWS_LAST, err) : k;
}
