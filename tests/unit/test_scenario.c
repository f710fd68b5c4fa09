/*
 * test_scenario.c -- scenario files: what is read from right ones, and the refusals of wrong ones, word for
 * word.
 */
#include <dirent.h>
#include <errno.h>

#include "unit/device_helpers.h"

#include "load.h"
#include "nnb/fmq.h"
#include "scenario.h"

static int parse(struct load_scenario **ret, const char *text, struct nnb_reason *reason)
{
	return load_scenario_parse(ret, text, strlen(text), "file", "somewhere", reason);
}

/* ---- wrong ones ---- */

#define IN_STREAM(keys) "{\"duration\":\"1s\",\"apps\":[{\"name\":\"a\",\"streams\":[{" keys "}]}]}"
#define IN_APP(keys) "{\"duration\":\"1s\",\"apps\":[{" keys "}]}"
#define IN_OLD(keys) IN_APP("\"name\":\"a\",\"streams\":[{" keys "}],\"hal\":\"1.2\"")
#define APPS "\"apps\":[{\"name\":\"a\",\"streams\":[{\"model\":\"mlp\"}]}]"
#define MLP "\"model\":\"mlp\""
#define SVDF "\"model\":\"svdf\""
#define FILE_MODEL "\"model\":\"./a.json\""
#define IN_PAIRS(pairs) IN_STREAM(FILE_MODEL ",\"state\":\"pools\",\"state_pairs\":" pairs)
#define STREAMS "\"streams\":[{" MLP "}]"

