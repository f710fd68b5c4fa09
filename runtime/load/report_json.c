/* report_json.c -- the report for programs: one object, all times in ns, unknown values null. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "report.h"

enum { SCHEMA_VERSION = 1, DIGITS = 9 };

/* Only the allocation of memory can fail here. */
static json_t *json_checked(json_t *json)
{
	if (!json)
		abort();
	return json;
}

static void json_set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, json_checked(value)))
		abort();
}

static void set_number(json_t *object, const char *key, uint64_t n)
{
	json_set(object, key, json_integer((json_int_t)n));
}

/* Set null instead of 0. */
static void set_if(json_t *object, const char *key, uint64_t n)
{
	json_set(object, key, n ? json_integer((json_int_t)n) : json_null());
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_t *string = json_string(text);

	json_set(object, key, string ? string : json_null()); /* NULL: the text is not UTF-8 */
}

static json_t *times_json(struct load_distribution *d)
{
	json_t *o = json_checked(json_object());

	set_number(o, "n", d->n);
	if (!d->n)
		return o;
	set_number(o, "min_ns", d->min);
	set_number(o, "mean_ns", d->sum / d->n);
	set_number(o, "p50_ns", load_percentile(d, 500));
	set_number(o, "p90_ns", load_percentile(d, 900));
	set_number(o, "p99_ns", load_percentile(d, 990));
	set_number(o, "max_ns", d->max);
	return o;
}

static json_t *histogram_json(const struct load_distribution *d)
{
	json_t *list = json_checked(json_array());
	uint64_t buckets[LOAD_BUCKETS];

	load_histogram(d, buckets);
	for (unsigned i = 0; i < LOAD_BUCKETS; i++) {
		json_t *o;

		if (!buckets[i])
			continue;
		o = json_checked(json_object());
		set_number(o, "from_ns", load_bucket_begin(i));
		set_number(o, "to_ns", load_bucket_begin(i + 1));
		set_number(o, "n", buckets[i]);
		if (json_array_append_new(list, o))
			abort();
	}
	return list;
}

static json_t *misses_json(const struct load_row *row)
{
	json_t *o;

	if (!row->stream->deadline_ns)
		return json_null();
	o = json_checked(json_object());
	for (int i = LOAD_NOT_MISSED + 1; i < LOAD_MISSES; i++)
		set_number(o, load_miss_names[i], row->figures->misses[i]);
	set_number(o, "transient", row->figures->statuses[NNB_STATUS_MISSED_DEADLINE_TRANSIENT]);
	set_number(o, "persistent", row->figures->statuses[NNB_STATUS_MISSED_DEADLINE_PERSISTENT]);
	return o;
}

static json_t *state_json(const struct load_row *row)
{
	const struct load_figures *f = row->figures;
	uint64_t digest = load_report_digest(row);
	char text[20];
	json_t *o;

	if (!row->stream->state)
		return json_null();
	o = json_checked(json_object());
	set_text(o, "kind", load_keeping_names[row->stream->state]);
	set_number(o, "buffers", f->state_buffers);
	set_number(o, "fell_back", f->state_fallen);
	set_number(o, "resets", f->state_resets);
	set_number(o, "copy_ns", f->state_copy_ns);
	set_number(o, "steps", f->sequence.steps);
	snprintf(text, sizeof(text), "%016" PRIx64, digest);
	json_set(o, "digest", digest ? json_string(text) : json_null());
	return o;
}

/* The parts that are known before the first execution. */
static void add_plan(json_t *o, const struct load_row *row)
{
	const struct load_stream *s = row->stream;
	const struct load_outcome *out = row->outcome;

	set_text(o, "name", s->name);
	set_text(o, "model", s->model);
	set_if(o, "remote", out->remote);
	set_number(o, "prepare_ns", out->prepare_ns);
	set_if(o, "prepare_deadline_ns", s->prepare_deadline_ns);
	set_text(o, "prepared", nnb_status_name(out->prepared));
	set_text(o, "priority", load_priority_names[s->priority]);
	set_text(o, "path", load_path_names[s->path]);
	set_number(o, "threads", (uint64_t)s->threads);
	set_if(o, "period_ns", s->period_ns);
	set_if(o, "deadline_ns", s->deadline_ns);
	json_set(o, "told", s->deadline_ns ? json_boolean(s->told) : json_null());
	set_if(o, "floor_ns", out->times.floor_ns);
	set_if(o, "estimate_ns", out->times.estimate_ns);
	set_if(o, "step_ns", out->times.step_ns);
	set_if(o, "longest_ns", out->times.longest_ns);
}

