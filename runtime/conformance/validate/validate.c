/* validate.c -- runs all suites one after the other, and summarises their results. */
#include "conformance/validate/validate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/validate/checks.h"
#include "conformance/validate/subject.h"

static void (*const suites[])(const struct subject *s, struct checks *c) = {
	suite_model, suite_request, suite_burst, suite_deadline, suite_memory, suite_fence, suite_hooks,
};

/* Remove the file if it could not be written whole, so that no program reads a part of a report. Closes @to. */
static int write_junit(const struct checks *c, const struct subject *s, const char *path, FILE *to)
{
	struct stat st;
	char of[256];
	bool is_file = !fstat(fileno(to), &st) && S_ISREG(st.st_mode);
	int r;

	snprintf(of, sizeof(of), "%s %s", s->client ? "service with driver" : "driver", subject_name(s));
	r = checks_junit(c, of, to);
	if (r)
		fprintf(stderr, "nnburst-conformance: %s: %s\n", path, strerror(-r));
	if (r && is_file)
		unlink(path);
	return r;
}

int validate_subject(const struct validation *v)
{
	const struct subject s = { .device = v->device, .client = v->client };
	struct checks_counts n;
	FILE *junit = v->junit ? fopen(v->junit, "we") : NULL;
	struct checks *c;
	int result;

	if (v->junit && !junit) {
		fprintf(stderr, "nnburst-conformance: %s: %s\n", v->junit, strerror(errno));
		return VALIDATE_ENVIRONMENT;
	}
	if (checks_new(&c, v->only, v->quiet)) {
		if (junit)
			fclose(junit);
		return VALIDATE_ENVIRONMENT;
	}
	for (size_t i = 0; i < sizeof(suites) / sizeof(suites[0]); i++)
		suites[i](&s, c);
	n = checks_count(c);
	if (n.passed + n.failed + n.skipped && s.client) {
		/* Detects that the service has died, at the latest here; usually an earlier check fails. */
		checks_begin(c, "service", "Q-44", "the service is alive after all suites");
		checks_row(c, nnb_client_alive(s.client), "the service has disconnected");
		checks_end(c);
	}
	n = checks_count(c);
	printf("%u checks passed, %u failed, %u skipped; %u rows\n", n.passed, n.failed, n.skipped, n.rows);
	if (!(n.passed + n.failed + n.skipped)) {
		fprintf(stderr,
		        "nnburst-conformance: no suite and no rule '%s'; there are model, request, burst, deadline, "
		        "memory, fence, hooks, and the rules of nnburst-conformance(1)\n",
		        v->only);
		result = VALIDATE_NOTHING;
	} else {
		result = n.failed ? VALIDATE_FAILED : VALIDATE_GOOD;
	}
	if (junit && write_junit(c, &s, v->junit, junit))
		result = VALIDATE_ENVIRONMENT;
	checks_free(c);
	return result;
}