static const struct wrong {
	const char *name, *text, *says;
} wrongs[] = {
	{ "no JSON", "{\"apps\":[}", "line 1, column 10: unexpected token near '}'" },
	{ "nothing", "", "line 1, column 0: '[' or '{' expected near end of file" },
	{ "a list", "[]", "not an object" },
	{ "a key twice", "{\"seed\":1,\"seed\":1}", "line 1, column 16: duplicate object key near '\"seed\"'" },
	{ "no apps", "{\"duration\":\"1s\"}", "apps: missing" },
	{ "apps that are none", "{\"duration\":\"1s\",\"apps\":{}}", "apps: not a list" },
	{ "an empty list of apps", "{\"duration\":\"1s\",\"apps\":[]}", "apps: empty" },
	{ "an app that is none", "{\"duration\":\"1s\",\"apps\":[7]}", "apps[0]: not an object" },
	{ "no end", "{" APPS "}", "duration: missing, and so is 'executions'" },
	{ "an unknown key", "{\"color\":1}", "no key 'color'" },
	{ "a misspelt key", "{\"durations\":\"1s\"}", "no key 'durations'; did you mean 'duration'?" },
	{ "a misspelt key of an app", IN_APP("\"nam\":\"a\""), "apps[0]: no key 'nam'; did you mean 'name'?" },
	{ "a misspelt key of a stream", IN_STREAM(MLP ",\"frames\":30"),
	  "apps[0].streams[0]: no key 'frames'; did you mean 'name'?" },
	{ "a key of another place", "{\"fps\":30}", "no key 'fps'" },
	{ "an unprintable key", "{\"a\\u0007b\":1}", "no key 'a?b'" },
	{ "a seed that is no integer", "{\"seed\":1.5}", "seed: not an integer" },
	{ "a negative seed", "{\"seed\":-1}", "seed: -1 is not from 0 to 9223372036854775807" },
	{ "a name that is no string", "{\"name\":1}", "name: not a string" },
	{ "an empty name", "{\"name\":\"\"}", "name: empty" },
	{ "a long name", "{\"name\":\"0123456789012345678901234567890123456789012345678901234567890123\"}",
	  "name: 64 bytes are more than 63" },
	{ "a time without a unit", "{\"duration\":5}",
	  "duration: not a time, such as \"5ms\" (units are ns, us, ms, s, min and h)" },
	{ "a time with another unit", "{\"duration\":\"5d\"}",
	  "duration: not a time, such as \"5ms\" (units are ns, us, ms, s, min and h)" },
	{ "a time before its begin", "{\"duration\":\"-5s\"}",
	  "duration: not a time, such as \"5ms\" (units are ns, us, ms, s, min and h)" },
	{ "too short a run", "{\"duration\":\"999us\"}", "duration: 999us is not from 1ms to 60min" },
	{ "too long a run", "{\"duration\":\"60.5min\"}", "duration: 60.5min is not from 1ms to 60min" },
	{ "no executions", "{\"executions\":0}", "executions: 0 is not from 1 to 1000000000000" },
	{ "an app without a name", IN_APP(STREAMS), "apps[0].name: missing" },
	{ "an app without streams", IN_APP("\"name\":\"a\""), "apps[0].streams: missing" },
	{ "two apps of one name", IN_APP("\"name\":\"a\"," STREAMS "},{\"name\":\"a\"," STREAMS),
	  "apps[1].name: app 0 is called 'a' too" },
	{ "no uid", IN_APP("\"uid\":-1"), "apps[0].uid: -1 is not from 0 to 4294967294" },
	{ "too nice", IN_APP("\"nice\":20"), "apps[0].nice: 20 is not from -20 to 19" },
	{ "no model", IN_STREAM("\"path\":\"sync\""), "apps[0].streams[0].model: missing" },
	{ "an unknown model", IN_STREAM("\"model\":\"resnet\""),
	  "apps[0].streams[0].model: no model 'resnet' (a file's name has a slash, or ends in .json or .tflite)" },
	{ "a misspelt model", IN_STREAM("\"model\":\"keywords\""),
	  "apps[0].streams[0].model: no model 'keywords'; did you mean 'keyword'? (a file's name has a slash, or ends "
	  "in .json or .tflite)" },
	{ "a model of another size", IN_STREAM("\"model\":\"mobilenet-100\""),
	  "apps[0].streams[0].model: no model 'mobilenet-100': the side of mobilenet is a multiple of 32 from 32 to "
	  "1024" },
	{ "a model that is no string", IN_STREAM("\"model\":3"),
	  "apps[0].streams[0].model: not a model's name, nor the path of one" },
	{ "two streams of one name", IN_STREAM(MLP "},{" MLP),
	  "apps[0].streams[1].name: stream 0 is called 'mlp' too" },
	{ "an unknown priority", IN_STREAM(MLP ",\"priority\":\"hi\""),
	  "apps[0].streams[0].priority: not one of low, medium and high" },
	{ "a misspelt priority", IN_STREAM(MLP ",\"priority\":\"hihg\""),
	  "apps[0].streams[0].priority: not one of low, medium and high; did you mean 'high'?" },
	{ "a path that is a number", IN_STREAM(MLP ",\"path\":1"),
	  "apps[0].streams[0].path: not one of burst, sync, async and fenced" },
	{ "no threads", IN_STREAM(MLP ",\"threads\":0"), "apps[0].streams[0].threads: 0 is not from 1 to 64" },
	{ "too many threads in all", IN_STREAM(MLP ",\"threads\":60},{\"name\":\"b\"," MLP ",\"threads\":5"),
	  "apps[0].streams: 65 threads in all are more than 64" },
	{ "too short a period", IN_STREAM(MLP ",\"period\":\"9us\""),
	  "apps[0].streams[0].period: 9us is not from 10us to 60min" },
	{ "a rate of nothing", IN_STREAM(MLP ",\"fps\":0"), "apps[0].streams[0].fps: 0 is not from 0.001 to 100000" },
	{ "a rate in words", IN_STREAM(MLP ",\"fps\":\"30\""), "apps[0].streams[0].fps: not a number" },
	{ "a period and a rate", IN_STREAM(MLP ",\"period\":\"1ms\",\"fps\":30"),
	  "apps[0].streams[0].fps: there is a period already" },
	{ "thinking by the clock", IN_STREAM(MLP ",\"period\":\"1ms\",\"think\":\"1ms\""),
	  "apps[0].streams[0].think: a stream with a period does not think" },
	{ "thinking at a rate", IN_STREAM(MLP ",\"fps\":30,\"think\":\"1ms\""),
	  "apps[0].streams[0].think: a stream with a rate does not think" },
	{ "jitter of nothing", IN_STREAM(MLP ",\"jitter\":\"1ms\""), "apps[0].streams[0].jitter: there is no period" },
	{ "jitter of a whole period", IN_STREAM(MLP ",\"period\":\"1ms\",\"jitter\":\"1ms\""),
	  "apps[0].streams[0].jitter: not shorter than the period" },
	{ "a deadline of nothing", IN_STREAM(MLP ",\"deadline\":\"0ms\""),
	  "apps[0].streams[0].deadline: 0ms is not from 1ns to 10080min" },
	{ "telling of no deadline", IN_STREAM(MLP ",\"told\":false"), "apps[0].streams[0].told: there is no deadline" },
	{ "telling a little", IN_STREAM(MLP ",\"deadline\":\"1ms\",\"told\":1"),
	  "apps[0].streams[0].told: not true or false" },
	{ "no time to prepare", IN_STREAM(MLP ",\"prepare_deadline\":\"0s\""),
	  "apps[0].streams[0].prepare_deadline: 0s is not from 1ns to 10080min" },
	{ "trying for ever", IN_STREAM(MLP ",\"retries\":1001"),
	  "apps[0].streams[0].retries: 1001 is not from 0 to 1000" },
	{ "waiting to try no more", IN_STREAM(MLP ",\"retry_after\":\"1ms\""),
	  "apps[0].streams[0].retry_after: there are no retries" },
	{ "polling for a fence", IN_STREAM(MLP ",\"path\":\"fenced\",\"polling\":\"none\""),
	  "apps[0].streams[0].polling: path fenced has no bursts" },
	{ "a HAL there is not", IN_APP("\"name\":\"a\",\"hal\":\"1.4\"," STREAMS),
	  "apps[0].hal: not one of 1.0, 1.1, 1.2 and 1.3; did you mean '1.0'?" },
	{ "a HAL that is a number", IN_APP("\"name\":\"a\",\"hal\":1.2," STREAMS),
	  "apps[0].hal: not one of 1.0, 1.1, 1.2 and 1.3" },
	{ "a deadline before there were any (Q-20)", IN_OLD(MLP ",\"deadline\":\"1ms\""),
	  "apps[0].streams[0].deadline: HAL 1.2 has no deadlines that a service is told of" },
	{ "a deadline to prepare before there were any", IN_OLD(MLP ",\"prepare_deadline\":\"1ms\""),
	  "apps[0].streams[0].prepare_deadline: HAL 1.2 has no deadlines" },
	{ "a priority before there were any", IN_OLD(MLP ",\"priority\":\"high\""),
	  "apps[0].streams[0].priority: HAL 1.2 has no priorities" },
	{ "a fence before there were any", IN_OLD(MLP ",\"path\":\"fenced\""),
	  "apps[0].streams[0].path: HAL 1.2 has no fenced executions" },
	{ "a burst length without bursts", IN_STREAM(MLP ",\"path\":\"sync\",\"burst_length\":3"),
	  "apps[0].streams[0].burst_length: path sync has no bursts" },
	{ "polling without bursts", IN_STREAM(MLP ",\"path\":\"async\",\"polling\":\"none\""),
	  "apps[0].streams[0].polling: path async has no bursts" },
	{ "a misspelt way to poll", IN_STREAM(MLP ",\"polling\":\"allways\""),
	  "apps[0].streams[0].polling: not auto, none, always or a time; did you mean 'always'?" },
	{ "a state of a model that has none", IN_STREAM(MLP ",\"state\":\"pools\""),
	  "apps[0].streams[0].state: model mlp has none" },
	{ "a state that is nowhere", IN_STREAM(SVDF ",\"state\":\"devices\""),
	  "apps[0].streams[0].state: not one of none, pools and device; did you mean 'device'?" },
	{ "a model of another state", IN_STREAM("\"model\":\"svdf-100\""),
	  "apps[0].streams[0].model: no model 'svdf-100': the state in KiB of svdf is a multiple of 16 from 16 to "
	  "4096" },
	{ "pairs of no state", IN_STREAM(FILE_MODEL ",\"state_pairs\":[[0,0]]"),
	  "apps[0].streams[0].state_pairs: there is no state" },
	{ "pairs of a built-in model", IN_STREAM(SVDF ",\"state\":\"pools\",\"state_pairs\":[[1,1]]"),
	  "apps[0].streams[0].state_pairs: model svdf has its own" },
	{ "a state of a file's model without pairs", IN_STREAM(FILE_MODEL ",\"state\":\"device\""),
	  "apps[0].streams[0].state_pairs: missing: which outputs of the file's model are its state" },
	{ "pairs that are no list", IN_PAIRS("{}"), "apps[0].streams[0].state_pairs: not a list" },
	{ "no pairs", IN_PAIRS("[]"), "apps[0].streams[0].state_pairs: empty" },
	{ "too many pairs", IN_PAIRS("[1,2,3,4,5,6,7,8,9]"), "apps[0].streams[0].state_pairs: 9 are more than 8" },
	{ "a pair that is none", IN_PAIRS("[1,1]"),
	  "apps[0].streams[0].state_pairs[0]: not a pair [output, input] of two indexes" },
	{ "a pair of three", IN_PAIRS("[[0,0],[1,1,1]]"),
	  "apps[0].streams[0].state_pairs[1]: not a pair [output, input] of two indexes" },
	{ "a negative index", IN_PAIRS("[[0,-1]]"),
	  "apps[0].streams[0].state_pairs[0]: not a pair [output, input] of two indexes" },
	{ "an index in words", IN_PAIRS("[[\"a\",1]]"),
	  "apps[0].streams[0].state_pairs[0]: not a pair [output, input] of two indexes" },
	{ "an output for two", IN_PAIRS("[[0,0],[1,2],[1,1]]"),
	  "apps[0].streams[0].state_pairs[2]: output 1 is in pair 1 too" },
	{ "an input of two", IN_PAIRS("[[0,0],[1,0]]"), "apps[0].streams[0].state_pairs[1]: input 0 is in pair 0 too" },
	{ "no pools", IN_STREAM(MLP ",\"pools\":0"), "apps[0].streams[0].pools: 0 is not from 1 to 64" },
	{ "measuring a little", IN_STREAM(MLP ",\"measure\":1"), "apps[0].streams[0].measure: not true or false" },
};

