/* room.c -- watches the free space of the file system that is recorded to. */
#include "record/room.h"

#include <sys/statvfs.h>

enum { SOON_S = 60 };

uint64_t bsv_room_free(const char *directory)
{
	struct statvfs st;
	uint64_t bytes;

	if (statvfs(directory, &st) || __builtin_mul_overflow((uint64_t)st.f_bavail, (uint64_t)st.f_frsize, &bytes))
		return UINT64_MAX;
	return bytes;
}

void bsv_room_begin(struct bsv_room_left *room, uint64_t least, uint64_t free_bytes, uint64_t now)
{
	*room = (struct bsv_room_left){ .least = least, .began = free_bytes, .before = free_bytes, .began_at = now };
}

enum bsv_room_says bsv_room_look(struct bsv_room_left *room, uint64_t free_bytes, uint64_t now, double *ret_seconds)
{
	uint64_t taken = free_bytes < room->before ? room->before - free_bytes : 0;
	double rate, seconds;

	room->before = free_bytes;
	if (!room->least || free_bytes == UINT64_MAX)
		return BSV_ROOM_ENOUGH;

	/* One large file of another program must not end the recording: count at most `least` for each look. */
	if (taken > room->least)
		taken = room->least;
	if (taken > room->taken)
		room->taken = taken;
	if (free_bytes <= room->least || free_bytes - room->least <= room->taken)
		return BSV_ROOM_NONE;
	if (room->warned || free_bytes >= room->began || now <= room->began_at)
		return BSV_ROOM_ENOUGH;
	rate = (double)(room->began - free_bytes) / ((double)(now - room->began_at) / 1e9);
	seconds = (double)(free_bytes - room->least) / rate;
	if (seconds >= SOON_S)
		return BSV_ROOM_ENOUGH;
	room->warned = true;
	*ret_seconds = seconds;
	return BSV_ROOM_SOON;
}
