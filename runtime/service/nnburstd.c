/* nnburstd -- the service: a device, shared by apps through a socket. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "nnb/client.h"
#include "nnb/service.h"
#include "options/narrow.h"
#include "options/options.h"
#include "options/quantity.h"
#include "service/command_line.h"
#include "service/last.h"
#include "service/wait_file.h"

enum { DONE = 0, USAGE = 2, ENVIRONMENT = 5 };
enum { LARGEST_LIMIT = 1000000, LANES_MAX = 64, APPS_SHOWN = 64 };
#define PATIENCE_NS UINT64_C(5000000000)

static struct nnb_service *running;

struct options {
	struct nnb_service_config config;
	const char *socket, *driver, *cache_key;
	bool status, metrics;
};

static void error_print(const char *what, const char *about)
{
	fprintf(stderr, "nnburstd: %s: %s\n", about, what);
}

/* ---- options ---- */

static bool spin_parse(const char *text, void *to)
{
	uint64_t *ret = to;

	if (strcmp(text, "auto") == 0)
		*ret = NNB_FMQ_WINDOW_AUTO;
	else if (strcmp(text, "none") == 0)
		*ret = NNB_FMQ_WINDOW_NONE;
	else if (strcmp(text, "always") == 0)
		*ret = NNB_FMQ_WINDOW_ALWAYS;
	else if (!quantity_duration_read(text, ret) || *ret <= NNB_FMQ_WINDOW_NONE)
		return false;
	return true;
}

static bool name_equals(const char *text, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(text, name, length) == 0;
}

static bool lanes_parse(const char *text, void *to)
{
	uint64_t n;

	if (!quantity_count_read(text, &n) || !n || n > LANES_MAX)
		return false;
	*(uint32_t *)to = (uint32_t)n;
	return true;
}

static bool bytes_parse(const char *text, void *to)
{
	uint64_t *ret = to;

	return quantity_size_read(text, ret) && *ret;
}

static bool limit_parse(const char *text, void *to)
{
	struct nnb_service_config *c = to;
	const struct {
		const char *name;
		uint32_t *value;
	} limits[] = {
		{ "connections", &c->limits.connections },
		{ "channels", &c->limits.channels },
		{ "models", &c->limits.models },
		{ "bursts", &c->limits.bursts },
		{ "buffers", &c->limits.buffers },
		{ "pools", &c->limits.pools },
		{ "async", &c->limits.async },
		{ "preparations", &c->limits.preparations },
		{ "total-connections", &c->connections },
	};
	const char *value = strchr(text, '=');
	size_t length;
	uint64_t n;

	if (!value)
		return false;
	length = (size_t)(value++ - text);
	if (name_equals(text, length, "bytes"))
		return bytes_parse(value, &c->limits.bytes);
	if (name_equals(text, length, "work"))
		return quantity_duration_read(value, &c->limits.work_ns) && c->limits.work_ns;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (!name_equals(text, length, limits[i].name))
			continue;
		if (!quantity_count_read(value, &n) || !n || n > LARGEST_LIMIT)
			return false;
		*limits[i].value = (uint32_t)n;
		return true;
	}
	return false;
}

/* The names of the values of the enumerations, in their order. */
static const char *const identities[] = { "uid", "pid", NULL };
static const char *const policies[] = { "fair", "priority", "fifo", "edf", "native", NULL };
static const char *const preemptions[] = { "none", "restart", "save", NULL };
static const char *const deadlines[] = { "abort", "refuse", "advise", NULL };

static const char *choice_name_of(uint32_t i, const char *const names[])
{
	while (i && *names) {
		names++;
		i--;
	}
	return *names ? *names : "?";
}

