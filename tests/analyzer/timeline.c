/* timeline.c -- see timeline.h. */
#include "analyzer/timeline.h"

#include "base.h"
#include "fold/facts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX

enum { STRETCHES_MAX = 16, THINGS_MAX = 256, WORD_MAX = 256, TEXT_MAX = 512, GENERAL_FAILURE = 2, MISSED_DEADLINE = 5 };

static const char *const phases[BSA_PHASES] = { "prepare", "send",      "decode", "fence",  "slots",  "queue",
	                                        "run",     "preempted", "reply",  "return", "finish", "signal" };

/* ---- what there is ---- */

/* Facts about a stream, model or connection that the events of its executions have and their lines do not. */
struct thing {
	uint64_t number, model, conn, app, priority, path;
};

struct things {
	struct thing list[THINGS_MAX];
	size_t n;
};

struct told {
	uint64_t at;
	size_t order;
	uint64_t exec; /* 0: of none */
	char *text;
};

/* Nothing is emitted of @execs, or if there are none, of any execution. */
struct hole {
	uint64_t from, to, execs[8];
	size_t n;
};

struct timeline {
	const char *line; /* the line that is read */
	unsigned forms;
	uint64_t usual[BSA_PHASES];
	struct things streams, models, conns;
	struct hole holes[16];
	size_t n_holes;
	struct told *told;
	size_t n, room;
};

static void __attribute__((noreturn, format(printf, 2, 3))) wrong(const struct timeline *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("timeline: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n  in: %.*s\n", (int)strcspn(t->line, "\n"), t->line);
	va_end(args);
	abort();
}

/* ---- reading ---- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The next word of the line, cut off. NULL: there are no more. */
static const char *word(const struct timeline *t, const char **at, char ret[WORD_MAX])
{
	size_t n;

	*at += strspn(*at, " \t");
	n = strcspn(*at, " \t\n");
	if (!n || **at == '#')
		return NULL;
	if (n >= WORD_MAX)
		wrong(t, "too long: %.*s", (int)n, *at);
	memcpy(ret, *at, n);
	ret[n] = 0;
	*at += n;
	return ret;
}

static uint64_t unit(const struct timeline *t, char **at)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

	for (size_t i = 0; i < N_OF(units); i++)
		if (!strncmp(*at, units[i].text, strlen(units[i].text))) {
			*at += strlen(units[i].text);
			return units[i].ns;
		}
	if (!strchr("+-,\n", **at))
		wrong(t, "no number: %s", *at);
	return 1;
}

/* 10ms+30us-1 */
static uint64_t number(const struct timeline *t, const char *text)
{
	uint64_t sum = 0, term;
	bool minus = false;
	char *at = (char *)text;

	if (!*at || *at == '\n')
		wrong(t, "a number is missing");
	while (*at && *at != '\n') {
		minus = *at == '-';
		at += *at == '-' || *at == '+';
		if (!is_digit(*at))
			wrong(t, "no number: %s", text);
		errno = 0;
		term = strtoull(at, &at, 10);
		if (errno || __builtin_mul_overflow(term, unit(t, &at), &term))
			wrong(t, "too large: %s", text);
		sum += minus ? -term : term;
	}
	return sum;
}

/* Of number @number; all zero if no line has told of it. */
static struct thing thing(const struct things *things, uint64_t number)
{
	for (size_t i = 0; i < things->n; i++)
		if (things->list[i].number == number)
			return things->list[i];
	return (struct thing){ .number = number };
}

/* Replaces what was known of that number. */
static void thing_set(const struct timeline *t, struct things *things, struct thing new)
{
	size_t i = 0;

	while (i < things->n && things->list[i].number != new.number)
		i++;
	if (i == THINGS_MAX)
		wrong(t, "too many of them");
	things->list[i] = new;
	things->n += i == things->n;
}

/* STREAM:SEQ */
static uint64_t exec_number(const struct timeline *t, const char *text)
{
	uint64_t stream, sequence;
	char *end;

	stream = strtoull(text, &end, 0);
	if (!is_digit(*text) || *end != ':' || !is_digit(end[1]) || stream > UINT32_MAX)
		wrong(t, "no execution: %s", text);
	sequence = strtoull(end + 1, &end, 10);
	if (*end || sequence > UINT32_MAX)
		wrong(t, "no execution: %s", text);
	return stream << 32 | sequence;
}

