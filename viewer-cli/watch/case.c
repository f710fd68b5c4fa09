/*
 * case.c -- collects the causes of a case, and writes and reads its case.json.
 *
 * TRUST  Any process that can write to the directory of cases can write anything into a case.json.
 *        jansson parses the whole file first. A member that is missing or has another type counts
 *        as absent, and lists are cut to the room there is.
 */
#include "watch/case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/numbers.h"
#include "base/scoped.h"
#include "base/text.h"
#include "bsa/regular.h"
#include "export/output.h"

enum { FORMAT = 1, LARGEST = 1 << 20 /* bytes of a case.json */ };

#define FILE_NAME "case.json"

static void cause_fini(struct bsv_case_cause *c)
{
	free(c->condition);
	free(c->finding);
	free(c->app);
	free(c->model);
	free(c->culprit);
	free(c->what);
}

void bsv_case_fini(struct bsv_case *c)
{
	free(c->state);
	free(c->summary);
	free(c->why);
	for (size_t i = 0; i < c->n_causes; i++)
		cause_fini(&c->causes[i]);
	*c = (struct bsv_case){ .n_causes = 0 };
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool bsv_case_cause_same(const struct bsv_case_cause *a, const struct bsv_case_cause *b)
{
	return same_text(a->condition, b->condition) && same_text(a->finding, b->finding) &&
	       same_text(a->app, b->app) && same_text(a->culprit, b->culprit) && a->has_user == b->has_user &&
	       a->user == b->user;
}

static bool same_user(const struct bsv_case_cause *a, const struct bsv_case_cause *b)
{
	return a->has_user == b->has_user && a->user == b->user;
}

struct cause_counts {
	size_t of_user, of_app;
};

/* How many causes the user and the app of @of have, counting @added, which is not in the case yet. */
static struct cause_counts count_causes(const struct bsv_case *c, const struct bsv_case_cause *added,
                                        const struct bsv_case_cause *of)
{
	struct cause_counts ret = { 0, 0 };

	for (size_t i = 0; i <= c->n_causes; i++) {
		const struct bsv_case_cause *cause = i < c->n_causes ? &c->causes[i] : added;

		if (!same_user(cause, of))
			continue;
		ret.of_user++;
		ret.of_app += same_text(cause->app, of->app);
	}
	return ret;
}

/*
 * The cause to forget for @added. n_causes: @added itself, which loses every tie, so that equal
 * causes do not replace each other.
 */
static size_t cause_to_forget(const struct bsv_case *c, const struct bsv_case_cause *added)
{
	struct cause_counts most = count_causes(c, added, added), has;
	const struct bsv_case_cause *user = added;
	size_t ret = c->n_causes;

	for (size_t i = 0; i < c->n_causes; i++) {
		has = count_causes(c, added, &c->causes[i]);
		if (has.of_user > most.of_user) {
			user = &c->causes[i];
			most.of_user = has.of_user;
			most.of_app = 0;
		}
	}
	for (size_t i = 0; i < c->n_causes; i++) {
		if (!same_user(&c->causes[i], user))
			continue;
		has = count_causes(c, added, &c->causes[i]);
		if (has.of_app > most.of_app || (has.of_app == most.of_app && ret < c->n_causes)) {
			most.of_app = has.of_app;
			ret = i; /* the last cause of the app */
		}
	}
	return ret;
}

void bsv_case_add(struct bsv_case *c, struct bsv_case_cause cause)
{
	size_t at = c->n_causes;

	if (c->n_causes == BSV_CASE_CAUSES) {
		at = cause_to_forget(c, &cause);
		if (at == c->n_causes) {
			cause_fini(&cause);
			return;
		}
		cause_fini(&c->causes[at]);
		c->n_causes--;
		memmove(&c->causes[at], &c->causes[at + 1], (c->n_causes - at) * sizeof(*c->causes));
	}
	c->causes[c->n_causes++] = cause;
}

char *bsv_case_line(const struct bsv_case *c)
{
	const char *summary = c->summary ? c->summary : "a condition fired";
	char held[BSV_DURATION_TEXT], before[BSV_DURATION_TEXT], n[BSV_COUNT_MAX];
	bsv_scoped_text *unnamed =
		!c->unnamed ? strdup("")
			    : bsv_text("; the names of the app or the model of %s %s were not recorded",
	                               bsv_count(n, c->unnamed), bsv_plural(c->unnamed, "execution", "executions"));

	if (!unnamed)
		return NULL;
	if (c->held < 0 || c->held >= c->before)
		return bsv_text("%s%s", summary, unnamed);
	if (c->recorded >= c->before)
		return bsv_text("%s; events were lost %s before it, so that the time before that is not whole%s",
		                summary, bsv_duration(held, c->held), unnamed);
	return bsv_text("%s; of the %s before it only the last %s were recorded%s", summary,
	                bsv_duration(before, c->before), bsv_duration(held, c->held), unnamed);
}

const char *bsv_case_time(char to[BSV_CASE_TIME], int64_t realtime)
{
	time_t seconds = (time_t)(realtime / 1000000000);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(to, BSV_CASE_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm))
		strcpy(to, "?");
	return to;
}

