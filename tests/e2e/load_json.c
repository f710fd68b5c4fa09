/*
 * load_json.c -- check that the output of `nnburst-load --format json` is consistent, and is what a test
 * expects.
 *
 * usage: load_json EXPECTATION... <REPORT, as in `load_json 'apps.0.streams.1.wrong=0' 'executions>100'`.
 * Numbers are compared as numbers, with = < and >, several of them added up (`a+b=30`), with < and > also to
 * others (`a<b`), a list by its length, all else as text. Exit status 0: all expectations are met.
 */
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned failures;

static __attribute__((format(printf, 1, 2))) void wrong(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("load_json: ", stdout);
	vprintf(format, ap);
	putchar('\n');
	va_end(ap);
	failures++;
}

static json_int_t number(const json_t *object, const char *key)
{
	const json_t *n = json_object_get(object, key);

	if (!json_is_integer(n) || json_integer_value(n) < 0)
		wrong("%s is no natural number", key);
	return json_integer_value(n);
}

/* ---- properties of every report ---- */

/* Check that @times is null, or that its times rise. Returns their number. */
static json_int_t check_times(const char *what, const json_t *times)
{
	static const char *const rising[] = { "min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns" };
	json_int_t last = 0, n;

	if (json_is_null(times))
		return 0;
	n = number(times, "n");
	for (size_t i = 0; n && i < sizeof(rising) / sizeof(rising[0]); i++) {
		json_int_t each = number(times, rising[i]);

		if (each < last)
			wrong("%s: %s is below the one before", what, rising[i]);
		last = each;
	}
	if (n && (number(times, "mean_ns") < number(times, "min_ns") || number(times, "mean_ns") > last))
		wrong("%s: the mean is outside", what);
	return n;
}

static void check_histogram(const json_t *stream)
{
	const json_t *e2e = json_object_get(stream, "e2e"), *bucket;
	json_int_t n = 0, last = 0;
	size_t i;

	json_array_foreach(json_object_get(stream, "histogram"), i, bucket)
	{
		if (number(bucket, "from_ns") < last || number(bucket, "to_ns") <= number(bucket, "from_ns"))
			wrong("buckets are in no order");
		last = number(bucket, "to_ns");
		n += number(bucket, "n");
		if (i == 0 && number(bucket, "from_ns") > number(e2e, "min_ns"))
			wrong("the shortest is in no bucket");
	}
	if (n != number(e2e, "n") || (n && last <= number(e2e, "max_ns")))
		wrong("the histogram holds %lld of %lld", (long long)n, (long long)number(e2e, "n"));
}

static json_int_t sum_of(const json_t *object)
{
	json_int_t sum = 0;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) sum += json_integer_value(value);
	return sum;
}

static void check_burst(const json_t *stream, json_int_t fine)
{
	const json_t *cold = json_object_get(stream, "cold"), *warm = json_object_get(stream, "warm");

	if (strcmp(json_string_value(json_object_get(stream, "path")), "burst") != 0) {
		if (!json_is_null(cold) || !json_is_null(json_object_get(stream, "bursts")))
			wrong("bursts of another path");
		return;
	}
	if (check_times("cold", cold) + check_times("warm", warm) != fine)
		wrong("cold and warm are not all");
	/* The last burst of each thread may have come too late to be used. */
	if (fine && !number(stream, "fallbacks") &&
	    number(cold, "n") + number(stream, "threads") < number(stream, "bursts"))
		wrong("a burst that began warm");
}

/* Misses that the service reported are transient or persistent, and aborted or predicted. */
static void check_misses(const json_t *stream, json_int_t executions)
{
	const json_t *misses = json_object_get(stream, "misses");

	if (json_is_null(misses) != json_is_null(json_object_get(stream, "deadline_ns")))
		wrong("misses without a deadline, or none with one");
	if (json_is_null(misses))
		return;
	if (number(misses, "late") + number(misses, "aborted") + number(misses, "predicted") > executions)
		wrong("more misses than executions");
	if (number(misses, "aborted") + number(misses, "predicted") !=
	    number(misses, "transient") + number(misses, "persistent"))
		wrong("misses by status are not those by time");
	if (number(stream, "recovered") > number(stream, "retries"))
		wrong("more went well than was tried");
}

/*
 * Only states in pools are copied, and only states on the device have buffers. A state that never began again
 * went on all the time.
 */
static void check_state(const json_t *stream, json_int_t fine)
{
	const json_t *state = json_object_get(stream, "state"), *kind = json_object_get(state, "kind");
	json_int_t steps, buffers;
	bool device;

	if (json_is_null(state))
		return;
	device = json_is_string(kind) && strcmp(json_string_value(kind), "device") == 0;
	steps = number(state, "steps");
	buffers = number(state, "buffers");
	if (device == !buffers || number(state, "fell_back") > buffers)
		wrong("%lld buffers", (long long)buffers);
	if ((device || !fine) == (number(state, "copy_ns") > 0))
		wrong("a state was copied, or was not");
	if (number(stream, "threads") == 1 && !number(state, "resets") && steps != fine)
		wrong("%lld steps of %lld", (long long)steps, (long long)fine);
	if (!json_is_string(json_object_get(state, "digest")) && steps && steps == number(stream, "executions"))
		wrong("the state has no digest");
}