static json_t *stream_json(const struct load_row *row)
{
	const struct load_stream *s = row->stream;
	struct load_figures *f = row->figures;
	json_t *o = json_checked(json_object()), *statuses = json_checked(json_object());
	bool burst;

	add_plan(o, row);
	set_number(o, "executions", f->executions);
	json_set(o, "per_s", json_real(row->seconds > 0 ? (double)f->executions / row->seconds : 0));
	set_if(o, "began_ns", f->began);
	set_if(o, "ended_ns", f->ended);
	json_set(o, "e2e", times_json(row->all));
	json_set(o, "histogram", histogram_json(row->all));
	for (int i = 0; i < LOAD_STATUSES; i++)
		if (f->statuses[i] || !i)
			set_number(statuses, nnb_status_name((enum nnb_status)i), f->statuses[i]);
	json_set(o, "statuses", statuses);
	json_set(o, "misses", misses_json(row));
	set_number(o, "retries", f->retries);
	set_number(o, "recovered", f->recovered);
	json_set(o, "skipped", s->period_ns ? json_integer((json_int_t)f->skipped) : json_null());
	json_set(o, "start_late", s->period_ns ? times_json(&f->start_late) : json_null());
	json_set(o, "from_due", s->period_ns ? times_json(&f->from_due) : json_null());
	burst = row->stream->path == LOAD_BURST;
	json_set(o, "bursts", burst ? json_integer((json_int_t)f->bursts) : json_null());
	json_set(o, "cold", burst ? times_json(&f->cold) : json_null());
	json_set(o, "warm", burst ? times_json(&f->warm) : json_null());
	json_set(o, "fallbacks", burst ? json_integer((json_int_t)f->fallbacks) : json_null());
	json_set(o, "spun_ns", burst ? json_integer((json_int_t)f->spun_ns) : json_null());
	json_set(o, "slept_ns", burst ? json_integer((json_int_t)f->slept_ns) : json_null());
	json_set(o, "sleeps", burst ? json_integer((json_int_t)f->wakeups) : json_null());
	set_number(o, "pools", f->pools);
	json_set(o, "state", state_json(row));
	json_set(o, "on_device", s->measure ? times_json(&f->on_device) : json_null());
	json_set(o, "in_driver", s->measure ? times_json(&f->in_driver) : json_null());
	set_number(o, "wrong", f->wrong);
	return o;
}

static json_t *lane_time(const struct load_report *r, uint32_t app)
{
	struct load_received got = load_report_received(r, app);
	const struct nnb_app_counts *c = &got.counts;
	json_t *o;

	if (!got.n_apps)
		return json_null();
	o = json_checked(json_object());
	set_number(o, "apps", got.n_apps);
	set_number(o, "executions", c->executions);
	set_number(o, "received_ns", c->received_ns);
	set_number(o, "entitled_ns", c->entitled_ns);
	json_set(o, "ratio", c->entitled_ns ? json_real(got.ratio) : json_null());
	json_set(o, "max_lag_ns", json_integer(c->max_lag_ns));
	set_number(o, "longest_wait_ns", c->longest_wait_ns);
	set_number(o, "preemptions", c->preemptions);
	set_number(o, "restarts", c->restarts);
	set_number(o, "missed_transient", c->missed_transient);
	set_number(o, "missed_persistent", c->missed_persistent);
	set_number(o, "late", c->late);
	return o;
}

