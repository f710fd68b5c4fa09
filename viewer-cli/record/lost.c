/*
 * lost.c -- reads the losses of a recording and the settings beside it, and computes which settings
 * would have kept everything.
 */
#include "record/lost.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answer/answer.h"
#include "base/numbers.h"
#include "base/scoped.h"
#include "base/template.h"
#include "bsa/regular.h"
#include "record/packets.h"
#include "record/record.h"

#define SETTINGS "burstscope.record"

enum { USUAL_PIECES = 4 }; /* sub-buffers, where LTTng was not asked for another number */

/* ---- settings ---- */

void bsv_settings_write(const char *directory, const struct bsv_settings_kept *kept)
{
	char path[PATH_MAX], text[1024];
	int n, fd;

	if (snprintf(path, sizeof(path), "%s/" SETTINGS, directory) >= (int)sizeof(path))
		return;
	n = snprintf(text, sizeof(text),
	             "session %s\nbegan %020" PRIu64 "\nended %020" PRIu64 "\ndetail %s\nbuffer %020" PRIu64
	             "\nboottime %020" PRId64 "\nstreams %020u\n",
	             kept->session, kept->began, kept->ended, bsv_detail_name(kept->detail), kept->buffer,
	             kept->boottime < 0 ? -1 : kept->boottime, kept->ended ? bsv_streams_each(directory) : 0);
	if (*kept->scope->app && n < (int)sizeof(text))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "scope_app %s\n", kept->scope->app);
	if (kept->scope->pid && n < (int)sizeof(text))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "scope_pid %" PRIu32 "\n", kept->scope->pid);
	if (kept->scope->service && n < (int)sizeof(text))
		n += snprintf(text + n, sizeof(text) - (size_t)n, "scope_service %" PRIu32 "\n", kept->scope->service);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (fd < 0)
		return;
	if (n < (int)sizeof(text) && write(fd, text, (size_t)n) < 0)
		unlink(path); /* half of the advice is of no use */
	close(fd);
}

void bsv_settings_remove(const char *directory)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/" SETTINGS, directory) < (int)sizeof(path))
		unlink(path);
}

/*
 * The size of the buffers, as a file below @trace records it. @trace is a directory below the
 * recording's. 0: there is no such file.
 */
static uint64_t settings_buffer(const char *trace)
{
	const char *end = NULL;
	char path[PATH_MAX], line[128];
	uint64_t buffer = 0;
	FILE *f;
	int fd;

	for (const char *at = trace; (at = strstr(at, "/ust/")); at++)
		end = at; /* the last one: what is above the recording may be called so, too */
	if (snprintf(path, sizeof(path), "%.*s/" SETTINGS, end ? (int)(end - trace) : (int)strlen(trace), trace) >=
	    (int)sizeof(path))
		return 0;
	fd = bsa_open_regular(path);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "buffer %" SCNu64, &buffer) == 1)
			break;
	fclose(f);
	return buffer <= BSV_BUFFER_MOST ? buffer : 0;
}

/* ---- advice ---- */

static const struct bsv_column columns[] = {
	{ "trace_id", "id", NULL },
	{ "cpu", "number", NULL },
	{ "buffer_bytes", "bytes", "bytes" },
	{ "wanted_bytes", "bytes", "bytes" },
	{ "n_lost", "count", NULL },
	{ "n_in_a_row", "count", NULL },
	{ "per_second_bytes", "bytes", "bytes" },
	{ "held_ns", "duration", "ns" },
	{ "stall_ns", "duration", "ns" },
};

enum { N_COLUMNS = sizeof(columns) / sizeof(*columns) };

struct advising {
	struct bsv_rows *rows;
	struct bsv_advice worst;
	uint64_t worst_buffer;
	unsigned gone; /* traces */
	bool guessed;  /* how large buffers were */
};

static void advise_on(struct advising *a, int64_t trace_id, const char *trace, int64_t events)
{
	uint64_t buffer = settings_buffer(trace), bytes = 0;
	struct bsv_packets p;
	double each;

	if (bsv_packets_read(&p, trace, NULL) < 0) {
		a->gone++;
		return;
	}
	for (size_t i = 0; i < p.n; i++)
		bytes += p.streams[i].bytes;
	each = events > 0 ? (double)bytes / (double)events : bsv_event_bytes(BSV_DETAIL_FULL);
	for (size_t i = 0; i < p.n; i++) {
		const struct bsv_stream *s = &p.streams[i];
		uint64_t had = buffer ? buffer : USUAL_PIECES * s->largest;
		struct bsv_advice advice; /* the size that would have lost nothing */

		if (!s->lost)
			continue;
		a->guessed |= !buffer;
		advice = bsv_advise(had, s->rate, bsv_bytes_of(s->lost_most, each));
		bsv_rows_int(a->rows, trace_id);
		bsv_rows_int(a->rows, s->cpu);
		bsv_rows_int(a->rows, (int64_t)had);
		bsv_rows_int(a->rows, (int64_t)advice.size);
		bsv_rows_int(a->rows, (int64_t)s->lost);
		bsv_rows_int(a->rows, (int64_t)s->lost_most);
		bsv_rows_int(a->rows, (int64_t)advice.rate);
		bsv_rows_int(a->rows, (int64_t)advice.held_ns);
		bsv_rows_int(a->rows, (int64_t)advice.stall_ns);
		if (advice.size > a->worst.size) {
			a->worst = advice;
			a->worst_buffer = had;
		}
	}
	bsv_packets_fini(&p);
}