/* A,B,C: each a number, or an execution. Returns how many. */
static size_t list(const struct timeline *t, const char *text, uint64_t *ret,
                   uint64_t (*read)(const struct timeline *, const char *))
{
	char part[WORD_MAX];
	size_t n = 0, len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		memcpy(part, text, len);
		part[len] = 0;
		if (n == STRETCHES_MAX)
			wrong(t, "too many of them");
		ret[n++] = read(t, part);
		if (!text[len])
			return n;
	}
}

/* ---- writing ---- */

static void __attribute__((format(printf, 4, 5)))
tell(struct timeline *t, uint64_t at, uint64_t exec, const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (n < 0 || n >= TEXT_MAX)
		wrong(t, "an event of more than %d characters", TEXT_MAX - 1);
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 256;
		t->told = realloc(t->told, t->room * sizeof(*t->told));
		if (!t->told)
			abort();
	}
	t->told[t->n] = (struct told){ .at = at, .order = t->n, .exec = exec, .text = strdup(text) };
	t->n++;
}

/* ---- executions ---- */

struct execution {
	uint64_t decode_delay, run_delay, reply_delay, reference, submit_delay, gap, turns;
	uint64_t left, failed; /* left: the client's call fails so long after it was submitted; 0: it does not */
	uint64_t exec, at, deadline, cpu, priority, model, app, path, status, estimate, floor;
	uint64_t slept, spun, blocked, answer_slept, answer_spun, answer_blocked, hits, misses, fetch, fallback, tell,
		fences;
	int64_t over;
	uint64_t phase[BSA_PHASES];
	uint64_t lane[STRETCHES_MAX], run[STRETCHES_MAX], off[STRETCHES_MAX], by[STRETCHES_MAX], redo[STRETCHES_MAX],
		asked[STRETCHES_MAX], stalled[STRETCHES_MAX];
	size_t n_lane, n_run, n_off; /* lanes: of the first stretches, and of the rest the last of them */
	const char *dies;
	bool client, service;
	/* made of the above */
	uint64_t written, taken, decoded, fenced, enqueued, dispatched, ended, answered, heard, returned, signalled;
	uint64_t redone;
};

static bool dies(const struct execution *x, const char *where)
{
	return x->dies && !strcmp(x->dies, where);
}

static uint64_t sum(const uint64_t *a, size_t n)
{
	uint64_t ret = 0;

	while (n-- > 0)
		ret += a[n];
	return ret;
}

static void find_service_times(struct execution *x)
{
	const uint64_t *phase = x->phase;

	x->fenced = x->enqueued = x->dispatched = NEVER;
	x->ended = x->decoded;
	if (dies(x, "launch"))
		return;
	if (x->path == BSA_PATH_FENCED)
		x->ended = x->fenced = x->decoded + phase[BSA_FENCE];
	x->ended += phase[BSA_SLOTS];
	if (dies(x, "slots"))
		return;
	x->enqueued = x->ended;
	x->ended += phase[BSA_QUEUE];
	if (dies(x, "queue"))
		return;
	x->dispatched = x->ended;
	x->ended += sum(x->run, x->n_run) + sum(x->off, x->n_off);
}

static void find_times(struct execution *x)
{
	const uint64_t *phase = x->phase;

	x->written = x->at + phase[BSA_PREPARE];
	x->taken = x->written + phase[BSA_SEND];
	x->decoded = x->taken + phase[BSA_DECODE];
	find_service_times(x);
	x->signalled = NEVER;
	x->answered = x->ended + phase[BSA_REPLY];
	if (x->path == BSA_PATH_FENCED && !dies(x, "launch")) { /* the launch is answered at once */
		x->signalled = x->ended + phase[BSA_SIGNAL];
		x->answered = x->decoded;
	}
	x->heard = x->left ? NEVER : x->answered + phase[BSA_RETURN];
	x->returned = x->left ? x->at + x->left : x->heard + phase[BSA_FINISH];
	x->redone = sum(x->redo, x->n_run);
}

/* The lane of stretch @i; 0 if the line names none. */
static uint64_t lane(const struct execution *x, size_t i)
{
	return x->n_lane ? x->lane[i < x->n_lane ? i : x->n_lane - 1] : 0;
}

