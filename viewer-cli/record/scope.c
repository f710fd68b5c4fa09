/* scope.c -- makes the filters for LTTng of a scope, and decides which apps are in it. */
#include "record/scope.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * The events that clients emit, too (docs/events.md), and when it is a service that does:
 * test_scope holds both against that page. deadline_miss has no filter: of a fenced execution the
 * service emits what otherwise a client emits, and no field distinguishes the two. It is rare.
 */
static const struct {
	const char *name, *by_service; /* NULL: never */
} sided[BSV_SCOPE_SIDED] = {
	{ "nnburst:exec_submit", NULL },
	{ "nnburst:exec_return", NULL },
	{ "nnburst:exec_client", NULL },
	{ "nnburst:fmq_write", "queue == 1 || queue == 3" },
	{ "nnburst:fmq_read", "queue == 0 || queue == 2" },
	{ "nnburst:slot_lookup", "look != 3" },
	{ "nnburst:app_span", "kind >= 6" },
};

static const char unfiltered[] = "nnburst:deadline_miss";

const char *bsv_scope_sided(size_t i)
{
	return sided[i].name;
}

bool bsv_scope_is_set(const struct bsv_scope *s)
{
	return *s->app || s->pid || s->service;
}

bool bsv_scope_has_process(const struct bsv_scope *s, pid_t pid, bool is_service)
{
	uint32_t only = is_service ? s->service : s->pid;

	return !only || (uint32_t)pid == only;
}

static bool is_uid(const char *app)
{
	return *app && !app[strspn(app, "0123456789")];
}

/* ---- what was asked for ---- */

/* A socket that is connected to who listens there, or -errno. */
static int connect_to(const struct sockaddr_un *to, int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0), error;

	if (fd >= 0 && !connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	return -error;
}

int bsv_scope_read(struct bsv_scope *ret, const char *service, const char *app, unsigned pid, struct bsa_err *err)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);
	char process[32];
	struct stat st;
	int fd;

	*ret = (struct bsv_scope){ .pid = pid, .pid_uid = UINT32_MAX };
	snprintf(process, sizeof(process), "/proc/%" PRIu32, pid);
	if (pid && !stat(process, &st))
		ret->pid_uid = st.st_uid;
	if (app && (!*app || strlen(app) >= sizeof(ret->app)))
		return bsa_fail(err, BSA_E_USAGE, "--app: write a name of 1 to 63 bytes, or a uid");
	for (const char *c = app; c && *c; c++)
		if ((unsigned char)*c < ' ')
			return bsa_fail(err, BSA_E_USAGE, "--app: a name with a control character cannot be meant");
	if (app && is_uid(app) && strtoull(app, NULL, 10) >= UINT32_MAX)
		return bsa_fail(err, BSA_E_USAGE, "--app: %s is too large for a uid", app);
	if (app)
		strcpy(ret->app, app);
	if (!service)
		return 0;

	/* The service is the process that listens on the socket, as the kernel knows it. */
	if (!*service || strlen(service) >= sizeof(to.sun_path))
		return bsa_fail(err, BSA_E_USAGE, "--service: '%.80s' is not the path of a socket", service);
	strcpy(to.sun_path, service);
	fd = connect_to(&to, SOCK_SEQPACKET);
	if (fd == -EPROTOTYPE)
		fd = connect_to(&to, SOCK_STREAM);
	if (fd < 0)
		return bsa_fail(
			err, BSA_E_ENV,
			"--service %s: no service listens there: %s; give the path that nnburstd --socket was given",
			service, strerror(-fd));
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
		peer.pid = 0;
	close(fd);
	if (peer.pid <= 1)
		return bsa_fail(err, BSA_E_ENV,
		                "--service %s: another process made the socket than serves it; use --app or --pid",
		                service);
	ret->service = (uint32_t)peer.pid;
	return 0;
}

bool bsv_scope_is_of_nobody(const struct bsv_scope *s)
{
	return s->pid && s->pid_uid == UINT32_MAX;
}

const char *bsv_scope_text(const struct bsv_scope *s, char to[BSV_SCOPE_TEXT])
{
	size_t n = 0;

	*to = 0;
	if (s->service)
		n += (size_t)snprintf(to + n, BSV_SCOPE_TEXT - n, "%sservice=%" PRIu32, n ? " " : "", s->service);
	if (*s->app)
		n += (size_t)snprintf(to + n, BSV_SCOPE_TEXT - n, "%sapp=%s", n ? " " : "", s->app);
	if (s->pid)
		snprintf(to + n, BSV_SCOPE_TEXT - n, "%spid=%" PRIu32, n ? " " : "", s->pid);
	return to;
}