/* Every trace that lost something. */
static int advise_all(struct advising *a, struct bsa_db *db, struct bsa_err *err)
{
	struct bsv_rows *traces;
	int r = bsv_rows_query(&traces, db, bsv_sql_lost_traces, err);

	if (r < 0)
		return r;
	while ((r = bsv_rows_step(traces, err)) > 0) {
		struct bsv_cell path = bsv_rows_cell(traces, 0);

		if (path.type == BSA_STRING)
			advise_on(a, bsv_rows_get(traces, 2, 0), path.text, bsv_rows_get(traces, 1, 0));
	}
	bsv_rows_free(traces);
	return r;
}

static void add_advice(struct bsv_answer *answer, const struct advising *a)
{
	char b[BSV_BYTES_TEXT], c[BSV_BYTES_TEXT], d[BSV_BYTES_TEXT], e[BSV_BYTES_TEXT];

	if (a->gone)
		bsv_answer_note(answer,
		                "%u of the traces %s not there any more: how large the buffers were, and how quickly "
		                "they filled, only a trace tells",
		                a->gone, bsv_plural(a->gone, "is", "are"));
	if (!a->worst.size)
		return;
	bsv_answer_note(
		answer,
		"burstscope record --buffer %s would have lost nothing: %s a second fill %s in %.1f ms, and about %s "
		"more came before there was room again. --detail compact writes far less.",
		bsv_size_option(b, a->worst.size), bsv_bytes(c, a->worst.rate), bsv_bytes(d, a->worst_buffer),
		(double)a->worst.held_ns / 1e6, bsv_bytes(e, a->worst.lost_bytes));
	if (a->guessed)
		bsv_answer_note(
			answer,
			"how large the buffers were is not written there, for burstscope record has not recorded it: "
			"taken for four pieces of the largest packet, as is LTTng's habit");
}

/* ---- the answer ---- */

int bsv_doctor_recording(const struct bsv_call *call, struct bsa_err *err)
{
	bsv_scoped_input input = { .db = NULL };
	bsv_scoped_answer *answer = NULL;
	struct advising a = { .rows = bsv_rows_new(columns, N_COLUMNS) };
	struct bsv_verdict lost = {
		.name = "lost_events", .class = "count", .outcome = BSV_PASS, .why = "no event was lost"
	};
	const struct bsv_coverage *c = &input.coverage;
	char began[32];
	int r = a.rows ? bsv_input_open(&input, call->operands[0], call, err) : bsv_no_memory(err);

	if (r >= 0)
		r = advise_all(&a, input.db, err);
	if (r < 0) {
		bsv_rows_free(a.rows);
		return r;
	}
	answer = bsv_answer_new(call, &input);
	snprintf(began, sizeof(began), "%" PRId64, input.began);
	bsv_answer_sql(
		answer, "losses", "losses by buffer",
		bsv_fill(bsv_sql_losses, (const struct bsv_placeholder[]){ { "began", began }, { NULL, NULL } }));
	if (input.coverage.losses == input.coverage.unusable_losses)
		bsv_answer_hide(answer, "losses");
	bsv_answer_sql(answer, "impostors", "events that claim to be another user's, by trace",
	               bsv_fill(bsv_sql_impostors, (const struct bsv_placeholder[]){ { NULL, NULL } }));
	if (!input.coverage.impostors)
		bsv_answer_hide(answer, "impostors");
	bsv_answer_rows(answer, "advice", "sufficient buffers for each cpu", a.rows);
	if (!a.worst.size)
		bsv_answer_hide(answer, "advice");
	add_advice(answer, &a);
	if (c->lost_events || c->lost_packets || c->losses)
		lost.outcome = BSV_FAIL;
	if (c->lost_packets)
		lost.why = "packets were lost, and how many events they held is unknown";
	else if (lost.outcome == BSV_FAIL)
		lost.why = "intervals were not recorded, and how many events they held is unknown";
	if (c->lost_events)
		lost.why = NULL;
	lost.figure = (double)c->lost_events;
	bsv_answer_verdict(answer, &lost);
	return bsv_answer_print(answer, true, err);
}