static uint64_t last_lane(const struct execution *x)
{
	return x->dispatched == NEVER ? 255 : lane(x, x->n_run - 1);
}

/* The service's events that are emitted with full and with compact events. */
static void tell_rare(struct timeline *t, const struct execution *x)
{
	uint64_t at = x->dispatched;

	if (x->fenced != NEVER)
		tell(t, x->fenced, x->exec, "fence_wait exec=%" PRIu64 " fences=%" PRIu64 " took_ns=%" PRIu64, x->exec,
		     x->fences, x->fences ? x->phase[BSA_FENCE] : 0);
	if (x->fetch)
		tell(t, x->decoded + x->fetch, x->exec,
		     "slot_fetch stream=%" PRIu64 " exec=%" PRIu64 " slots=%" PRIu64 " took_ns=%" PRIu64, x->exec >> 32,
		     x->exec, x->misses, x->fetch);
	for (size_t i = 0; i < x->n_off && x->dispatched != NEVER; i++) {
		at += x->run[i];
		tell(t, at, x->exec,
		     "sched_preempt exec=%" PRIu64 " by=%" PRIu64 " lane=%" PRIu64 " mode=%s asked_ns=%" PRIu64
		     " redo_ns=%" PRIu64,
		     x->exec, x->by[i], lane(x, i), x->stalled[i] ? "stalled" : "restart", x->asked[i], x->redo[i]);
		if (x->stalled[i] && (x->stalled[i] < x->off[i] || i + 1 < x->n_run))
			tell(t, at + x->stalled[i], x->exec, "sched_ready exec=%" PRIu64, x->exec);
		at += x->off[i];
		if (i + 1 < x->n_run)
			tell(t, at, x->exec, "sched_resume exec=%" PRIu64 " lane=%" PRIu64 " resumed=restart", x->exec,
			     lane(x, i + 1));
	}
	if (x->dies && !dies(x, "launch"))
		tell(t, x->ended - x->tell, x->exec,
		     "deadline_miss exec=%" PRIu64 " model=%" PRIu64 " kind=transient stage=%s"
		     " deadline_ns=%" PRIu64 " estimate_ns=%" PRIu64 " over_ns=%" PRId64,
		     x->exec, x->model,
		     dies(x, "slots")   ? "admission"
		     : dies(x, "queue") ? "queue"
		                        : "running",
		     x->deadline, x->estimate, x->over);
	if (x->signalled != NEVER)
		tell(t, x->signalled, x->exec, "fence_signal exec=%" PRIu64 " status=%" PRIu64, x->exec, x->status);
}

static void tell_asking(struct timeline *t, const struct execution *x, bool call)
{
	tell(t, x->at, x->exec,
	     "exec_submit exec=%" PRIu64 " model=%" PRIu64 " path=%" PRIu64 " deadline_ns=%" PRIu64
	     " pools=2 fallback=%" PRIu64 " delay_ns=%" PRIu64 " gap_ns=%" PRIu64 " turns=%" PRIu64,
	     x->exec, x->model, x->path, x->deadline, x->fallback, x->submit_delay, x->gap, x->turns);
	tell(t, x->written, x->exec, "fmq_write exec=%" PRIu64 " queue=%s items=4 blocked_ns=%" PRIu64, x->exec,
	     call ? "call_request" : "request", x->blocked);
}

/* What the client's call returns. */
static uint64_t client_status(const struct execution *x)
{
	if (x->left)
		return x->failed;
	return x->signalled == NEVER ? x->status : 0;
}

static void tell_hearing(struct timeline *t, const struct execution *x, bool call)
{
	if (x->heard != NEVER)
		tell(t, x->heard, x->exec,
		     "fmq_read exec=%" PRIu64 " queue=%s items=2 spun_ns=%" PRIu64 " slept_ns=%" PRIu64, x->exec,
		     call ? "call_result" : "result", x->answer_spun, x->answer_slept);
	tell(t, x->returned, x->exec, "exec_return exec=%" PRIu64 " status=%" PRIu64, x->exec, client_status(x));
}

/* @at, as ns after @began; "-" if never. */
static const char *since(char ret[32], uint64_t at, uint64_t began)
{
	snprintf(ret, 32, "%" PRIu64, at - began);
	return at == NEVER ? "-" : ret;
}