static json_t *app_json(const struct load_report *r, uint32_t i)
{
	const struct load_app *a = &r->session->scenario->apps[i];
	const struct load_process *p = &r->session->processes[i];
	const struct timeval *user = &p->usage.ru_utime, *system = &p->usage.ru_stime;
	struct load_share share = load_report_share(r, a);
	json_t *o = json_checked(json_object()), *streams = json_checked(json_array());
	bool signalled = WIFSIGNALED(p->wait_status);

	set_text(o, "name", a->name);
	set_number(o, "pid", (uint64_t)p->pid);
	json_set(o, "uid", a->uid < 0 ? json_null() : json_integer(a->uid));
	json_set(o, "nice", json_integer(a->nice));
	set_text(o, "hal", load_hal_names[a->hal]);
	set_number(o, "known_as", p->board->service.app);
	set_number(o, "connection", p->board->service.connection);
	json_set(o, "done", json_boolean(load_process_fine(p)));
	json_set(o, "signal", signalled ? json_integer(WTERMSIG(p->wait_status)) : json_null());
	set_number(o, "cpu_ns",
	           ((uint64_t)user->tv_sec + (uint64_t)system->tv_sec) * 1000000000u +
	                   ((uint64_t)user->tv_usec + (uint64_t)system->tv_usec) * 1000);
	set_number(o, "executions", share.executions);
	json_set(o, "share_of_executions", json_real(share.of_executions));
	json_set(o, "device_ns", r->device_known ? json_integer((json_int_t)share.device_ns) : json_null());
	json_set(o, "share_of_device", r->device_known ? json_real(share.of_device) : json_null());
	json_set(o, "lane_time", lane_time(r, i));
	for (uint32_t k = 0; k < r->n_rows; k++)
		if (r->rows[k].app == a && json_array_append_new(streams, stream_json(&r->rows[k])))
			abort();
	json_set(o, "streams", streams);
	return o;
}

int load_report_json(const struct load_report *r)
{
	const struct load_session *s = r->session;
	const struct nnb_service_info *info = &s->processes[0].board->service;
	struct load_fairness f = load_report_fairness(r);
	json_t *o = json_checked(json_object()), *apps = json_checked(json_array()),
	       *problems = json_checked(json_array()), *scenario = json_checked(json_object()),
	       *service = json_checked(json_object()), *fairness = json_checked(json_object());
	int status;

	for (uint32_t i = 0; i < s->scenario->n_apps; i++)
		if (json_array_append_new(apps, app_json(r, i)))
			abort();
	for (uint32_t i = 0; i < r->n_problems; i++)
		if (json_array_append_new(problems, json_checked(json_string(r->problems[i].text))))
			abort();
	set_text(scenario, "name", s->scenario->name);
	set_text(scenario, "about", s->scenario->about);
	set_number(scenario, "seed", s->seed);
	set_number(scenario, "duration_ns", s->duration_ns);
	set_if(scenario, "executions", (uint64_t)s->scenario->executions);

	set_number(service, "pid", info->pid);
	set_number(service, "instance", info->instance);
	set_text(service, "driver", info->driver);
	set_text(service, "version", info->version);
	set_text(service, "policy", load_policy_name(info->policy));
	set_text(service, "preempt", load_preempt_name(info->preempt));
	set_text(service, "deadlines", load_deadlines_name(info->deadlines));
	set_number(service, "lanes", info->lanes);

	set_number(fairness, "apps", f.n_apps);
	json_set(fairness, "jain", f.jain > 0 ? json_real(f.jain) : json_null());
	json_set(fairness, "max_lag_ns", json_integer(f.max_lag_ns));
	set_if(fairness, "bound_ns", f.bound_ns);

	set_number(o, "schema_version", SCHEMA_VERSION);
	set_text(o, "command", "nnburst-load");
	json_set(o, "scenario", scenario);
	json_set(o, "service", service);
	set_number(o, "began_ns", s->began);
	set_number(o, "ended_ns", s->ended);
	json_set(o, "interrupted", json_boolean(s->interrupted));
	set_number(o, "executions", r->executions);
	json_set(o, "fairness", fairness);
	json_set(o, "apps", apps);
	json_set(o, "problems", problems);
	status = json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(DIGITS));
	json_decref(o);
	putchar('\n');
	return status || fflush(stdout) || ferror(stdout) ? -1 : 0;
}
