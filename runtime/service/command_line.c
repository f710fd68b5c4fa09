/*
 * command_line.c -- tells the kernel that the arguments are empty. The call (PR_SET_MM_MAP) takes the whole memory map,
 * so the rest of it is read from /proc/self/stat and passed back.
 */
#include "service/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Fields of /proc/PID/stat, counted from 1, as in proc(5). */
enum {
	FIELD_STATE = 3, /* the first one after the name, which may contain spaces */
	FIELD_THREADS = 20,
	FIELD_START_CODE = 26,
	FIELD_END_CODE = 27,
	FIELD_START_STACK = 28,
	FIELD_START_DATA = 45,
	FIELD_END_DATA = 46,
	FIELD_START_BRK = 47,
	FIELD_ARG_START = 48,
	FIELD_ENV_START = 50,
	FIELD_ENV_END = 51,
	FIELDS = 53
};

/* Read the fields of numbers. 0 or -errno. -ENODATA: fields are missing. */
static int fields_read(uint64_t fields[FIELDS])
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC), at = FIELD_STATE, error = 0;
	char text[2048], *end;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		error = -errno;
	close(fd);
	if (error)
		return error;
	text[n] = '\0';
	end = strrchr(text, ')');
	while (end && (end = strchr(end, ' ')) && at < FIELDS)
		fields[at++] = strtoull(++end, NULL, 10);
	return at > FIELD_ENV_END ? 0 : -ENODATA;
}

int command_line_hide(void)
{
	uint64_t fields[FIELDS];
	int r = fields_read(fields);
	struct prctl_mm_map map;

	if (r)
		return r;
	if (fields[FIELD_THREADS] != 1)
		return -EBUSY; /* a preloaded library may start threads */
	map = (struct prctl_mm_map){ .start_code = fields[FIELD_START_CODE],
		                     .end_code = fields[FIELD_END_CODE],
		                     .start_data = fields[FIELD_START_DATA],
		                     .end_data = fields[FIELD_END_DATA],
		                     .start_brk = fields[FIELD_START_BRK],
		                     .brk = (uintptr_t)sbrk(0),
		                     .start_stack = fields[FIELD_START_STACK],
		                     .arg_start = fields[FIELD_ARG_START],
		                     .arg_end = fields[FIELD_ARG_START],
		                     .env_start = fields[FIELD_ENV_START],
		                     .env_end = fields[FIELD_ENV_END],
		                     .exe_fd = UINT32_MAX /* the program stays */ };
	return prctl(PR_SET_MM, PR_SET_MM_MAP, (unsigned long)&map, sizeof(map), 0UL) ? -errno : 0;
}