static const char *delays(char ret[100], const struct execution *x)
{
	char text[3][32];

	snprintf(ret, 100, "%s,%s,%s", since(text[0], x->decode_delay, 0), since(text[1], x->run_delay, 0),
	         since(text[2], x->reply_delay, 0));
	return ret;
}

static void tell_delays(struct timeline *t, const struct execution *x)
{
	char text[100];

	if (x->decode_delay != NEVER || x->run_delay != NEVER || x->reply_delay != NEVER || x->reference)
		tell(t, x->answered, x->exec, "exec_delay exec=%" PRIu64 " delays=%s reference_ns=%" PRIu64, x->exec,
		     delays(text, x), x->reference);
}

static void tell_service(struct timeline *t, const struct execution *x, bool call)
{
	tell(t, x->taken, x->exec, "fmq_read exec=%" PRIu64 " queue=%s items=4 spun_ns=%" PRIu64 " slept_ns=%" PRIu64,
	     x->exec, call ? "call_request" : "request", x->spun, x->slept);
	tell(t, x->decoded, x->exec, "request_decode exec=%" PRIu64 " model=%" PRIu64 " operands=2 pools=%" PRIu64,
	     x->exec, x->model, x->hits + x->misses);
	for (uint64_t i = 0; i < x->hits + x->misses; i++)
		tell(t, x->decoded, x->exec, "slot_lookup exec=%" PRIu64 " slot=%" PRIu64 " hit=%d", x->exec, i,
		     i >= x->misses);
	if (x->enqueued != NEVER)
		tell(t, x->enqueued, x->exec,
		     "sched_enqueue exec=%" PRIu64 " model=%" PRIu64 " app=%" PRIu64 " priority=%" PRIu64
		     " deadline_ns=%" PRIu64 " estimate_ns=%" PRIu64 " floor_ns=%" PRIu64,
		     x->exec, x->model, x->app, x->priority, x->deadline, x->estimate, x->floor);
	if (x->dispatched != NEVER)
		tell(t, x->dispatched, x->exec, "sched_dispatch exec=%" PRIu64 " lane=%" PRIu64, x->exec, lane(x, 0));
	tell(t, x->ended, x->exec,
	     "exec_end exec=%" PRIu64 " lane=%" PRIu64 " status=%" PRIu64 " cpu_ns=%" PRIu64 " redo_ns=%" PRIu64,
	     x->exec, last_lane(x), x->status, x->cpu, x->redone);
	tell_delays(t, x);
	tell(t, x->answered, x->exec, "fmq_write exec=%" PRIu64 " queue=%s items=2 blocked_ns=%" PRIu64, x->exec,
	     call ? "call_result" : "result", x->answer_blocked);
}

static void tell_client_compact(struct timeline *t, const struct execution *x)
{
	char heard[32];

	tell(t, x->returned + 1, x->exec,
	     "exec_client exec=%" PRIu64 " model=%" PRIu64 " path=%" PRIu64 " deadline_ns=%" PRIu64 " status=%" PRIu64
	     " fallback=%" PRIu64 " began=%" PRIu64 " at=%" PRIu64 ",%s,%" PRIu64 ",%" PRIu64 " delay_ns=%" PRIu64
	     " gap_ns=%" PRIu64 " turns=%" PRIu64,
	     x->exec, x->model, x->path, x->deadline, client_status(x), x->fallback, x->at, x->written - x->at,
	     since(heard, x->heard, x->at), x->returned - x->at, x->answer_slept, x->submit_delay, x->gap, x->turns);
}

static void tell_service_compact(struct timeline *t, const struct execution *x)
{
	uint64_t over = x->signalled == NEVER ? x->answered : x->signalled; /* its result is its fence */
	char text[5][32], rest[100];

	tell(t, over + 1, x->exec,
	     "exec_service exec=%" PRIu64 " model=%" PRIu64 " app=%" PRIu64 " priority=%" PRIu64 " path=%" PRIu64
	     " lane=%" PRIu64 " status=%" PRIu64 " began=%" PRIu64 " at=%" PRIu64 ",%s,%s,%s,%" PRIu64 ",%" PRIu64
	     ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%s"
	     " lookups=%" PRIu64 " misses=%" PRIu64 " preemptions=%zu delays=%s reference_ns=%" PRIu64,
	     x->exec, x->model, x->app, x->priority, x->path, last_lane(x), x->status, x->taken, x->decoded - x->taken,
	     since(text[0], x->fenced, x->taken), since(text[1], x->enqueued, x->taken),
	     since(text[2], x->dispatched, x->taken), x->ended - x->taken, over - x->taken, x->slept, x->answer_blocked,
	     x->redone, since(text[3], x->cpu, 0), x->hits + x->misses, x->misses, x->n_off, delays(rest, x),
	     x->reference);
}