static void is_refused_in_these_words(void **state)
{
	const struct wrong *w = *state;
	struct load_scenario *s = (void *)w;
	struct nnb_reason why = { "" };

	assert_int_equal(parse(&s, w->text, &why), -EINVAL);
	assert_string_equal(why.text, w->says);
	assert_ptr_equal(s, w);
	assert_int_equal(parse(&s, w->text, NULL), -EINVAL);
}

/* ---- right ones ---- */

static void keys_left_out_have_their_defaults(void **state)
{
	struct nnb_reason why = { "" };
	struct load_scenario *s;
	const struct load_stream *t;

	(void)state;
	if (parse(&s, IN_STREAM(MLP), &why))
		fail_msg("%s", why.text);
	assert_string_equal(s->name, "file");
	assert_string_equal(s->dir, "somewhere");
	assert_string_equal(s->about, "");
	assert_true(s->seed == 1 && s->executions == 0);
	assert_true(s->duration_ns == LOAD_S && s->timeout_ns == 10 * LOAD_S);
	assert_int_equal(s->n_apps, 1);
	assert_true(s->apps[0].uid == -1 && s->apps[0].nice == 0);
	assert_string_equal(load_hal_names[s->apps[0].hal], "1.3");
	assert_true(s->apps[0].n_streams == 1 && s->apps[0].n_threads == 1);
	t = &s->apps[0].streams[0];
	assert_string_equal(t->name, "mlp");
	assert_true(t->priority == 1 && t->path == LOAD_BURST && t->threads == 1 && t->pools == 2);
	assert_true(!t->period_ns && !t->think_ns && !t->jitter_ns && !t->deadline_ns && !t->start_ns);
	assert_true(!t->burst_length && !t->fresh_pools && t->window_ns == NNB_FMQ_WINDOW_AUTO && !t->measure);
	assert_true(t->told && !t->prepare_deadline_ns && !t->retries && t->retry_after_ns == LOAD_MS);
	assert_true(t->state == LOAD_NOWHERE && !t->state_pairs.n);
	load_scenario_free(s);
}

