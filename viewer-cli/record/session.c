/*
 * session.c -- makes and controls one session by liblttng-ctl, or prints the same steps as
 * commands.
 *
 * CRASH  A session outlives the process that made it. So its name contains the process id and the
 *        start time of that process, because ids are reused. Containers can share a session daemon,
 *        so the name ends with the pid namespace, unless that is the initial one of the machine.
 *        The keeper of the daemon (keeper.h) ends the sessions of processes of its namespace that
 *        have ended; where there is no keeper, the next recorder of that namespace does.
 */
#include "record/session.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "record/packets.h"
#include "record/programs.h"
#include "record/scratch.h"

#define CHANNEL "bursts"
#define PREFIX "burstscope-record-"

/*
 * the channel of metadata, which stays in memory until the session stops, unless a channel of this
 * name has a timer
 */
#define METADATA "metadata"

enum { PENDING_LOOK_MS = 5, LOOK_MS = 1000, METADATA_BYTES = 4096, METADATA_US = 100000 };

/* As analyzer/decode/kernel.h reads them. */
static const char *const kernel_events[] = { "sched_switch", "sched_waking", "irq_handler_entry", "irq_handler_exit",
	                                     "power_cpu_frequency" };

enum { KERNEL_EVENTS = sizeof(kernel_events) / sizeof(*kernel_events), KERNEL_EACH = 1 << 20, KERNEL_BUFFERS = 8 };

/* One line of docs/events.md, "Levels". */
struct rule {
	const char *name;
	int level; /* this level and more important ones; negative: all */
};

static const struct {
	const char *level;
	struct rule rules[4];
} details[] = {
	[BSV_DETAIL_FULL] = { "DEBUG_FUNCTION", { { "nnburst:*", LTTNG_LOGLEVEL_DEBUG_FUNCTION } } },
	[BSV_DETAIL_VERBOSE] = { "DEBUG_LINE", { { "nnburst:*", LTTNG_LOGLEVEL_DEBUG_LINE } } },
	[BSV_DETAIL_COMPACT] = { "NOTICE",
	                         { { "nnburst:*", LTTNG_LOGLEVEL_NOTICE },
	                           { "nnburst:exec_client", -1 },
	                           { "nnburst:exec_service", -1 } } },
};

/* ---- names ---- */

/*
 * Linux gives this number to the initial pid namespace (PROC_PID_INIT_INO). Names without a
 * namespace are short, and there a person reads them most.
 */
static const unsigned long long initial_namespace = 0xEFFFFFFC;

void bsv_session_name(char ret[BSV_SESSION_NAME])
{
	static unsigned serial;

	const unsigned long long space = bsv_pid_namespace();
	char suffix[24] = "";

	if (space != initial_namespace)
		snprintf(suffix, sizeof(suffix), "-%llu", space);
	snprintf(ret, BSV_SESSION_NAME, PREFIX "%ld-%llu-%u%s", (long)getpid(), bsv_process_began(getpid()), serial++,
	         suffix);
}

bool bsv_session_is_stale(const char *name)
{
	unsigned long long began, space = initial_namespace; /* initial_namespace stays if the name has none */
	unsigned serial;
	long pid;

	if (sscanf(name, PREFIX "%ld-%llu-%u-%llu", &pid, &began, &serial, &space) < 3 || pid <= 0)
		return false;
	return space && space == bsv_pid_namespace() && !bsv_process_runs(pid, began);
}

bool bsv_session_none(const struct bsv_lttng *lttng)
{
	struct lttng_session *sessions = NULL;
	int n = lttng->list_sessions(&sessions);

	free(sessions);
	return !n;
}

unsigned bsv_session_sweep(const struct bsv_lttng *lttng)
{
	struct lttng_session *sessions = NULL;
	int n = lttng->list_sessions(&sessions);
	unsigned gone = 0;

	for (int i = 0; i < n; i++) {
		struct lttng_destruction_handle *handle = NULL;

		if (!bsv_session_is_stale(sessions[i].name) ||
		    lttng->destroy_session_ext(sessions[i].name, &handle) != LTTNG_OK)
			continue;
		/*
		 * A session whose end LTTng cannot write, e.g. because the disk is full, ends all
		 * the same, and burstscope waits for it no longer.
		 */
		lttng->destruction_handle_wait_for_completion(handle, BSV_SESSION_LIMIT_MS);
		lttng->destruction_handle_destroy(handle);
		gone++;
		/* Sessions of other users, whose directories are theirs, may be called anything. */
		if (bsv_scratch_is_own(sessions[i].path))
			bsv_remove_tree(sessions[i].path);
	}
	free(sessions);
	return gone;
}

