/*
 * room.h -- how much room there is on the file system that is recorded to, and when that is too little to go on.
 *
 * LTTng's consumer gives up a stream that it cannot write, and its metadata, too; it tells nobody, and does not come back when there is
 * room again. So a recording ends while there still is some: enough for what the buffers hold.
 */
#ifndef BSV_ROOM_H
#define BSV_ROOM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	BSV_ROOM_USUAL = 64 << 20
}; /* bytes that are left, unless buffers hold more, or somebody wants another number */

struct bsv_room_left {
	uint64_t least; /* bytes that are to be left; 0: nobody cares */
	uint64_t began, before,
		taken;     /* free when it began, and at the last look; at most taken between two looks, up to least */
	uint64_t began_at; /* CLOCK_MONOTONIC */
	bool warned;
};

enum bsv_room_says {
	BSV_ROOM_ENOUGH,
	BSV_ROOM_SOON, /* said once: as things go, it is enough for a minute at the most */
	BSV_ROOM_NONE  /* as much as was taken between two looks, or as is to be left, may be too much now */
};

/* Bytes that this user may write below @directory; UINT64_MAX: nobody knows. */
uint64_t bsv_room_free(const char *directory);

/* It begins now. */
void bsv_room_begin(struct bsv_room_left *room, uint64_t least, uint64_t free_bytes, uint64_t now);

/* What @free_bytes mean at @now. *@ret_seconds: with BSV_ROOM_SOON, for how long it is enough. */
enum bsv_room_says bsv_room_look(struct bsv_room_left *room, uint64_t free_bytes, uint64_t now, double *ret_seconds);

#endif
