/*
 * follow.c -- burstscope-importer --follow: reads a recording while it grows, and answers on a pipe
 * (importer/figures.h).
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/write.h"
#include "importer/figures.h"
#include "input/shared.h"
#include "metrics/of_live.h"

enum {
	TOGETHER_MS = 1, /* LTTng writes the packets of all cpus one after the other: one look for all of them */
	LOOK_MS = 5,     /* between two looks, where nothing reports that the recording has grown */
	QUIET_MS =
		/*
		 * likewise, where something does: inotify reports nothing of a file system that
		 * another host writes to
		 */
	20,
	LOOK_CONDITIONS_MS = 250,
	LINE_MAX_BYTES = PATH_MAX + 8
};

struct following {
	struct bsa_live *live;
	struct bsv_metrics *metrics; /* NULL: metrics are not wanted */
	struct bsv_metrics_of_live *filling;
	struct bsv_folding *folding; /* NULL: no conditions */
	struct bsv_figures figures;  /* .code: the error that ended the reading */
	struct bsa_live_row rows[BSV_FIGURES_ROWS];
	char line[LINE_MAX_BYTES];
	size_t n;
};

static void error_keep(struct following *f, int r)
{
	if (r < 0 && !f->figures.code)
		f->figures.code = r;
}

enum rows { NO_ROWS, LAST_ROWS, ALL_ROWS };

/* @metrics: a text of @metrics_bytes; NULL: none. */
static bool write_answer(struct following *f, enum rows rows, const char *metrics, size_t metrics_bytes)
{
	struct bsv_figures *to = &f->figures;
	const char *why = NULL;

	to->n_rows = 0;
	to->metrics_bytes = metrics && metrics_bytes <= BSV_FIGURES_METRICS ? (uint32_t)metrics_bytes : 0;
	if (f->folding)
		bsv_folding_get(f->folding, to->folded);
	if (f->live && !metrics) {
		to->state = bsa_live_state(f->live);
		why = to->state.why;
		bsa_live_name(f->live, to->session, sizeof(to->session));
	}
	if (f->live && rows != NO_ROWS)
		to->n_rows = (uint32_t)bsa_live_rows(f->live, rows == ALL_ROWS, f->rows, BSV_FIGURES_ROWS);
	to->state.why = NULL;
	strncpy(to->why, why ? why : "", sizeof(to->why) - 1);
	return bsv_write_all(STDOUT_FILENO, to, sizeof(*to)) &&
	       bsv_write_all(STDOUT_FILENO, f->rows, to->n_rows * sizeof(*f->rows)) &&
	       bsv_write_all(STDOUT_FILENO, metrics, to->metrics_bytes);
}

static void recording_read(struct following *f)
{
	uint64_t now = bsv_now();

	if (f->metrics)
		bsv_metrics_at(f->metrics, now);
	if (!f->figures.code)
		error_keep(f, bsa_live_look(f->live, now, &f->figures.err));
	if (!f->figures.code && f->folding)
		bsv_folding_look(f->folding, f->live);
}

/* Obey one line. False: burstscope closed the pipe. */
static bool line_obey(struct following *f, const char *line)
{
	bool finish = !strcmp(line, "finish");

	if (!strncmp(line, "save ", 5)) { /* its error is that of this one answer */
		const struct bsa_err before = f->figures.err;
		int32_t code = f->figures.code;
		bool written;

		f->figures.code = code ? code : bsa_live_save(f->live, line + 5, &f->figures.err);
		written = write_answer(f, NO_ROWS, NULL, 0);
		f->figures.code = code;
		f->figures.err = before;
		return written;
	}

	if (!f->figures.code && finish)
		error_keep(f, bsa_live_finish(f->live, &f->figures.err));
	else if (!f->figures.code && !strncmp(line, "move ", 5))
		error_keep(f, bsa_live_move(f->live, line + 5, &f->figures.err));
	else if (!finish)
		recording_read(f);
	if (!strcmp(line, "openmetrics") || !strcmp(line, "text")) {
		struct bsa_live_state state;
		char *text = NULL;
		size_t bytes = 0;
		FILE *to = f->metrics && f->live ? open_memstream(&text, &bytes) : NULL;
		bool whole = false, written;

		if (to) {
			state = bsa_live_state(f->live);
			bsv_metrics_of_live_state(f->filling, &state);
			whole = !bsv_metrics_print(f->metrics, *line == 'o' ? BSV_OPENMETRICS : BSV_PROMETHEUS_TEXT,
			                           to);
			whole &= !fclose(to);
		}
		if (!whole)
			error_keep(f, bsa_fail(&f->figures.err, BSA_E_ENV, "no memory for metrics"));
		written = write_answer(f, NO_ROWS, whole ? text : "", whole ? bytes : 0);
		if (whole && written)
			bsv_metrics_scraped(f->metrics);
		free(text);
		return written;
	}
	if (!strcmp(line, "state"))
		return write_answer(f, NO_ROWS, NULL, 0);
	return write_answer(f, finish || !strcmp(line, "all") ? ALL_ROWS : LAST_ROWS, NULL, 0);
}