static const struct option_row option_rows[] = {
	{ "socket", OPTION_TEXT, "PATH",
	  "path of the socket; default: /run/nnburst/socket, or $XDG_RUNTIME_DIR/nnburst/socket with --app-identity "
	  "pid",
	  .offset = offsetof(struct options, socket) },
	{ "app-identity", OPTION_CHOICE, NULL,
	  "uid: an app is a user, every user may connect (default for root); pid: an app is a process of the user who "
	  "runs this (default for others)",
	  .offset = offsetof(struct options, config.identity), .choices = identities },
	{ "subuid", OPTION_TEXT, "FILE|none",
	  "with --app-identity uid, the uids that FILE gives to an account are one app with the account, see "
	  "subuid(5); "
	  "none: each uid is an app; default: /etc/subuid",
	  .offset = offsetof(struct options, config.subuid) },
	{ "driver", OPTION_TEXT, "xnnpack|null|FILE", "xnnpack (the default), null, or the path of a driver-NAME.so",
	  .offset = offsetof(struct options, driver) },
	{ "spin", OPTION_PARSED, "auto|none|always|TIME",
	  "how long bursts poll before they sleep: auto (the default): as long as a wake takes; none; always; or a "
	  "time "
	  "such as 50us",
	  .offset = offsetof(struct options, config.window_ns), .parse = spin_parse,
	  .such_as = "auto, none, always, or a time such as 50us" },
	{ "policy", OPTION_CHOICE, NULL,
	  "which executions run first: fair (the default): apps get equal lane time, and in an app priority, then "
	  "deadline, then arrival decide; priority; fifo; edf: earliest deadline; native: all at once, with the "
	  "priority "
	  "as the kernel's nice value",
	  .offset = offsetof(struct options, config.policy), .choices = policies },
	{ "lanes", OPTION_PARSED, "N", "executions at a time, 1 to 64; default: one for each cpu",
	  .offset = offsetof(struct options, config.lanes), .parse = lanes_parse, .such_as = "a number from 1 to 64" },
	{ "preempt", OPTION_CHOICE, NULL,
	  "what a preempted execution does: save (the default): it continues later; restart: it starts over later; "
	  "none: "
	  "there is no preemption",
	  .offset = offsetof(struct options, config.preempt), .choices = preemptions },
	{ "deadline", OPTION_CHOICE, NULL,
	  "an execution that cannot meet its deadline: abort (the default): it does not begin, or is stopped; refuse: "
	  "it "
	  "does not begin; advise: it runs",
	  .offset = offsetof(struct options, config.deadlines), .choices = deadlines },
	{ "memory", OPTION_PARSED, "BYTES", "limit of the memory of all apps together (K, M, G); default: no limit",
	  .offset = offsetof(struct options, config.memory), .parse = bytes_parse, .such_as = "a size such as 512M" },
	{ "limit", OPTION_PARSED, "NAME=NUMBER",
	  "a limit of each app: connections, channels, models, bursts, buffers, pools, async, preparations, bytes (K, "
	  "M, "
	  "G), or work (a time such as 60s: estimate of one execution); a limit of all apps together: "
	  "total-connections",
	  .offset = offsetof(struct options, config), .repeats = true, .parse = limit_parse,
	  .such_as = "a limit such as models=8, bytes=512M or work=100ms",
	  .offers = "connections= channels= models= bursts= buffers= pools= async= preparations= bytes= work= "
	            "total-connections=" },
	{ "plain-bursts", OPTION_SWITCH, NULL, "bursts keep no mappings",
	  .offset = offsetof(struct options, config.plain_bursts) },
	{ "cache-key", OPTION_TEXT, "FILE",
	  "seal compilation caches with the key in FILE, which is created if it does not exist",
	  .offset = offsetof(struct options, cache_key) },
	{ "status", OPTION_SWITCH, NULL, "print what a running service holds and has done",
	  .offset = offsetof(struct options, status) },
	{ "metrics", OPTION_SWITCH, NULL, "print the limits of the machine and their use, as OpenMetrics",
	  .offset = offsetof(struct options, metrics) },
};

static const struct program program = {
	.name = "nnburstd",
	.manual = "nnburstd(8)",
	.version = BURSTSCOPE_VERSION,
	.usage = "[OPTION...]\n--status | --metrics [--socket PATH]",
	.about = "Serve a device to the apps that connect to a socket, until SIGTERM or SIGINT.",
	.statuses = "0 stopped, 2 wrong usage, 5 environment.",
	.rows = option_rows,
	.n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
};

/* ---- the place of the socket ---- */

/* The path to listen on; makes its default directory. Owned; NULL: an error was printed. */
static char *socket_path(const struct options *o)
{
	const char *dir = o->config.identity == NNB_APP_UID ? "/run" : getenv("XDG_RUNTIME_DIR");
	char *path = NULL;

	if (o->socket)
		return strdup(o->socket);
	if (!dir) {
		error_print("not set; give --socket PATH", "XDG_RUNTIME_DIR");
		return NULL;
	}
	if (asprintf(&path, "%s/nnburst", dir) < 0)
		return NULL;
	if (mkdir(path, o->config.identity == NNB_APP_UID ? 0755 : 0700) && errno != EEXIST) {
		error_print(strerror(errno), path);
		free(path);
		return NULL;
	}
	free(path);
	return asprintf(&path, "%s/nnburst/socket", dir) < 0 ? NULL : path;
}