static void tell_execution(struct timeline *t, struct execution *x)
{
	bool call = x->path != BSA_PATH_BURST;

	find_times(x);
	if (x->client && t->forms & TIMELINE_FULL)
		tell_asking(t, x, call);
	if (x->service)
		tell_rare(t, x);
	if (x->service && t->forms & TIMELINE_FULL)
		tell_service(t, x, call);
	if (x->client && t->forms & TIMELINE_FULL)
		tell_hearing(t, x, call);
	if (x->client && t->forms & TIMELINE_COMPACT)
		tell_client_compact(t, x);
	if (x->service && t->forms & TIMELINE_COMPACT)
		tell_service_compact(t, x);
}

/* ---- an execution's line ---- */

static bool give_number(const struct timeline *t, struct execution *x, const char *name, const char *value)
{
	const struct {
		const char *name;
		uint64_t *to;
	} fields[] = { { "cpu", &x->cpu },
		       { "reference", &x->reference },
		       { "decode_delay", &x->decode_delay },
		       { "run_delay", &x->run_delay },
		       { "reply_delay", &x->reply_delay },
		       { "submit_delay", &x->submit_delay },
		       { "gap", &x->gap },
		       { "turns", &x->turns },
		       { "priority", &x->priority },
		       { "model", &x->model },
		       { "status", &x->status },
		       { "estimate", &x->estimate },
		       { "floor", &x->floor },
		       { "slept", &x->slept },
		       { "spun", &x->spun },
		       { "blocked", &x->blocked },
		       { "answer_slept", &x->answer_slept },
		       { "answer_spun", &x->answer_spun },
		       { "answer_blocked", &x->answer_blocked },
		       { "hits", &x->hits },
		       { "misses", &x->misses },
		       { "fetch", &x->fetch },
		       { "fallback", &x->fallback },
		       { "fences", &x->fences },
		       { "left", &x->left },
		       { "failed", &x->failed },
		       { "tell", &x->tell },
		       { "over", (uint64_t *)&x->over } };

	for (size_t i = 0; i < N_OF(fields); i++)
		if (!strcmp(fields[i].name, name)) {
			*fields[i].to = number(t, value);
			return true;
		}
	return false;
}

static bool give_phase(const struct timeline *t, struct execution *x, const char *name, const char *value)
{
	for (int i = 0; i < BSA_PHASES; i++) {
		if (strcmp(phases[i], name))
			continue;
		if (i == BSA_RUN && strchr(value, ','))
			x->n_run = list(t, value, x->run, number);
		else
			x->phase[i] = number(t, value) + (strchr("+-", *value) ? t->usual[i] : 0);
		return true;
	}
	return false;
}

static bool give_list(const struct timeline *t, struct execution *x, const char *name, const char *value)
{
	if (!strcmp(name, "lane"))
		x->n_lane = list(t, value, x->lane, number);
	else if (!strcmp(name, "off"))
		x->n_off = list(t, value, x->off, number);
	else if (!strcmp(name, "by"))
		list(t, value, x->by, exec_number);
	else if (!strcmp(name, "redo"))
		list(t, value, x->redo, number);
	else if (!strcmp(name, "asked"))
		list(t, value, x->asked, number);
	else if (!strcmp(name, "stalled"))
		list(t, value, x->stalled, number);
	else
		return false;
	return true;
}

static const char *one_of(const struct timeline *t, const char *name, const char *value, const char *const *names,
                          size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], value))
			return names[i];
	wrong(t, "no such thing: %s=%s", name, value);
}

static void give(const struct timeline *t, struct execution *x, const char *name, const char *value)
{
	static const char *const endings[] = { "launch", "slots", "queue", "run" };
	static const char *const sides[] = { "client", "service" };

	if (give_phase(t, x, name, value) || give_number(t, x, name, value) || give_list(t, x, name, value))
		return;
	if (!strcmp(name, "deadline"))
		x->deadline = number(t, value);
	else if (!strcmp(name, "dies"))
		x->dies = one_of(t, name, value, endings, N_OF(endings));
	else if (!strcmp(name, "side"))
		*(one_of(t, name, value, sides, N_OF(sides)) == sides[0] ? &x->service : &x->client) = false;
	else
		wrong(t, "no such thing: %s=%s", name, value);
}