static struct lttng_handle *user_handle(const struct bsv_lttng *lttng, const char *session)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID };

	return lttng->create_handle(session, &domain);
}

/*
 * Does a timer end the packets of every channel? LTTng does not list the channel of the metadata.
 * If no channel can be listed, nothing is known to.
 */
static bool has_switch_timers(const struct bsv_lttng *lttng, const char *session)
{
	struct lttng_handle *handle = user_handle(lttng, session);
	struct lttng_channel *channels = NULL;
	int n = handle ? lttng->list_channels(handle, &channels) : 0;
	bool all = n > 0;

	for (int i = 0; i < n; i++)
		all &= !channels[i].enabled || channels[i].attr.switch_timer_interval > 0;
	free(channels);
	lttng->destroy_handle(handle);
	return all;
}

int bsv_session_find(const struct bsv_lttng *lttng, const char *name, char ret[PATH_MAX], bool *ret_holds_back,
                     struct bsa_err *err)
{
	struct lttng_session *sessions = NULL;
	int n = lttng->list_sessions(&sessions), found = -1;
	bool active = false;

	for (int i = 0; i < n && found < 0; i++)
		if (!strcmp(sessions[i].name, name))
			found = i;
	if (found >= 0) {
		snprintf(ret, PATH_MAX, "%s", sessions[found].path);
		active = sessions[found].enabled;
	}
	free(sessions);
	if (n < 0)
		return bsa_fail(
			err, BSA_E_ENV,
			"no session daemon answers: %s; leave out the name of the session to record in a new one",
			lttng->strerror(n));
	if (found < 0)
		return bsa_fail(err, BSA_E_ENV, "there is no session %s; `lttng list` has those that there are", name);
	if (*ret != '/')
		return bsa_fail(err, BSA_E_ENV, "session %s writes no files here that could be followed", name);
	*ret_holds_back = active && !has_switch_timers(lttng, name);
	return 0;
}

/* ---- making one ---- */

static struct lttng_handle *handle_of(const struct bsv_session *s)
{
	return user_handle(s->lttng, s->name);
}

static struct lttng_handle *kernel_handle(const struct bsv_lttng *lttng, const char *session)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_KERNEL, .buf_type = LTTNG_BUFFER_GLOBAL };

	return lttng->create_handle(session, &domain);
}

int bsv_session_check_kernel(const struct bsv_lttng *lttng, struct bsa_err *err)
{
	struct lttng_handle *handle = kernel_handle(lttng, NULL);
	struct lttng_event *events = NULL;
	int n = handle ? lttng->list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;

	free(events);
	lttng->destroy_handle(handle);
	if (n >= 0)
		return 0;
	return bsa_fail(err, BSA_E_ENV,
	                "--kernel: the session daemon has no kernel tracer (%s); it takes lttng-modules, and an "
	                "lttng-sessiond that runs as root; without --kernel the programs alone are recorded",
	                lttng->strerror(n));
}

/* A session daemon whose consumer daemon died refuses all requests about programs, and starts no other one. */
static int consumer_died(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV,
	                "lttng-consumerd has died, and lttng-sessiond records nothing until it is started again");
}

int bsv_session_check_consumer(const struct bsv_lttng *lttng, struct bsa_err *err)
{
	struct lttng_domain domain = { .type = LTTNG_DOMAIN_UST };
	struct lttng_handle *handle = lttng->create_handle(NULL, &domain);
	struct lttng_event *events = NULL;
	int n = handle ? lttng->list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;

	free(events);
	lttng->destroy_handle(handle);
	return n == -LTTNG_ERR_NO_USTCONSUMERD ? consumer_died(err) : 0;
}

/*
 * If the session daemon ends during a request, LTTng returns one of several codes. All of them mean
 * that no session daemon runs. While the process of the daemon ends, its socket still takes a
 * connection, and so it seems to be alive.
 */