/* ---- the process and its environment ---- */

/* Notify the service manager, if there is one, as sd_notify does. */
static void manager_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int sock;

	if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(to.sun_path))
		return;
	strcpy(to.sun_path, path);
	if (path[0] == '@')
		to.sun_path[0] = '\0';
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return;
	sendto(sock, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
	close(sock);
}

static sigset_t ending_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return set;
}

/* A thread waits for the signals that end the service; all other threads block them. */
static void *stop_on_signal(void *arg)
{
	const sigset_t set = ending_signals();
	int signal;

	(void)arg;
	if (!sigwait(&set, &signal))
		nnb_service_stop(running);
	return NULL;
}

static int open_device(struct options *o)
{
	struct nnb_reason why = { "" };
	uint8_t key[NNB_KEY_BYTES];
	int r = nnb_device_open(&o->config.device, o->driver, &why);

	if (r) {
		error_print(why.text[0] ? why.text : strerror(-r), "the driver");
		return ENVIRONMENT;
	}
	if (!o->cache_key)
		return DONE;
	r = nnb_cache_key_file(o->cache_key, key);
	if (r) {
		error_print(strerror(-r), o->cache_key);
		return ENVIRONMENT;
	}
	nnb_device_cache_key(o->config.device, key);
	return DONE;
}

/* A file that the user names must be there; the default one need not. */
static int subuid_check(struct options *o)
{
	if (!o->config.subuid)
		o->config.subuid = "/etc/subuid";
	else if (!strcmp(o->config.subuid, "none"))
		o->config.subuid = NULL;
	else if (access(o->config.subuid, R_OK)) {
		error_print(strerror(errno), o->config.subuid);
		return ENVIRONMENT;
	}
	return DONE;
}

static void prober_start(struct options *o)
{
	int r = nnb_service_prober(&o->config.prober);

	if (r)
		error_print(strerror(-r),
		            "warning: an app can keep this service from ending, by the locks of its files, "
		            "because no process can be started that would wait in its place");
}

static int clients_serve(const struct options *o)
{
	struct nnb_reason why = { "" };
	pthread_t waits;
	int r = nnb_service_open(&running, &o->config, &why);

	if (r) {
		fprintf(stderr, "nnburstd: %s\n", why.text[0] ? why.text : strerror(-r));
		return ENVIRONMENT;
	}
	r = -pthread_create(&waits, NULL, stop_on_signal, NULL);
	if (!r) {
		manager_notify("READY=1");
		r = nnb_service_run(running);
		manager_notify("STOPPING=1");
		pthread_kill(waits, SIGTERM); /* if the thread still waits */
		pthread_join(waits, NULL);
	}
	/* Exit, though clients' executions or files are waited for: the prober ends later, because its workers have the
	 * sockets of these clients, too. */
	if (r == -EBUSY) {
		fputs("nnburstd: a client's execution or file has not ended in 1.5 s; leaving it\n", stderr);
		last_exit(DONE, o->config.prober);
	}
	nnb_service_close(running);
	if (nnb_service_mapped() && !r) { /* files of clients are still mapped */
		if (o->config.prober > 0)
			nnb_service_prober_stop(o->config.prober);
		last_exit(DONE, o->config.prober);
	}
	if (!r)
		return DONE;
	error_print(strerror(-r), "serving");
	return ENVIRONMENT;
}

/* ---- the status of a running service ---- */

/* Print a number, or "none", as the next cell (options/narrow.h). */
static void print_limit(uint64_t n)
{
	if (n >= UINT64_MAX / 2)
		printf("\v%14s", "none");
	else
		printf("\v%14" PRIu64, n);
}