/* ---- writing ---- */

/* A name may be any bytes: then it is written as far as it is UTF-8. */
static json_t *text_or_null(const char *text)
{
	json_t *ret;

	if (!text)
		return json_null();
	ret = json_string(text);
	return ret ? ret : json_string("?");
}

/* Beyond 2^53: a string, as in all our JSON. */
static json_t *large_number(int64_t n)
{
	return json_sprintf("%" PRId64, n);
}

static json_t *time_or_null(int64_t realtime)
{
	char text[BSV_CASE_TIME];

	return realtime ? json_string(bsv_case_time(text, realtime)) : json_null();
}

static json_t *case_to_json(const struct bsv_case *c)
{
	json_t *ret = json_object(), *fired = json_array(), *causes = json_array();
	char text[24];

	/* Numbers beyond 2^53 are strings, as in all our JSON. */
	for (size_t i = 0; i < c->n_fired; i++) {
		const struct bsv_case_fired *f = &c->fired[i];
		json_t *execs = json_array();

		for (size_t j = 0; j < f->n_execs; j++) {
			snprintf(text, sizeof(text), "0x%" PRIx64, f->execs[j]);
			json_array_append_new(execs, json_string(text));
		}
		json_array_append_new(fired, json_pack("{s:s, s:I, s:o, s:o, s:o}", "on", f->on, "events",
		                                       (json_int_t)f->n, "execs", execs, "from_ns",
		                                       large_number(f->from), "to_ns", large_number(f->to)));
	}
	for (size_t i = 0; i < c->n_causes; i++) {
		const struct bsv_case_cause *cause = &c->causes[i];

		json_array_append_new(causes,
		                      json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I}", "condition",
		                                text_or_null(cause->condition), "finding", text_or_null(cause->finding),
		                                "app", text_or_null(cause->app), "user",
		                                cause->has_user ? json_integer(cause->user) : json_null(), "model",
		                                text_or_null(cause->model), "culprit", text_or_null(cause->culprit),
		                                "what", text_or_null(cause->what), "n", (json_int_t)cause->n));
	}
	json_object_set_new(ret, "burstscope_case", json_integer(FORMAT));
	json_object_set_new(ret, "name", text_or_null(c->name));
	json_object_set_new(ret, "state", text_or_null(c->state));
	json_object_set_new(ret, "summary", text_or_null(c->summary));
	json_object_set_new(ret, "why", text_or_null(c->why));
	json_object_set_new(ret, "caught_at", time_or_null(c->caught));
	json_object_set_new(ret, "caught_ns", large_number(c->caught));
	json_object_set_new(ret, "at_ns", large_number(c->at));
	json_object_set_new(ret, "before_ns", json_integer(c->before));
	json_object_set_new(ret, "watched_ns", c->watched < 0 ? json_null() : json_integer(c->watched));
	json_object_set_new(ret, "recorded_ns", c->recorded < 0 ? json_null() : json_integer(c->recorded));
	json_object_set_new(ret, "held_ns", c->held < 0 ? json_null() : json_integer(c->held));
	json_object_set_new(ret, "after_ns", json_integer(c->after));
	json_object_set_new(ret, "gap_ns", json_integer(c->gap));
	json_object_set_new(ret, "unnamed_executions", json_integer((json_int_t)c->unnamed));
	json_object_set_new(ret, "again", json_integer((json_int_t)c->again));
	json_object_set_new(ret, "again_last", time_or_null(c->again_last));
	json_object_set_new(ret, "again_last_ns", large_number(c->again_last));
	json_object_set_new(ret, "bytes", json_integer((json_int_t)c->bytes));
	json_object_set_new(ret, "fired", fired);
	json_object_set_new(ret, "causes", causes);
	return ret;
}

static int dump_json(void *ctx, FILE *to, struct bsa_err *err)
{
	if (json_dumpf(ctx, to, JSON_INDENT(2)) || fputc('\n', to) == EOF)
		return bsa_fail(err, BSA_E_ENV, FILE_NAME " cannot be written: %s", strerror(errno));
	return 0;
}

int bsv_case_write(const struct bsv_case *c, const char *directory, struct bsa_err *err)
{
	json_t *json = case_to_json(c);
	char path[PATH_MAX];
	int r;

	if (!json)
		return bsv_no_memory(err);
	if (snprintf(path, sizeof(path), "%s/" FILE_NAME, directory) >= (int)sizeof(path))
		r = bsa_fail(err, BSA_E_USAGE, "%s: too long a name", directory);
	else
		r = bsv_output_write(path, dump_json, json, err);
	json_decref(json);
	return r;
}