static int session_failed(const struct bsv_session *s, const char *what, int code, struct bsa_err *err)
{
	if (code == LTTNG_ERR_NO_SESSIOND || code == -LTTNG_ERR_NO_SESSIOND || s->lttng->session_daemon_alive() != 1)
		return bsa_fail(err, BSA_E_ENV, "lttng-sessiond has gone");
	if (code == LTTNG_ERR_NO_USTCONSUMERD || code == -LTTNG_ERR_NO_USTCONSUMERD)
		return consumer_died(err);
	return bsa_fail(err, BSA_E_ENV, "LTTng cannot %s: %s", what, s->lttng->strerror(code < 0 ? code : -code));
}

static int add_channel(struct bsv_session *s, struct lttng_handle *handle, bool metadata, struct bsa_err *err)
{
	struct lttng_channel *channel = s->lttng->channel_create(&handle->domain);
	int r;

	if (!channel)
		return session_failed(s, "make a channel", LTTNG_ERR_NOMEM, err);
	snprintf(channel->name, sizeof(channel->name), metadata ? METADATA : CHANNEL);
	channel->attr.subbuf_size = metadata ? METADATA_BYTES : s->buffers.each;
	channel->attr.num_subbuf = metadata ? 2 : s->buffers.n;
	channel->attr.overwrite = s->snapshot;
	channel->attr.switch_timer_interval = metadata ? METADATA_US : s->live.timer_us;
	if (!metadata && s->live.file_bytes) /* a packet has to fit */
		channel->attr.tracefile_size =
			s->live.file_bytes > s->buffers.each ? s->live.file_bytes : s->buffers.each;
	channel->attr.tracefile_count = metadata ? 0 : s->live.files;
	r = s->lttng->enable_channel(handle, channel);
	s->lttng->channel_destroy(channel);
	return r < 0 ? session_failed(s, "make a channel", r, err) : 0;
}

static int add_event(struct bsv_session *s, struct lttng_handle *handle, const char *name, int level,
                     struct bsa_err *err)
{
	char filter[BSV_SCOPE_FILTER], sided[BSV_SCOPE_SIDED][BSV_SCOPE_EVENT], *excluded[BSV_SCOPE_SIDED];
	bool all = strchr(name, '*') && bsv_scope_is_set(&s->scope);
	struct lttng_event *event = s->lttng->event_create();
	int r;

	if (!event)
		return session_failed(s, "record events", LTTNG_ERR_NOMEM, err);
	event->type = LTTNG_EVENT_TRACEPOINT;
	snprintf(event->name, sizeof(event->name), "%s", name);
	event->loglevel_type = level < 0 ? LTTNG_EVENT_LOGLEVEL_ALL : LTTNG_EVENT_LOGLEVEL_RANGE;
	event->loglevel = level;
	for (size_t i = 0; i < BSV_SCOPE_SIDED; i++) {
		snprintf(sided[i], sizeof(sided[i]), "%s", bsv_scope_sided(i));
		excluded[i] = sided[i];
	}
	bsv_scope_filter(&s->scope, name, NULL, filter);
	r = s->lttng->enable_event_with_exclusions(handle, event, CHANNEL, *filter ? filter : NULL,
	                                           all ? BSV_SCOPE_SIDED : 0, all ? excluded : NULL);
	s->lttng->event_destroy(event);
	return r < 0 ? session_failed(s, "record events", r, err) : 0;
}

/* The scheduling of all threads: a thread may have waited for any other. */
static int add_kernel(struct bsv_session *s, struct bsa_err *err)
{
	struct lttng_handle *handle = kernel_handle(s->lttng, s->name);
	struct lttng_channel *channel = handle ? s->lttng->channel_create(&handle->domain) : NULL;
	int r = channel ? 0 : -LTTNG_ERR_NOMEM;

	if (channel) {
		snprintf(channel->name, sizeof(channel->name), CHANNEL);
		channel->attr.subbuf_size = KERNEL_EACH;
		channel->attr.num_subbuf = KERNEL_BUFFERS;
		r = s->lttng->enable_channel(handle, channel);
	}
	s->lttng->channel_destroy(channel);
	for (size_t i = 0; r >= 0 && i < KERNEL_EVENTS; i++) {
		struct lttng_event *event = s->lttng->event_create();

		if (!event) {
			r = -LTTNG_ERR_NOMEM;
			break;
		}
		event->type = LTTNG_EVENT_TRACEPOINT;
		snprintf(event->name, sizeof(event->name), "%s", kernel_events[i]);
		r = s->lttng->enable_event_with_exclusions(handle, event, CHANNEL, NULL, 0, NULL);
		s->lttng->event_destroy(event);
	}
	s->lttng->destroy_handle(handle);
	return r < 0 ? session_failed(s, "record the kernel", r, err) : 0;
}