/* Print the limits of the machine as OpenMetrics: gauges, by resource. */
static void print_metrics(const struct nnb_service_counts *n)
{
	const struct {
		const char *what;
		const struct nnb_budget *is;
	} rows[] = { { "descriptors", &n->descriptors },
		     { "mappings", &n->mappings },
		     { "memory_bytes", &n->memory },
		     { "threads", &n->threads } };
	const struct {
		const char *name, *help;
		size_t at;
	} gauges[] = {
		{ "used", "Units that all apps are charged with.", offsetof(struct nnb_budget, all) },
		{ "limit", "Limit of the machine for the service.", offsetof(struct nnb_budget, limit) },
		{ "app_limit", "Limit of one app.", offsetof(struct nnb_budget, most) },
	};

	for (size_t g = 0; g < sizeof(gauges) / sizeof(gauges[0]); g++) {
		printf("# TYPE nnburst_budget_%s gauge\n# HELP nnburst_budget_%s %s\n", gauges[g].name, gauges[g].name,
		       gauges[g].help);
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			printf("nnburst_budget_%s{resource=\"%s\"} %" PRIu64 "\n", gauges[g].name, rows[i].what,
			       *(const uint64_t *)(const void *)((const char *)rows[i].is + gauges[g].at));
	}
	puts("# EOF");
}

static void print_counts(const struct nnb_service_info *info, const struct nnb_service_counts *n)
{
	const struct {
		const char *what;
		uint64_t all, app, limit;
	} rows[] = {
		{ "connections", n->all.connections, n->app.connections, n->limit.connections },
		{ "channels", n->all.channels, n->app.channels, n->limit.channels },
		{ "models", n->all.models, n->app.models, n->limit.models },
		{ "bursts", n->all.bursts, n->app.bursts, n->limit.bursts },
		{ "buffers", n->all.buffers, n->app.buffers, n->limit.buffers },
		{ "pools", n->all.pools, n->app.pools, n->limit.pools },
		{ "bytes", n->all.bytes, n->app.bytes, n->limit.bytes },
		{ "async", n->all.executions_under_way, n->app.executions_under_way, n->limit.executions_under_way },
	};
	const struct {
		const char *what;
		const struct nnb_budget *is;
	} budgets[] = { { "descriptors", &n->descriptors },
		        { "mappings", &n->mappings },
		        { "memory", &n->memory },
		        { "threads", &n->threads } };

	printf("process %u, instance %u, driver %s, %s\n", info->pid, info->instance, info->driver,
	       n->performance_held ? "kept fast by bursts" : "at rest");
	printf("policy %s, %u lane%s, preempt %s, deadline %s\n\n", choice_name_of(info->policy, policies), info->lanes,
	       info->lanes == 1 ? "" : "s", choice_name_of(info->preempt, preemptions),
	       choice_name_of(info->deadlines, deadlines));
	printf("%-12s\v%14s\v%14s\v%14s\n", "now", "all apps", "this app", "an app's limit");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		printf("%-12s\v%14" PRIu64 "\v%14" PRIu64 "\v%14" PRIu64 "\n", rows[i].what, rows[i].all, rows[i].app,
		       rows[i].limit);
	printf("\n%-14s\v%14s\v%14s\v%14s\v%14s\v%14s\n", "of the machine", "all apps", "this app", "an app's limit",
	       "guaranteed", "the machine's");
	for (size_t i = 0; i < sizeof(budgets) / sizeof(budgets[0]); i++) {
		const struct nnb_budget *b = budgets[i].is;

		printf("%-14s\v%14" PRIu64 "\v%14" PRIu64, budgets[i].what, b->all, b->app);
		print_limit(b->most);
		print_limit(b->guaranteed);
		print_limit(b->limit);
		putchar('\n');
	}
	printf("\nso far: %" PRIu64 " burst requests (%" PRIu64 " malformed), %" PRIu64 " slot lookups (%" PRIu64
	       " missed),\n%" PRIu64 " synchronous, %" PRIu64 " asynchronous and %" PRIu64
	       " fenced executions, %" PRIu64 " refusals\n",
	       n->burst_requests, n->burst_malformed, n->slot_lookups, n->slot_misses, n->sync_executions,
	       n->async_executions, n->fenced_executions, n->refused);
}

