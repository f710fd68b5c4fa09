/*
 * room.h -- the free space of the file system that is recorded to, and whether the recording has to end.
 *
 * If LTTng's consumer cannot write a stream or its metadata, it gives the stream up, reports no
 * error, and does not resume when there is space again. So a recording ends while there is still
 * enough space for the contents of the buffers.
 */
#ifndef BSV_ROOM_H
#define BSV_ROOM_H

#include <stdbool.h>
#include <stdint.h>

enum { BSV_ROOM_USUAL = 64 << 20 }; /* bytes left free, unless the buffers hold more or the user sets another limit */

struct bsv_room_left {
	uint64_t least;    /* bytes to leave free; 0: no limit */
	uint64_t began;    /* bytes free when the recording began */
	uint64_t before;   /* bytes free at the last look */
	uint64_t taken;    /* the most bytes taken between two looks; at most least */
	uint64_t began_at; /* CLOCK_MONOTONIC */
	bool warned;
};

enum bsv_room_says {
	BSV_ROOM_ENOUGH,
	BSV_ROOM_SOON, /* reported once: at the current rate, the space lasts for a minute at most */
	/* Less is free than `least` plus the most that was taken between two looks: the recording must end. */
	BSV_ROOM_NONE
};

/* Bytes that this user may write below @directory; UINT64_MAX: unknown. */
uint64_t bsv_room_free(const char *directory);

/* The recording begins at @now. */
void bsv_room_begin(struct bsv_room_left *room, uint64_t least, uint64_t free_bytes, uint64_t now);

/* Judge @free_bytes at @now. *@ret_seconds: how long the space lasts; written with BSV_ROOM_SOON only. */
enum bsv_room_says bsv_room_look(struct bsv_room_left *room, uint64_t free_bytes, uint64_t now, double *ret_seconds);

#endif