int bsv_session_start(struct bsv_session *s, struct bsa_err *err)
{
	struct lttng_session_descriptor *d = s->snapshot
	                                             ? s->lttng->session_descriptor_snapshot_create(s->name)
	                                             : s->lttng->session_descriptor_local_create(s->name, s->directory);
	struct lttng_handle *handle;
	int r = d ? (int)s->lttng->create_session_ext(d) : LTTNG_ERR_INVALID;

	s->lttng->session_descriptor_destroy(d);
	if (r != LTTNG_OK)
		return session_failed(s, "make a session", r, err);
	s->made = true;

	handle = handle_of(s);
	r = handle ? 0 : session_failed(s, "make a session", LTTNG_ERR_NOMEM, err);
	if (r >= 0 && s->live.timer_us)
		r = add_channel(s, handle, true, err);
	if (r >= 0)
		r = add_channel(s, handle, false, err);
	for (const struct rule *rule = details[s->detail].rules; r >= 0 && rule->name; rule++) {
		/* With a scope, what clients emit, too, has filters of its own. */
		r = add_event(s, handle, rule->name, rule->level, err);
		for (size_t i = 0; r >= 0 && i < BSV_SCOPE_SIDED && bsv_scope_is_set(&s->scope) && rule->level >= 0;
		     i++)
			r = add_event(s, handle, bsv_scope_sided(i), rule->level, err);
	}
	s->lttng->destroy_handle(handle);
	if (r >= 0 && s->kernel)
		r = add_kernel(s, err);

	if (r >= 0) {
		r = s->lttng->start_tracing(s->name);
		s->started = r >= 0;
		if (r < 0)
			r = session_failed(s, "start", r, err);
	}
	if (r < 0) {
		s->lttng->destroy_session(s->name);
		s->made = false;
	}
	return r;
}

/* ---- while it is there ---- */

static int look_at_channels(struct bsv_session *s, struct lttng_handle *handle)
{
	struct lttng_channel *channels = NULL;
	int n = handle ? s->lttng->list_channels(handle, &channels) : -LTTNG_ERR_NOMEM;
	uint64_t lost;

	for (int i = 0; i < n; i++) {
		if (!s->lttng->channel_get_discarded_event_count(&channels[i], &lost))
			s->lost_events += lost;
		if (!s->lttng->channel_get_lost_packet_count(&channels[i], &lost))
			s->lost_packets += lost;
	}
	free(channels);
	s->lttng->destroy_handle(handle);
	return n;
}

int bsv_session_look(struct bsv_session *s, struct bsa_err *err)
{
	const uint64_t events = s->lost_events, packets = s->lost_packets;
	int n;

	s->lost_events = s->lost_packets = 0;
	n = look_at_channels(s, handle_of(s));
	if (n >= 0 && s->kernel)
		n = look_at_channels(s, kernel_handle(s->lttng, s->name));
	if (n < 0) {
		s->lost_events = events;
		s->lost_packets = packets;
	}
	return n < 0 ? session_failed(s, "say what was lost", n, err) : 0;
}

int bsv_session_check(const struct bsv_session *s, struct bsa_err *err)
{
	struct lttng_handle *handle = handle_of(s);
	struct lttng_channel *channels = NULL;
	int n = handle ? s->lttng->list_channels(handle, &channels) : -LTTNG_ERR_NOMEM;

	free(channels);
	s->lttng->destroy_handle(handle);
	if (n == -LTTNG_ERR_SESS_NOT_FOUND)
		return bsa_fail(err, BSA_E_ENV, "another program has ended session %s", s->name);
	return n < 0 ? session_failed(s, "find its session", n, err) : 0;
}

