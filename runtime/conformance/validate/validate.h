/* validate.h -- runs --validate: all suites, on a driver or a service. */
#ifndef VALIDATE_H
#define VALIDATE_H

#include "nnb/client.h"

struct validation {
	struct nnb_device *device; /* set for a driver in this process; otherwise the client is set */
	struct nnb_client *client;
	const char *only;  /* NULL: run everything; otherwise a suite's name or a rule's id */
	const char *junit; /* path of the JUnit file; NULL: write no file */
	bool quiet;
};

/* Run the suites; print a line for each check, and the sum. The results: */
enum { VALIDATE_GOOD, VALIDATE_FAILED, VALIDATE_NOTHING, VALIDATE_ENVIRONMENT };
int validate_subject(const struct validation *v);

#endif