static void every_key_is_read(void **state)
{
	static const char text[] =
		"{\"name\":\"n\",\"about\":\"b\",\"seed\":7,\"executions\":9,\"timeout\":\"2s\",\"apps\":[{\"name\":"
		"\"a\","
		"\"uid\":0,\"nice\":-5,\"streams\":[{\"name\":\"s\",\"model\":\"x/y.json\",\"priority\":\"low\","
		"\"path\":\"burst\",\"threads\":3,\"fps\":40,\"jitter\":\"1.5ms\",\"deadline\":\"10ms\",\"start\":"
		"\"250ns\","
		"\"burst_length\":4,\"pools\":5,\"fresh_pools\":6,\"polling\":\"20us\",\"measure\":true,"
		"\"state\":\"device\",\"state_pairs\":[[4,1],[0,7]]},"
		"{\"model\":\"mobilenet-96\",\"path\":\"async\",\"think\":\"3us\",\"deadline\":\"1s\",\"told\":false},"
		"{\"name\":\"f\",\"model\":\"mlp\",\"path\":\"fenced\",\"prepare_deadline\":\"4s\",\"retries\":8,"
		"\"retry_after\":\"7ms\"}]},"
		"{\"name\":\"old\",\"hal\":\"1.2\",\"streams\":[{\"model\":\"mlp\",\"deadline\":\"1ms\",\"told\":false}"
		"]}]}";
	struct nnb_reason why = { "" };
	struct load_scenario *s;
	const struct load_stream *t;

	(void)state;
	if (parse(&s, text, &why))
		fail_msg("%s", why.text);
	assert_string_equal(s->name, "n");
	assert_string_equal(s->about, "b");
	assert_true(s->seed == 7 && s->executions == 9 && s->timeout_ns == 2 * LOAD_S);
	assert_true(s->duration_ns == LOAD_DURATION_MAX);
	assert_true(s->apps[0].uid == 0 && s->apps[0].nice == -5 && s->apps[0].n_threads == 5);
	t = &s->apps[0].streams[0];
	assert_string_equal(t->name, "s");
	assert_string_equal(t->model, "x/y.json");
	assert_true(t->priority == 0 && t->path == LOAD_BURST && t->threads == 3);
	assert_true(t->period_ns == 25 * LOAD_MS && t->jitter_ns == 1500 * LOAD_US && t->start_ns == 250);
	assert_true(t->deadline_ns == 10 * LOAD_MS && t->burst_length == 4 && t->pools == 5 && t->fresh_pools == 6);
	assert_true(t->window_ns == 20 * LOAD_US && t->measure);
	assert_true(t->state == LOAD_ON_DEVICE && t->state_pairs.n == 2);
	assert_true(t->state_pairs.list[0].output == 4 && t->state_pairs.list[0].input == 1);
	assert_true(t->state_pairs.list[1].output == 0 && t->state_pairs.list[1].input == 7);
	t = &s->apps[0].streams[1];
	assert_string_equal(t->name, "mobilenet-96");
	assert_true(t->path == LOAD_ASYNC && t->think_ns == 3 * LOAD_US && t->deadline_ns == LOAD_S && !t->told);
	t = &s->apps[0].streams[2];
	assert_true(t->path == LOAD_FENCED && t->prepare_deadline_ns == 4 * LOAD_S);
	assert_true(t->retries == 8 && t->retry_after_ns == 7 * LOAD_MS);
	assert_true(NNB_HAL_1_0 + s->apps[1].hal == NNB_HAL_1_2 && s->apps[1].streams[0].deadline_ns == LOAD_MS);
	load_scenario_free(s);
}