/*
 * Sizes are read each second. A ring that overwrites a file can have the same size twice, so one
 * look proves nothing.
 */
struct progress {
	uint64_t bytes, looked_at, grew_at;
};

/* The programs that are stopped and whose events may be in the recording. */
static unsigned programs_stopped(const struct bsv_session *s, struct bsv_program ret[BSV_PROGRAMS_MOST])
{
	unsigned n = bsv_programs_stopped(ret), kept = 0;

	for (unsigned i = 0; i < n; i++)
		if (bsv_scope_has_process(&s->scope, ret[i].pid, !strcmp(ret[i].name, "nnburstd")))
			ret[kept++] = ret[i];
	return kept;
}

/*
 * Has LTTng written nothing for @limit_ms? A program that is stopped while it emits an event never
 * completes its packet: while a program is stopped, a sixth of that is enough. Returns the time in
 * ms that was enough; 0: no.
 */
static uint64_t stuck_for_ms(const struct bsv_session *s, struct progress *p, uint64_t limit_ms)
{
	const uint64_t sixth_ms = (limit_ms + 5) / 6; /* never 0, which is the answer no */
	uint64_t now = bsv_now(), every = (limit_ms < 8 * LOOK_MS ? limit_ms / 8 : LOOK_MS) * 1000000, bytes;
	struct bsv_program stopped[BSV_PROGRAMS_MOST];

	if (now - p->looked_at < every)
		return 0;
	p->looked_at = now;
	bytes = bsv_directory_bytes(s->directory);
	if (bytes != p->bytes)
		p->grew_at = now;
	p->bytes = bytes;
	if (now - p->grew_at >= limit_ms * 1000000)
		return limit_ms;
	return now - p->grew_at >= sixth_ms * 1000000 && programs_stopped(s, stopped) ? sixth_ms : 0;
}

/* Write the events recorded so far to files. They are there when nothing is pending. */
int bsv_session_flush(struct bsv_session *s, struct bsa_err *err)
{
	const struct timespec a_while = { .tv_nsec = PENDING_LOOK_MS * 1000000L };
	const uint64_t limit_ms = s->limit_ms ? s->limit_ms : BSV_SESSION_LIMIT_MS;
	struct progress progress = { .looked_at = bsv_now(), .grew_at = bsv_now() };
	int r = s->lttng->stop_tracing_no_wait(s->name);
	struct bsv_program stopped[BSV_PROGRAMS_MOST];
	char silent[BSV_DURATION_TEXT];
	unsigned n;

	if (r < 0 && r != -LTTNG_ERR_TRACE_ALREADY_STOPPED)
		return session_failed(s, "stop", r, err);
	while ((r = s->lttng->data_pending(s->name)) == 1) {
		if (!s->stuck_ms)
			s->stuck_ms = stuck_for_ms(s, &progress, limit_ms);
		if (s->stuck_ms)
			break;
		nanosleep(&a_while, NULL);
	}
	if (r < 0)
		return session_failed(s, "write the rest", r, err);
	if (!r) {
		s->stuck_ms = 0;
		return 0;
	}

	/* stuck */
	bsv_duration(silent, (int64_t)s->stuck_ms * 1000000);
	n = programs_stopped(s, stopped);
	if (!n)
		return bsa_fail(err, BSA_E_ENV,
		                "LTTng holds recorded events back, and has written nothing to %s for %s: is the disk "
		                "full or gone, or an app stopped while it emits an event?",
		                s->directory, silent);
	return bsa_fail(err, BSA_E_ENV,
	                "LTTng holds recorded events back, and has written nothing to %s for %s: %s (pid %ld)%s is "
	                "stopped, probably while it emits an event; the last packets of its buffers may be missing, "
	                "and what is missing counts as a loss",
	                s->directory, silent, stopped[0].name, (long)stopped[0].pid, n > 1 ? ", as others," : "");
}

int bsv_session_snapshot(const struct bsv_session *s, const char *directory, struct bsa_err *err)
{
	struct lttng_snapshot_output *output = s->lttng->snapshot_output_create();
	int r = output ? s->lttng->snapshot_output_set_local_path(directory, output) : -LTTNG_ERR_NOMEM;

	if (r >= 0)
		r = s->lttng->snapshot_output_set_name("trace", output);
	if (r >= 0)
		r = s->lttng->snapshot_record(s->name, output, 1);
	s->lttng->snapshot_output_destroy(output);
	return r < 0 ? session_failed(s, "take a snapshot", r, err) : 0;
}