/* ---- reading ---- */

/* The text of member @name. NULL: no such member, or it is no text. Owned by the caller. */
static char *member_text(const json_t *of, const char *name)
{
	const char *text = json_string_value(json_object_get(of, name));

	return text ? strdup(text) : NULL;
}

/* An integer, or a string that is one. */
static int64_t member_number(const json_t *of, const char *name, int64_t otherwise)
{
	const json_t *v = json_object_get(of, name);

	if (json_is_integer(v))
		return json_integer_value(v);
	return json_is_string(v) ? (int64_t)strtoll(json_string_value(v), NULL, 10) : otherwise;
}

/* The same of a number of things: 0 where the file has a negative one. */
static uint64_t member_count(const json_t *of, const char *name)
{
	int64_t n = member_number(of, name, 0);

	return n > 0 ? (uint64_t)n : 0;
}

static void read_fired(struct bsv_case *ret, const json_t *list)
{
	const json_t *of, *exec;
	size_t i, j;

	json_array_foreach(list, i, of)
	{
		const char *on = json_string_value(json_object_get(of, "on"));
		struct bsv_case_fired *f = &ret->fired[ret->n_fired];

		if (!on || ret->n_fired == BSV_CONDITIONS_MOST)
			continue;
		snprintf(f->on, sizeof(f->on), "%s", on);
		f->n = member_count(of, "events");
		f->from = member_number(of, "from_ns", 0);
		f->to = member_number(of, "to_ns", 0);
		json_array_foreach(json_object_get(of, "execs"), j,
		                   exec) if (f->n_execs < BSV_CASE_EXECS && json_is_string(exec))
			f->execs[f->n_execs++] = strtoull(json_string_value(exec), NULL, 0);
		ret->n_fired++;
	}
}

static json_t *load_case_json(const char *directory)
{
	char path[PATH_MAX], *text;
	json_t *ret = NULL;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" FILE_NAME, directory) >= (int)sizeof(path))
		return NULL;
	fd = bsa_open_regular(path);
	if (fd < 0)
		return NULL;
	text = malloc(LARGEST);
	n = text ? read(fd, text, LARGEST) : -1;
	if (n > 0)
		ret = json_loadb(text, (size_t)n, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	close(fd);
	return ret;
}

int bsv_case_read(struct bsv_case *ret, const char *directory, struct bsa_err *err)
{
	json_t *json = load_case_json(directory);
	const char *name = strrchr(directory, '/');
	const json_t *of;
	size_t i;

	if (!json_is_object(json) || member_number(json, "burstscope_case", 0) != FORMAT) {
		json_decref(json);
		return bsa_fail(err, BSA_E_INPUT, "%s: no case of burstscope watch", directory);
	}
	*ret = (struct bsv_case){ .state = member_text(json, "state"),
		                  .summary = member_text(json, "summary"),
		                  .why = member_text(json, "why"),
		                  .caught = member_number(json, "caught_ns", 0),
		                  .at = member_number(json, "at_ns", 0),
		                  .before = member_number(json, "before_ns", 0),
		                  .after = member_number(json, "after_ns", 0),
		                  .watched = member_number(json, "watched_ns", -1),
		                  .recorded = member_number(json, "recorded_ns", -1),
		                  .held = member_number(json, "held_ns", -1),
		                  .unnamed = member_count(json, "unnamed_executions"),
		                  .again = member_count(json, "again"),
		                  .again_last = member_number(json, "again_last_ns", 0),
		                  .gap = member_number(json, "gap_ns", 0),
		                  .bytes = member_count(json, "bytes") };
	snprintf(ret->name, sizeof(ret->name), "%s", name ? name + 1 : directory);
	if (strstr(ret->name, BSV_CASE_HALF))
		*strstr(ret->name, BSV_CASE_HALF) = 0;
	read_fired(ret, json_object_get(json, "fired"));
	json_array_foreach(json_object_get(json, "causes"), i, of)
	{
		int64_t user = member_number(of, "user", -1); /* cases of older watchers have none */
		bool has_user = user >= 0 && user <= UINT32_MAX;

		if (ret->n_causes == BSV_CASE_CAUSES || !json_is_object(of))
			continue;
		ret->causes[ret->n_causes++] = (struct bsv_case_cause){ .condition = member_text(of, "condition"),
			                                                .finding = member_text(of, "finding"),
			                                                .app = member_text(of, "app"),
			                                                .has_user = has_user,
			                                                .user = has_user ? (uint32_t)user : 0,
			                                                .model = member_text(of, "model"),
			                                                .culprit = member_text(of, "culprit"),
			                                                .what = member_text(of, "what"),
			                                                .n = member_count(of, "n") };
	}
	json_decref(json);
	return 0;
}
