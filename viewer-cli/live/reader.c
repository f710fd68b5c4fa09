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

#include "base/say.h"
#include "input/apart.h"
#include "input/shared.h"

enum {
	PATIENCE_MS = 60000,
	METRICS_MS = 5000,
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
	kill(r->pid, SIGKILL); /* the process keeps nothing that could be lost */
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*r = (struct bsv_reader){ .pid = 0 };
}

/* ---- what it says ---- */

static int reader_gone(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "the process that reads the recording has gone");
}

static int read_all(const struct bsv_reader *r, void *to, size_t n, struct bsa_err *err)
{
	char *at = to;

	while (n) {
		struct pollfd p = { .fd = r->from, .events = POLLIN };
		int ready = poll(&p, 1, PATIENCE_MS);
		ssize_t got;

		if (ready < 0 && errno == EINTR)
			continue;
		if (!ready)
			return bsa_fail(err, BSA_E_ENV, "the process that reads the recording does not answer");
		got = read(r->from, at, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return reader_gone(err);
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

static void end_texts(struct bsv_figures *f, struct bsa_live_row *rows)
{
	f->err.text[sizeof(f->err.text) - 1] = 0;
	f->why[sizeof(f->why) - 1] = 0;
	f->session[sizeof(f->session) - 1] = 0;
	f->state.why = NULL;
	f->state.exact = !*f->why;
	for (uint32_t i = 0; i < f->n_rows; i++) {
		rows[i].app[sizeof(rows[i].app) - 1] = 0;
		rows[i].model[sizeof(rows[i].model) - 1] = 0;
	}
}

/* @ret_metrics NULL: there are to be none. *ret_metrics: of malloc, @ret->metrics_bytes of it. */
static int read_answer(const struct bsv_reader *r, struct bsv_figures *ret, struct bsa_live_row *rows,
                       char **ret_metrics, struct bsa_err *err)
{
	int k = read_all(r, ret, sizeof(*ret), err);

	if (k < 0)
		return k;
	if (ret->magic != BSV_FIGURES_MAGIC || ret->n_rows > (rows ? BSV_FIGURES_ROWS : 0) ||
	    ret->metrics_bytes > (ret_metrics ? BSV_FIGURES_METRICS : 0))
		return bsa_fail(err, BSA_E_ENV, "the process that reads the recording answers something else");
	k = read_all(r, rows, ret->n_rows * sizeof(*rows), err);
	if (k < 0)
		return k;
	end_texts(ret, rows);
	if (ret_metrics) {
		*ret_metrics = malloc(ret->metrics_bytes + 1);
		if (!*ret_metrics)
			return bsa_fail(err, BSA_E_ENV, "no memory for metrics");
		k = read_all(r, *ret_metrics, ret->metrics_bytes, err);
		if (k < 0) {
			free(*ret_metrics);
			*ret_metrics = NULL;
			return k;
		}
	}
	return ret->code ? bsa_fail(err, BSA_E_ENV, "%s", ret->err.text) : 0;
}

static int put_words(const struct bsv_reader *r, const char *words, struct bsa_err *err)
{
	size_t n = strlen(words);

	return r->pid && write(r->to, words, n) == (ssize_t)n ? 0 : reader_gone(err);
}

/* Metrics: 0 or a code, and then *ret is NULL. */
static int take_metrics(struct bsv_reader *r, char **ret, size_t *ret_bytes, struct bsa_err *err)
{
	struct bsv_figures figures;
	int k;

	r->counting = false;
	*ret = NULL;
	k = read_answer(r, &figures, NULL, ret, err);
	if (k < 0) {
		free(*ret);
		*ret = NULL;
	}
	*ret_bytes = k < 0 ? 0 : figures.metrics_bytes;
	return k;
}

static int ask_reader(struct bsv_reader *r, const char *words, struct bsv_figures *ret, struct bsa_live_row *rows,
                      struct bsa_err *err)
{
	char *late = NULL;
	size_t bytes;
	int k = r->counting ? take_metrics(r, &late, &bytes, err) : 0;

	free(late);
	if (k >= 0)
		k = put_words(r, words, err);
	return k < 0 ? k : read_answer(r, ret, rows, NULL, err);
}

int bsv_reader_ask(struct bsv_reader *r, enum bsv_reader_rows which, struct bsv_figures *ret, struct bsa_live_row *rows,
                   struct bsa_err *err)
{
	static const char *const words[] = { "look\n", "all\n", "finish\n" };

	return ask_reader(r, words[which], ret, rows, err);
}

int bsv_reader_state(struct bsv_reader *r, struct bsv_figures *ret, struct bsa_err *err)
{
	return ask_reader(r, "state\n", ret, NULL, err);
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
			return reader_gone(err);
		r->n_got += (size_t)n;
	}
	if (r->n_got == sizeof(*answer))
		return 1;
	if (bsv_now() - r->asked_at < r->patience)
		return 0;
	return bsa_fail(err, BSA_E_ENV, "the process that reads the recording has not answered for %" PRIu64 " s",
	                r->patience / 1000000000);
}

/* Ask @words, if no question is open, and take what there is of the answer. 1: all of it. */
static int question(struct bsv_reader *r, const char *words, uint64_t patience, struct bsv_figures *answer,
                    struct bsa_err *err)
{
	size_t n = strlen(words);
	int k;

	if (!r->pid)
		return reader_gone(err);
	if (!r->asked) {
		if (write(r->to, words, n) != (ssize_t)n)
			return reader_gone(err);
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
		return bsa_fail(err, BSA_E_ENV, "the process that reads the recording answers something else");
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

/* Whether an answer, or the end of the process, is there within @ms, and before @interrupt is readable. */
static bool answer_comes(const struct bsv_reader *r, int interrupt, int ms)
{
	struct pollfd p[] = { { .fd = r->from, .events = POLLIN }, { .fd = interrupt, .events = POLLIN } };

	return poll(p, 2, ms) > 0 && p[0].revents;
}

static uint64_t counting_ms(const struct bsv_reader *r)
{
	return (bsv_now() - r->counting_since) / 1000000;
}

bool bsv_reader_is_counting(const struct bsv_reader *r)
{
	return r->counting && counting_ms(r) < PATIENCE_MS && !answer_comes(r, -1, 0);
}

int bsv_reader_metrics(struct bsv_reader *r, enum bsv_metrics_form form, int interrupt, char **ret, size_t *ret_bytes,
                       struct bsa_err *err)
{
	uint64_t waited;
	bool usable;
	int k;

	*ret = NULL;
	*ret_bytes = 0;
	if (!r->counting) {
		k = put_words(r, form == BSV_OPENMETRICS ? "openmetrics\n" : "text\n", err);
		if (k < 0)
			return k;
		r->counting = true;
		r->counting_form = form;
		r->counting_since = bsv_now();
	}
	waited = counting_ms(r);
	usable = r->counting_form == form && waited < PATIENCE_MS;
	if (!answer_comes(r, interrupt, waited < METRICS_MS ? (int)(METRICS_MS - waited) : 0)) {
		if (waited < PATIENCE_MS)
			return 0;
		return bsa_fail(err, BSA_E_ENV, "the process that reads the recording does not answer");
	}
	k = take_metrics(r, ret, ret_bytes, err);
	if (k < 0 || usable)
		return k < 0 ? k : 1;
	free(*ret); /* the answer is of a scrape in another form, or too long ago */
	return bsv_reader_metrics(r, form, interrupt, ret, ret_bytes, err);
}

int bsv_reader_move(struct bsv_reader *r, const char *directory, struct bsv_figures *ret, struct bsa_live_row *rows,
                    struct bsa_err *err)
{
	char words[PATH_MAX + 8];

	if (snprintf(words, sizeof(words), "move %s\n", directory) >= (int)sizeof(words) || strchr(directory, '\n'))
		return bsa_fail(err, BSA_E_ENV, "%s cannot be followed", directory);
	return ask_reader(r, words, ret, rows, err);
}
