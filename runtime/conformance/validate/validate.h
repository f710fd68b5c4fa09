/* validate.h -- what --validate does: all suites, on a driver or a service. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "nnb/client.h"

struct validation {
	struct nnb_device *device; /* or else */
	struct nnb_client *client;
	const char *only;  /* NULL: everything; else a suite, or a rule's id */
	const char *junit; /* NULL: no such file */
	bool quiet;
};

/* Print a line each check, and the sum. How it went: */
enum { VALIDATE_GOOD, VALIDATE_FAILED, VALIDATE_NOTHING, VALIDATE_ENVIRONMENT };
int validate(const struct validation *v);

#endif