static int is_scenario(const struct dirent *entry)
{
	return strstr(entry->d_name, ".json") != NULL;
}

static void shipped_scenarios_are_right(void **state)
{
	struct nnb_reason why = { "" };
	struct load_scenario *s;
	struct dirent **entries;
	int n = scandir(SCENARIOS, &entries, is_scenario, alphasort);
	char path[512];

	(void)state;
	assert_true(n >= 10);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%.200s", SCENARIOS, entries[i]->d_name);
		if (load_scenario_read(&s, path, NULL, NULL, &why))
			fail_msg("%s: %s", path, why.text);
		assert_int_equal(strncmp(s->name, entries[i]->d_name, strlen(s->name)), 0);
		assert_string_not_equal(s->about, "");
		assert_true(s->duration_ns <= 10 * LOAD_S);
		load_scenario_free(s);
		free(entries[i]);
	}
	free(entries);
	assert_int_equal(load_scenario_read(&s, SCENARIOS "/none.json", NULL, NULL, &why), -ENOENT);
	assert_string_equal(why.text, "No such file or directory");
	assert_int_equal(load_scenario_read(&s, "/dev/zero", NULL, NULL, &why), -EINVAL);
	assert_string_equal(why.text, "it is not a regular file");
}

static const char *manual(void)
{
	static char page[64 << 10];
	FILE *f = fopen(MANUAL, "r");

	assert_non_null(f);
	page[fread(page, 1, sizeof(page) - 1, f)] = '\0';
	fclose(f);
	return page;
}