const char *bsv_scope_describe(const struct bsv_scope *s, char to[BSV_SCOPE_TEXT])
{
	char text[BSV_SCOPE_TEXT], lttng[192] = "", gone[48] = "";
	size_t n = 0;

	if (bsv_scope_is_of_nobody(s))
		snprintf(gone, sizeof(gone), "no process %" PRIu32 " is running here; ", s->pid);
	if (s->service)
		n += (size_t)snprintf(lttng, sizeof(lttng), "services other than pid %" PRIu32, s->service);
	if (s->pid)
		snprintf(lttng + n, sizeof(lttng) - n, "%sapps other than pid %" PRIu32, n ? ", and of " : "", s->pid);
	else if (is_uid(s->app))
		snprintf(lttng + n, sizeof(lttng) - n, "%sapps of other users than %s", n ? ", and of " : "", s->app);
	if (s->service && !*s->app && !s->pid)
		snprintf(to, BSV_SCOPE_TEXT,
		         "%sscope %s: LTTng does not record what %s emit; "
		         "what their apps emit is recorded, and left out by the import",
		         gone, bsv_scope_text(s, text), lttng);
	else if (*lttng)
		snprintf(to, BSV_SCOPE_TEXT,
		         "%sscope %s: LTTng does not record what %s emit; the service's events "
		         "about other executions are recorded, and left out when the recording is read",
		         gone, bsv_scope_text(s, text), lttng);
	else
		snprintf(to, BSV_SCOPE_TEXT,
		         "%sscope %s: LTTng records all apps, because no event of an app has its name; the others are "
		         "left "
		         "out when the recording is read",
		         gone, bsv_scope_text(s, text));
	return to;
}

bool bsv_scope_means(const struct bsv_scope *s, const char *app, uint32_t key, uint32_t uid)
{
	if (!bsv_scope_is_set(s))
		return true;
	if (key == UINT32_MAX) /* a number that no service reports is another service's */
		return false;
	if (is_uid(s->app) && strtoul(s->app, NULL, 10) != uid)
		return false;
	if (*s->app && !is_uid(s->app) && strcmp(s->app, app) != 0)
		return false;
	return !s->pid || key == s->pid || (key == uid && s->pid_uid == uid && uid != UINT32_MAX);
}

/* ---- LTTng's part ---- */

bool bsv_scope_filter(const struct bsv_scope *s, const char *name, const char *also, char to[BSV_SCOPE_FILTER])
{
	char service[64] = "", client[64] = ""; /* filter of events of the service, of the clients; "": none */
	char own[BSV_SCOPE_FILTER] = "";
	const char *by_service;
	size_t i = 0;

	if (s->service)
		snprintf(service, sizeof(service), "$ctx.vpid == %" PRIu32, s->service);
	if (s->pid)
		snprintf(client, sizeof(client), "$ctx.vpid == %" PRIu32, s->pid);
	else if (is_uid(s->app))
		snprintf(client, sizeof(client), "$ctx.vuid == %lu", strtoul(s->app, NULL, 10));

	while (i < BSV_SCOPE_SIDED && strcmp(name, sided[i].name) != 0)
		i++;
	by_service = i < BSV_SCOPE_SIDED ? sided[i].by_service : NULL;
	if (i < BSV_SCOPE_SIDED && !by_service)
		snprintf(own, sizeof(own), "%s", client);
	else if (by_service && *service && *client)
		snprintf(own, sizeof(own), "((%s) && %s) || (!(%s) && %s)", by_service, service, by_service, client);
	else if (by_service && *service)
		snprintf(own, sizeof(own), "!(%s) || %s", by_service, service);
	else if (by_service && *client)
		snprintf(own, sizeof(own), "(%s) || %s", by_service, client);
	else if (!by_service && strcmp(name, unfiltered) != 0)
		snprintf(own, sizeof(own), "%s", service);

	if (*own && also)
		snprintf(to, BSV_SCOPE_FILTER, "(%.150s) && (%.90s)", own, also);
	else
		snprintf(to, BSV_SCOPE_FILTER, "%s", *own ? own : also ? also : "");
	return *to;
}
