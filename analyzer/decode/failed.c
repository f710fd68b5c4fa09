/* failed.c -- makes an error message of the causes that libbabeltrace2 has kept for this thread. */
#include "failed.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool bsa_bt_forget(void)
{
	const bt_error *error = bt_current_thread_take_error();

	if (error)
		bt_error_release(error);
	return error;
}

void bsa_bt_graph_put(const bt_graph *graph)
{
	bt_graph_put_ref(graph);
	bsa_bt_forget();
}

/* Length of the readable part of @cause: babeltrace2 appends addresses of its objects. */
static int readable_length(const char *cause)
{
	const char *address = strstr(cause, "-addr=");

	if (!address)
		return (int)strlen(cause);
	while (address > cause && *address != ':' && *address != ',')
		address--;
	return (int)(address - cause);
}

/* The first cause is where it happened; those after it, who had called. */
int bsa_bt_failed(struct bsa_err *err, int code, const char *format, ...)
{
	const bt_error *error = bt_current_thread_take_error();
	char what[256];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (error && bt_error_get_cause_count(error)) {
		const char *cause = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));

		bsa_fail(err, code, "%s%s%.*s", what, readable_length(cause) ? ": " : "", readable_length(cause),
		         cause);
	} else {
		bsa_fail(err, code, "%s", what);
	}
	if (error)
		bt_error_release(error);
	return code;
}

/* Does the innermost cause state that a file could not be mapped? These are the words of babeltrace2 2.0 for it. */
static bool mapping_failed(void)
{
	const bt_error *error = bt_current_thread_take_error();
	const char *cause = NULL;
	bool ret;

	if (!error)
		return false;
	if (bt_error_get_cause_count(error))
		cause = bt_error_cause_get_message(bt_error_borrow_cause_by_index(error, 0));
	ret = cause && (strstr(cause, "User function failed") || strstr(cause, "state=SWITCH_PACKET"));
	bt_current_thread_move_error(error);
	return ret;
}

bool bsa_bt_no_means(int number)
{
	/*
	 * After mmap() has failed, babeltrace2 passes MAP_FAILED to munmap(), which replaces ENOMEM by
	 * EINVAL. Other calls leave EINVAL, too.
	 */
	if (number == EINVAL)
		return mapping_failed();
	return number == ENOMEM || number == EMFILE || number == ENFILE;
}

int bsa_bt_unreadable(struct bsa_err *err, bool no_means, const char *path)
{
	if (!no_means)
		return bsa_bt_failed(err, BSA_E_INPUT, "%s cannot be read", path);
	bsa_bt_forget();
	return bsa_fail(err, BSA_E_ENV, "there is no memory, or no file descriptor, left to read %s", path);
}
