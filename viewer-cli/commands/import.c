/* import.c -- burstscope import: imports traces into a database. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>

#include "base/command.h"
#include "input/importing.h"

enum { MOST_THREADS = 64, MOST_TRACES = 4096 };

struct options {
	const char *output, *service_user;
	bool append, keep_operations;
	unsigned threads;
};

static const struct bsv_option options[] = {
	{ .name = "output",
	  .letter = 'o',
	  .kind = BSV_TEXT,
	  .argument = "DB",
	  .says = "path of the database (default: NAME.db beside the trace NAME)",
	  .offset = offsetof(struct options, output) },
	{ .name = "append",
	  .says = "add to an existing database, and do not replace it",
	  .offset = offsetof(struct options, append) },
	{ .name = "keep-operations",
	  .says = "also keep each operation of queues, slots and models",
	  .offset = offsetof(struct options, keep_operations) },
	{ .name = "service-user",
	  .kind = BSV_TEXT,
	  .argument = "USER",
	  .says = "user that runs the service, a name or a uid: service events of other users are left out",
	  .offset = offsetof(struct options, service_user) },
	{ .name = "threads",
	  .kind = BSV_NUMBER,
	  .argument = "N",
	  .says = "number of threads that read; 0, the default: chosen automatically",
	  .offset = offsetof(struct options, threads),
	  .most = MOST_THREADS },
	{ .name = NULL },
};

static int import_run(const struct bsv_call *call, struct bsa_err *err)
{
	const struct options *o = call->options;
	struct bsa_import_options import = {
		.traces = call->operands,
		.n_traces = call->n_operands,
		.output = o->output,
		.keep_operations = o->keep_operations,
		.append = o->append,
		.threads = o->threads,
	};
	char beside[PATH_MAX];
	const char *const user = o->service_user;
	const struct passwd *known;
	unsigned long number;
	uint32_t service_uid;
	char *end;
	int r;

	if (user) { /* a number, or the name of a user of this machine */
		errno = 0;
		number = strtoul(user, &end, 10);
		if (*user >= '0' && *user <= '9' && !*end && !errno && number < UINT32_MAX) {
			service_uid = (uint32_t)number;
		} else {
			known = getpwnam(user);
			if (!known)
				return bsa_fail(err, BSA_E_USAGE,
				                "--service-user %s: no such user on this machine; write a uid", user);
			service_uid = known->pw_uid;
		}
		import.service_uid = &service_uid;
	}
	if (!import.output) {
		r = bsv_importing_beside(call->operands[0], beside, err);
		if (r < 0)
			return r;
		import.output = beside;
	}
	return bsv_importing(&import, call, err);
}

const struct bsv_command bsv_import = {
	.name = "import",
	.operands = "TRACE...",
	.says = "import traces into a database",
	.examples = "  burstscope import bursts                  # bursts.db, beside the trace\n"
		    "  burstscope import -o all.db host1 host2   # two traces, one database\n"
		    "  burstscope import --append -o all.db third\n",
	.more = "TRACE is a directory that LTTng recorded, or a directory above such directories. The database "
		"appears when it is complete; after Ctrl-C everything is as it was before.\n",
	.options = options,
	.options_size = sizeof(struct options),
	.min = 1,
	.max = MOST_TRACES,
	.run = import_run,
};