int bsv_session_retell(const struct bsv_session *s, struct bsa_err *err)
{
	int r = s->lttng->regenerate_statedump(s->name);

	return r < 0 ? session_failed(s, "have the service emit its state again", r, err) : 0;
}

static int destroy_session(struct bsv_session *s, struct bsa_err *err)
{
	struct lttng_destruction_handle *handle = NULL;
	enum lttng_error_code code = s->lttng->destroy_session_ext(s->name, &handle);

	if (code != LTTNG_OK)
		return session_failed(s, "end the session", (int)code, err);
	s->lttng->destruction_handle_wait_for_completion(handle, s->stuck_ms ? (int)s->stuck_ms : -1);
	if (s->lttng->destruction_handle_get_result(handle, &code) == LTTNG_DESTRUCTION_HANDLE_STATUS_OK)
		s->end = (int)code;
	s->lttng->destruction_handle_destroy(handle);
	return 0;
}

int bsv_session_stop(struct bsv_session *s, struct bsa_err *err)
{
	int r = 0, gone;

	if (!s->made)
		return 0;
	if (s->started)
		r = bsv_session_flush(s, err);
	if (r >= 0 && s->started)
		r = bsv_session_look(s, err);
	s->end = LTTNG_OK;
	gone = destroy_session(s, r < 0 ? NULL : err);
	s->made = s->started = false;
	return r < 0 ? r : gone;
}

/* ---- as commands ---- */

void bsv_print_word(const char *word, FILE *to)
{
	if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-./:=@,%")]) {
		fputs(word, to);
		return;
	}
	fputc('\'', to);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", to);
		else
			fputc(*word, to);
	fputc('\'', to);
}

static void print_event(const struct bsv_session *s, const char *name, int level, FILE *to)
{
	char filter[BSV_SCOPE_FILTER];

	fprintf(to, "lttng enable-event --userspace --session=%s --channel=" CHANNEL " ", s->name);
	bsv_print_word(name, to);
	if (level >= 0)
		fprintf(to, " --loglevel=%s", details[s->detail].level);
	for (size_t i = 0; i < BSV_SCOPE_SIDED && strchr(name, '*') && bsv_scope_is_set(&s->scope); i++)
		fprintf(to, "%s%s", i ? "," : " --exclude=", bsv_scope_sided(i));
	if (bsv_scope_filter(&s->scope, name, NULL, filter)) {
		fputs(" --filter=", to);
		bsv_print_word(filter, to);
	}
	fputc('\n', to);
}

void bsv_session_print_start(const struct bsv_session *s, FILE *to)
{
	fprintf(to, "lttng create %s --output=", s->name);
	bsv_print_word(s->directory, to);
	fprintf(to,
	        "\nlttng enable-channel --userspace --session=%s --buffers-uid --discard --subbuf-size=%" PRIu64
	        " --num-subbuf=%" PRIu64 " " CHANNEL "\n",
	        s->name, s->buffers.each, s->buffers.n);
	for (const struct rule *rule = details[s->detail].rules; rule->name; rule++) {
		print_event(s, rule->name, rule->level, to);
		for (size_t i = 0; i < BSV_SCOPE_SIDED && bsv_scope_is_set(&s->scope) && rule->level >= 0; i++)
			print_event(s, bsv_scope_sided(i), rule->level, to);
	}
	if (s->kernel)
		fprintf(to,
		        "lttng enable-channel --kernel --session=%s --discard --subbuf-size=%d --num-subbuf=%d " CHANNEL
		        "\n",
		        s->name, KERNEL_EACH, KERNEL_BUFFERS);
	for (size_t i = 0; s->kernel && i < KERNEL_EVENTS; i++)
		fprintf(to, "lttng enable-event --kernel --session=%s --channel=" CHANNEL " %s\n", s->name,
		        kernel_events[i]);
	fprintf(to, "lttng start %s\n", s->name);
}

void bsv_session_print_stop(const struct bsv_session *s, FILE *to)
{
	fprintf(to, "lttng stop %s\nlttng destroy %s\n", s->name, s->name);
}