static struct execution execution(const struct timeline *t, uint64_t exec)
{
	const struct thing stream = thing(&t->streams, exec >> 32);
	struct execution x = { .exec = exec,
		               .model = stream.model,
		               .path = stream.path,
		               .cpu = NEVER,
		               .fences = 1,
		               .failed = GENERAL_FAILURE,
		               .decode_delay = NEVER,
		               .run_delay = NEVER,
		               .reply_delay = NEVER,
		               .app = thing(&t->conns, stream.conn).app,
		               .priority = thing(&t->models, stream.model).priority,
		               .client = true,
		               .service = true };

	memcpy(x.phase, t->usual, sizeof(x.phase));
	return x;
}

/* [xN every=T] NAME=VALUE... of execution @exec, submitted at @at. */
static void read_execution(struct timeline *t, uint64_t at, uint64_t exec, const char *rest)
{
	struct execution x = execution(t, exec), one;
	uint64_t n = 1, every = 0, models = x.model;
	char text[WORD_MAX], *is;

	while (word(t, &rest, text)) {
		is = strchr(text, '=');
		if (!is && *text == 'x') {
			n = number(t, text + 1);
			if (!n)
				wrong(t, "no execution: %s", text);
			continue;
		}
		if (!is)
			wrong(t, "that is no NAME=VALUE: %s", text);
		*is = 0;
		if (!strcmp(text, "every"))
			every = number(t, is + 1);
		else
			give(t, &x, text, is + 1);
	}
	if (x.model != models)
		x.priority = thing(&t->models, x.model).priority;
	if (!x.n_run) {
		x.n_run = 1;
		x.run[0] = x.phase[BSA_RUN];
	}
	if (x.dies && !x.status)
		x.status = MISSED_DEADLINE;
	for (uint64_t i = 0; i < n; i++) {
		one = x;
		one.exec += i;
		one.at = at + i * every;
		one.deadline += x.deadline ? one.at : 0;
		tell_execution(t, &one);
	}
}

/* ---- other lines ---- */

/* Copies the value of @name, 0 if the line at @line does not have it. Returns @ret. */
static const char *value_of(const struct timeline *t, const char *line, const char *name, char ret[WORD_MAX])
{
	size_t n = strlen(name);

	while (word(t, &line, ret))
		if (!strncmp(ret, name, n) && ret[n] == '=')
			return memmove(ret, ret + n + 1, strlen(ret + n));
	return strcpy(ret, "0");
}

static uint64_t field_number(const struct timeline *t, const char *value)
{
	char *end;
	uint64_t ret;

	errno = 0;
	ret = strtoull(value, &end, 0);
	if (errno || !is_digit(*value) || *end)
		wrong(t, "no number: %s", value);
	return ret;
}

static uint64_t field(const struct timeline *t, const char *line, const char *name)
{
	char value[WORD_MAX];

	return field_number(t, value_of(t, line, name, value));
}

static uint64_t named(const struct timeline *t, const char *line, const char *name, const char *const *labels, size_t n)
{
	char value[WORD_MAX];

	value_of(t, line, name, value);
	for (size_t i = 0; i < n; i++)
		if (!strcmp(value, labels[i]))
			return i;
	return field_number(t, value);
}

/* The facts that executions will have of it. */
static void remember(struct timeline *t, const char *line)
{
	static const char *const priorities[] = { "low", "medium", "high" };
	static const char *const paths[] = { "burst", "sync", "fenced", "async", "prepare" };

	if (!strncmp(line, "client_connect ", 15))
		thing_set(t, &t->conns,
		          (struct thing){ .number = field(t, line, "conn"), .app = field(t, line, "app") });
	if (!strncmp(line, "model_prepare ", 14))
		thing_set(t, &t->models,
		          (struct thing){ .number = field(t, line, "model"),
		                          .priority = named(t, line, "priority", priorities, N_OF(priorities)) });
	if (!strncmp(line, "stream_open ", 12))
		thing_set(t, &t->streams,
		          (struct thing){ .number = field(t, line, "stream"),
		                          .conn = field(t, line, "conn"),
		                          .model = field(t, line, "model"),
		                          .path = named(t, line, "path", paths, N_OF(paths)) });
}