/* nnburst-scenario(5) has an entry for each key. */
static void the_manual_names_every_key(void **state)
{
	const char *page = manual(), *key;

	(void)state;
	for (size_t i = 0; (key = load_scenario_key(i)); i++) {
		char entry[64];

		snprintf(entry, sizeof(entry), "\n.It Cm %s\n", key);
		if (!strstr(page, entry))
			fail_msg("the manual has no entry for %s", key);
	}
}

static void the_example_of_the_manual_is_right(void **state)
{
	const char *text = strstr(manual(), "\n{\n"), *end = text ? strstr(text, "\n.Ed\n") : NULL;
	struct nnb_reason why = { "" };
	struct load_scenario *s;

	(void)state;
	assert_non_null(end);
	if (load_scenario_parse(&s, text, (size_t)(end - text), "example", ".", &why))
		fail_msg("%s", why.text);
	assert_true(s->n_apps == 2 && s->apps[1].uid == 10002);
	load_scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(keys_left_out_have_their_defaults),  cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(shipped_scenarios_are_right),        cmocka_unit_test(the_manual_names_every_key),
		cmocka_unit_test(the_example_of_the_manual_is_right),
	};
	struct CMUnitTest tests[N_OF(wrongs) + N_OF(others)];

	for (size_t i = 0; i < N_OF(wrongs); i++)
		tests[i] = (struct CMUnitTest){ .name = wrongs[i].name,
			                        .test_func = is_refused_in_these_words,
			                        .initial_state = (void *)&wrongs[i] };
	memcpy(tests + N_OF(wrongs), others, sizeof(others));
	return cmocka_run_group_tests_name("scenarios", tests, NULL, NULL);
}