static json_int_t check_stream(const json_t *stream)
{
	json_int_t executions = number(stream, "executions");
	const json_t *statuses = json_object_get(stream, "statuses");
	json_int_t fine = number(statuses, "NONE");

	if (sum_of(statuses) != executions)
		wrong("statuses are not as many as executions");
	if (check_times("e2e", json_object_get(stream, "e2e")) != fine)
		wrong("times are not as many as good executions");
	check_histogram(stream);
	check_burst(stream, fine);
	check_misses(stream, executions);
	check_state(stream, fine);
	if (!json_is_null(json_object_get(stream, "period_ns")) &&
	    (check_times("start_late", json_object_get(stream, "start_late")) + number(stream, "retries") !=
	             executions ||
	     check_times("from_due", json_object_get(stream, "from_due")) != fine))
		wrong("frames are not as many as executions");
	if (check_times("on_device", json_object_get(stream, "on_device")) > fine)
		wrong("more was measured than executed");
	return executions;
}

/* The service's figures: no app gets less than nothing, and the index is between 1 / n and 1. */
static void check_fairness(const json_t *report)
{
	const json_t *fairness = json_object_get(report, "fairness"), *jain = json_object_get(fairness, "jain"), *app;
	json_int_t n = number(fairness, "apps"), lag = number(fairness, "max_lag_ns");
	size_t i;

	if (!n && !json_is_null(jain))
		wrong("an index without apps");
	if (!json_is_null(jain) && (json_number_value(jain) * (double)n < 0.999 || json_number_value(jain) > 1.001))
		wrong("%g is no index of %lld", json_number_value(jain), (long long)n);
	json_array_foreach(json_object_get(report, "apps"), i, app)
	{
		const json_t *got = json_object_get(app, "lane_time");

		if (json_is_null(got))
			continue;
		if (json_integer_value(json_object_get(got, "max_lag_ns")) > lag)
			wrong("an app that lagged more than the one that lagged most");
		if (json_is_null(json_object_get(got, "ratio")) != !number(got, "entitled_ns"))
			wrong("a ratio to nothing");
	}
}

static void check_report(const json_t *report)
{
	const json_t *app, *stream;
	json_int_t all = 0;
	double shares = 0;
	size_t i, k;

	json_array_foreach(json_object_get(report, "apps"), i, app)
	{
		json_int_t executions = 0;

		/* A killed app may have been killed while it counted. */
		json_array_foreach(json_object_get(app, "streams"), k, stream) executions +=
			json_is_true(json_object_get(app, "done")) ? check_stream(stream)
								   : number(stream, "executions");
		if (executions != number(app, "executions"))
			wrong("app %zu: its streams are not all", i);
		all += executions;
		shares += json_number_value(json_object_get(app, "share_of_executions"));
	}
	check_fairness(report);
	if (all != number(report, "executions"))
		wrong("the apps are not all");
	if (all && (shares < 0.999 || shares > 1.001))
		wrong("the shares are %g in all", shares);
	if (number(report, "schema_version") != 1)
		wrong("another schema");
}

/* ---- expectations ---- */

static const json_t *find(const json_t *at, char *path)
{
	char *save;

	for (char *word = strtok_r(path, ".", &save); word && at; word = strtok_r(NULL, ".", &save))
		at = json_is_array(at) ? json_array_get(at, strtoul(word, NULL, 10)) : json_object_get(at, word);
	return at;
}

static bool holds(double n, char relation, double w)
{
	return relation == '=' ? n == w : relation == '<' ? n < w : n > w;
}

/* The sum of the numbers at @paths, which + separates. */
static double sum_at(const json_t *report, const char *expectation, char *paths)
{
	double sum = 0;
	char *save;

	for (char *path = strtok_r(paths, "+", &save); path; path = strtok_r(NULL, "+", &save)) {
		const json_t *value = find(report, path);

		if (!json_is_number(value) && !json_is_array(value)) {
			wrong("%s: not a number", expectation);
			return 0;
		}
		sum += json_is_array(value) ? (double)json_array_size(value) : json_number_value(value);
	}
	return sum;
}

static void expect_word(const json_t *report, const char *expectation, char *path, const char *wanted)
{
	const json_t *value = find(report, path);
	const char *word = json_is_string(value)  ? json_string_value(value)
	                   : json_is_true(value)  ? "true"
	                   : json_is_false(value) ? "false"
	                   : json_is_null(value)  ? "null"
	                                          : "something else";

	if (strcmp(word, wanted) != 0)
		wrong("not so: %s, it is %s", expectation, word);
}

static void expect(const json_t *report, const char *expectation)
{
	size_t n = strcspn(expectation, "=<>");
	char *paths = strdup(expectation), *wanted = paths + n + 1, *end;
	char *text = strndup(expectation, n);
	const json_t *value;
	double is, number;

	if (!paths || !text || !expectation[n])
		abort();
	paths[n] = '\0';
	value = find(report, text);
	number = strtod(wanted, &end);
	if (expectation[n] == '=' && (end == wanted || *end || json_is_string(value))) {
		expect_word(report, expectation, paths, wanted);
	} else {
		is = sum_at(report, expectation, paths);
		if (end == wanted || *end)
			number = sum_at(report, expectation, wanted);
		if (!holds(is, expectation[n], number))
			wrong("not so: %s, it is %.15g and %.15g", expectation, is, number);
	}
	free(text);
	free(paths);
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *report = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);

	if (!report) {
		wrong("no JSON: line %d: %s", error.line, error.text);
		return 1;
	}
	check_report(report);
	for (int i = 1; i < argc; i++)
		expect(report, argv[i]);
	json_decref(report);
	return failures ? 1 : 0;
}
