/* ring.c -- makes the directory in memory of a session that is read while it records. */
#include "record/ring.h"

#include <stdlib.h>
#include <unistd.h>

#include "record/room.h"
#include "record/scratch.h"

enum { FILES = 16 };

static bool make_below(const char *place, uint64_t room, char ret[PATH_MAX])
{
	if (!place || *place != '/' || bsv_room_free(place) < room)
		return false;
	return bsv_scratch_make(place, ret);
}

int bsv_ring_make(char ret[PATH_MAX], uint64_t ring, struct bsa_err *err)
{
	/* the rings of two users, and the same again to spare */
	uint64_t room = 4 * ring * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	const char *tmp = getenv("TMPDIR");

	if (make_below(getenv("XDG_RUNTIME_DIR"), room, ret) || make_below("/dev/shm", room, ret) ||
	    make_below(tmp && *tmp ? tmp : "/tmp", 0, ret) || make_below("/tmp", 0, ret))
		return 0;
	*ret = 0;
	return bsa_fail(err, BSA_E_ENV,
	                "there is no directory to record into: neither in $XDG_RUNTIME_DIR nor in "
	                "/dev/shm nor in /tmp");
}

struct bsv_live_session bsv_ring_session(uint64_t ring, unsigned timer_us)
{
	return (struct bsv_live_session){ .file_bytes = ring / FILES, .files = FILES, .timer_us = timer_us };
}