/* Obey, or wait until the recording has grown, and read it. False: burstscope closed the pipe. */
static bool following_step(struct following *f)
{
	struct pollfd p[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = -1, .events = POLLIN } };
	int ms = LOOK_CONDITIONS_MS;

	if (!f->folding && !f->figures.code) {
		uint64_t settles = bsa_live_next(f->live, &p[1].fd), now = bsv_now();

		/* How long until a look is worth it, if nothing reports before that the recording has grown. */
		if (p[1].fd < 0 || settles <= now + LOOK_MS * UINT64_C(1000000))
			ms = LOOK_MS;
		else if (settles < now + QUIET_MS * UINT64_C(1000000))
			ms = (int)((settles - now) / 1000000) + 1;
		else
			ms = QUIET_MS;
	}
	if (poll(p, 2, ms) > 0 && !p[0].revents)
		poll(p, 1, TOGETHER_MS);
	if (p[0].revents) {
		ssize_t n = read(STDIN_FILENO, f->line + f->n, sizeof(f->line) - 1 - f->n);
		char *end;

		if (n < 0 && errno == EINTR)
			return true;
		if (n <= 0)
			return false;
		f->n += (size_t)n;
		assert(f->n < sizeof(f->line));
		f->line[f->n] = 0;
		while ((end = strchr(f->line, '\n'))) {
			*end = 0;
			if (!line_obey(f, f->line))
				return false;
			f->n -= (size_t)(end + 1 - f->line);
			memmove(f->line, end + 1, f->n + 1);
		}
		return f->n < sizeof(f->line) - 1;
	}
	recording_read(f);
	return true;
}

int bsv_follow(int argc, char **argv)
{
	enum { ARG_VERSION = 2, ARG_DIRECTORY, ARG_SETTLE, ARG_COMPACT, ARG_BUCKETS, ARG_HELD_BACK, ARGS };
	enum { ARG_WINDOW = ARGS, ARG_KEEP, ARG_CONDITIONS }; /* these only where there are conditions */
	static struct following f = { .figures.magic = BSV_FIGURES_MAGIC };
	static struct bsv_condition conditions[BSV_CONDITIONS_MOST];
	struct bsa_live_options options = { 0 };
	size_t n = 0;

	if (argc < ARGS || strcmp(argv[ARG_VERSION], BURSTSCOPE_VERSION))
		return BSV_IMPORTER_STRANGE;
	if (argc > ARGS) {
		uint64_t window_ns = strtoull(argv[ARG_WINDOW], NULL, 10);

		if (argc < ARG_CONDITIONS || argc - ARG_CONDITIONS > BSV_CONDITIONS_MOST)
			return BSV_IMPORTER_STRANGE;
		options.keep_bytes = (size_t)strtoull(argv[ARG_KEEP], NULL, 10);
		for (int i = ARG_CONDITIONS; i < argc; i++)
			if (bsv_condition_read(&conditions[n++], argv[i], NULL) < 0)
				return BSV_IMPORTER_STRANGE;
		if (bsv_folding_new(&f.folding, conditions, n, window_ns, NULL) < 0)
			return BSV_IMPORTER_STRANGE;
		bsv_folding_options(f.folding, &options);
	}
	if (!strncmp(argv[ARG_DIRECTORY], BSV_URL, strlen(BSV_URL)))
		options.url = argv[ARG_DIRECTORY];
	else
		options.directory = argv[ARG_DIRECTORY];
	options.settle_ns = strtoull(argv[ARG_SETTLE], NULL, 10);
	options.compact = *argv[ARG_COMPACT] == '1';
	if (strcmp(argv[ARG_BUCKETS], "-") != 0) {
		struct bsv_buckets buckets = { .n = 0 };
		char *end;

		for (const char *at = argv[ARG_BUCKETS]; *at && buckets.n < BSV_BUCKETS_MAX; at = *end ? end + 1 : end)
			buckets.bounds[buckets.n++] = strtoll(at, &end, 10);
		f.metrics = bsv_metrics_new(&buckets);
		f.filling = f.metrics ? bsv_metrics_of_live_new(f.metrics) : NULL;
		if (!f.filling)
			return BSV_IMPORTER_STRANGE;
		if (*argv[ARG_HELD_BACK] == '1')
			bsv_metrics_of_live_held_back(f.filling);
		options.calls = bsv_metrics_of_live_calls(f.filling);
	}
	error_keep(&f, bsa_live_open(&f.live, &options, &f.figures.err));
	while (following_step(&f))
		;
	bsa_live_free(f.live);
	bsv_folding_free(f.folding);
	bsv_metrics_of_live_free(f.filling);
	bsv_metrics_free(f.metrics);
	return 0;
}