static void read_usual(struct timeline *t, const char *rest)
{
	struct execution x = { 0 };
	char text[WORD_MAX], *is;

	while (word(t, &rest, text)) {
		is = strchr(text, '=');
		if (!is)
			wrong(t, "that is no NAME=VALUE: %s", text);
		*is = 0;
		if (!give_phase(t, &x, text, is + 1))
			wrong(t, "no such phase: %s", text);
	}
	memcpy(t->usual, x.phase, sizeof(t->usual));
}

static struct hole *hole(struct timeline *t, uint64_t from, uint64_t to)
{
	if (t->n_holes == N_OF(t->holes))
		wrong(t, "too many of them");
	t->holes[t->n_holes] = (struct hole){ .from = from, .to = to };
	return &t->holes[t->n_holes++];
}

static void read_loss(struct timeline *t, const char *rest)
{
	char from[WORD_MAX], to[WORD_MAX], text[WORD_MAX];
	struct hole *h;

	if (!word(t, &rest, from) || !word(t, &rest, to))
		wrong(t, "lose FROM TO [EXECUTION...]");
	h = hole(t, number(t, from), number(t, to));
	while (word(t, &rest, text)) {
		if (h->n == N_OF(h->execs))
			wrong(t, "too many of them");
		h->execs[h->n++] = exec_number(t, text);
	}
	tell(t, h->from, 0, "loss ended=%" PRIu64 " events=1", h->to);
}

static void read_start(struct timeline *t, const char *rest)
{
	hole(t, 0, number(t, rest + strspn(rest, " ")) - 1);
}

static void read_stop(struct timeline *t, const char *rest)
{
	hole(t, number(t, rest + strspn(rest, " ")) + 1, NEVER);
}

static void read_untold(struct timeline *t, const char *rest)
{
	remember(t, rest + strspn(rest, " "));
}

static bool is_directive(struct timeline *t, const char *first, const char *rest)
{
	static const struct {
		const char *name;
		void (*read)(struct timeline *, const char *);
	} directives[] = { { "usual", read_usual },
		           { "lose", read_loss },
		           { "start", read_start },
		           { "stop", read_stop },
		           { "untold", read_untold } };

	for (size_t i = 0; i < N_OF(directives); i++)
		if (!strcmp(directives[i].name, first)) {
			directives[i].read(t, rest);
			return true;
		}
	return false;
}

static void read_line(struct timeline *t)
{
	char first[WORD_MAX], second[WORD_MAX];
	const char *at = t->line;
	uint64_t now;

	if (!word(t, &at, first) || is_directive(t, first, at))
		return;
	now = number(t, first);
	at += strspn(at, " \t");
	remember(t, at);
	if (*at >= '0' && *at <= '9' && word(t, &at, second))
		read_execution(t, now, exec_number(t, second), at);
	else
		tell(t, now, 0, "%.*s", (int)strcspn(at, "\n"), at);
}

/* ---- all of it ---- */

static bool is_lost(const struct timeline *t, const struct told *e)
{
	for (size_t i = 0; i < t->n_holes && e->exec; i++) {
		const struct hole *h = &t->holes[i];

		if (e->at < h->from || e->at > h->to)
			continue;
		for (size_t k = 0; k < h->n; k++)
			if (h->execs[k] == e->exec)
				return true;
		if (!h->n)
			return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct told *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static char *print(struct timeline *t)
{
	char *ret = NULL;
	size_t size;
	FILE *out = open_memstream(&ret, &size);

	if (!out)
		abort();
	qsort(t->told, t->n, sizeof(*t->told), compare);
	for (size_t i = 0; i < t->n; i++) {
		if (!is_lost(t, &t->told[i]))
			fprintf(out, "%" PRIu64 " %s\n", t->told[i].at, t->told[i].text);
		free(t->told[i].text);
	}
	free(t->told);
	fclose(out);
	return ret;
}

char *timeline(const char *text, unsigned forms)
{
	struct timeline t = { .forms = forms };

	for (t.line = text; *t.line; t.line += strcspn(t.line, "\n"), t.line += *t.line == '\n')
		read_line(&t);
	return print(&t);
}
