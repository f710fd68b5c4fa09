/*
 * err.h -- errors: a code for the program, a sentence for people.
 *
 * The function that detects an error calls bsa_fail; callers that know more call bsa_wrap; only a main()
 * prints. @err may be NULL everywhere.
 */
#ifndef BSA_ERR_H
#define BSA_ERR_H

/* Negative, so that it can be returned where 0 is success. Beside each the exit status of our programs. */
enum bsa_code {
	BSA_OK = 0,
	BSA_E_USAGE = -1,  /* 2: asked for what cannot be */
	BSA_E_INPUT = -2,  /* 4: unreadable, or not what it should be */
	BSA_E_ENV = -3,    /* 5: the machine: no memory, no space, no permission */
	BSA_E_STOPPED = -4 /* 130: the user stopped it */
};

struct bsa_err {
	char text[512]; /* a sentence, without a full stop; "" when nothing went wrong */
};

/* Set the text to @format, and return @code. */
int bsa_fail(struct bsa_err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Put @format and ": " before what is there, and return @code. */
int bsa_wrap(struct bsa_err *err, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The exit status that goes with @code. */
int bsa_exit_status(int code);

#endif