/* Print the lane time of apps. */
static void print_apps(const struct nnb_app_counts *apps, uint32_t shown, uint32_t n)
{
	printf("\n%-12s\v%12s\v%10s\v%10s\v%10s\v%10s\v%12s\v%12s\v%9s\v%9s\n", "app", "executions", "preempted",
	       "missed:", "missed:", "late", "received", "entitled", "lag", "wait");
	printf("%-12s\v%12s\v%10s\v%10s\v%10s\v%10s\v%12s\v%12s\v%9s\v%9s\n", "", "", "", "transient", "persistent", "",
	       "contended ms", "contended ms", "most ms", "most ms");
	for (uint32_t i = 0; i < shown; i++) {
		const struct nnb_app_counts *a = &apps[i];

		printf("%-12u\v%12" PRIu64 "\v%10" PRIu64 "\v%10" PRIu64 "\v%10" PRIu64 "\v%10" PRIu64
		       "\v%12.3f\v%12.3f\v%9.3f\v%9.3f\n",
		       a->app, a->executions, a->preemptions, a->missed_transient, a->missed_persistent, a->late,
		       (double)a->received_ns / 1e6, (double)a->entitled_ns / 1e6, (double)a->max_lag_ns / 1e6,
		       (double)a->longest_wait_ns / 1e6);
	}
	if (n > shown)
		printf("and %u more\n", n - shown);
}

/* Print the status. The connection and the channel of this very query are included in it. */
static int print_status(const struct options *o)
{
	const struct nnb_client_config config = { .socket = o->socket, .timeout_ns = PATIENCE_NS };
	struct nnb_reason why = { "" };
	struct nnb_app_counts apps[APPS_SHOWN];
	struct nnb_service_counts counts;
	struct nnb_client *client;
	uint32_t n;
	bool whole = true;
	int status = ENVIRONMENT;

	if (!nnb_client_open(&client, &config, &why)) {
		if (!nnb_client_counts(client, &counts, &why) && !nnb_client_apps(client, apps, APPS_SHOWN, &n, &why)) {
			if (o->metrics) {
				print_metrics(&counts);
			} else {
				struct narrow fitted;

				narrow_begin(&fitted);
				print_counts(nnb_client_info(client), &counts);
				print_apps(apps, n < APPS_SHOWN ? n : APPS_SHOWN, n);
				whole = narrow_end(&fitted);
			}
			status = DONE;
		}
		nnb_client_close(client);
	}
	if (status)
		fprintf(stderr, "nnburstd: %s\n", why.text);
	else if (!whole)
		status = ENVIRONMENT;
	return status ? status : options_written(&program);
}

int main(int argc, char **argv)
{
	struct options o = { .config = { .identity = geteuid() ? NNB_APP_PID : NNB_APP_UID,
		                         .preempt = NNB_PREEMPT_SAVE },
		             .driver = "xnnpack" };
	const sigset_t ends = ending_signals();
	int first, status = options_read(&program, &o, argc, argv, &first);
	struct rlimit files;
	char *path;

	if (status == OPTIONS_READ && first < argc)
		status = options_wrong(&program, "unexpected argument '%s'", argv[first]);
	if (status != OPTIONS_READ)
		return status;
	if (o.status || o.metrics)
		return print_status(&o);
	path = socket_path(&o);
	if (!path)
		return ENVIRONMENT;
	o.config.socket = path;
	if (o.config.identity == NNB_APP_UID) {
		int r = command_line_hide();

		if (r)
			error_print(strerror(-r), "warning: another user who reads /proc/PID/cmdline can delay this "
			                          "service, because its command line cannot be hidden");
		r = wait_files_secure();
		if (r) {
			error_print(strerror(-r),
			            r == -EPERM ? "warning: nothing is traced, because another user could end this "
			                          "service by LTTng's files /dev/shm/lttng-ust-wait-8*; see TRACING "
			                          "in nnburstd(8)"
			                        : "warning: nothing is traced, because LTTng's files "
			                          "/dev/shm/lttng-ust-wait-8* cannot be made");
			setenv("NNBURST_TRACEPOINTS", "", 1);
		}
	}
	pthread_sigmask(SIG_BLOCK, &ends, NULL); /* in all threads that will be started */
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file beyond RLIMIT_FSIZE is an error of the call that writes to it */
	if (!getrlimit(RLIMIT_NOFILE, &files)) { /* pools of apps are file descriptors while they travel */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	/*
	 * Memory from malloc is charged to apps by the byte, and with a mapping for 16 MiB (service.h). So a mapping
	 * of malloc's has to be that large: blocks up to 32 MiB come out of its heaps, of which each has 64 MiB and
	 * two mappings.
	 */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	status = subuid_check(&o);
	if (!status)
		prober_start(&o); /* before there is any thread, secret or file of an app */
	if (!status)
		status = open_device(&o);
	if (!status)
		status = clients_serve(&o);
	if (o.config.prober > 0)
		nnb_service_prober_stop(o.config.prober);
	nnb_device_unref(o.config.device);
	free(path);
	return status;
}
