/*
 * follow_own.h -- shared only by the files that follow recordings: follow.c, which reads what has grown, and
 * follow_unseen.c, which finds the times that no packet covers.
 */
#ifndef BSA_DECODE_FOLLOW_OWN_H
#define BSA_DECODE_FOLLOW_OWN_H

#include "follow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/scratch.h"
#include "heads.h"
#include "ordered.h"
#include "packets.h"
#include "quick.h"

enum { LTTNG_EMPTY = 84 }; /* bytes of a packet of LTTng without events */

#define STALL_NS UINT64_C(2000000000) /* how long a stream that cannot be read yet holds back the others */

struct bsa_follow_place {
	char *path;
	int depth;
	bool is_trace;
	size_t trace;            /* if it is one */
	struct timespec changed; /* time of the last change when the directory was read last */
	unsigned unread;         /* looks since then */
	int watch;               /* inotify's; negative: none */
	bool stirred;            /* inotify has reported something new since then */
};

struct bsa_follow_file {
	char *name;
	dev_t dev;
	ino_t ino;
	int fd;       /* -1: done with */
	uint64_t end; /* offset of the end of the last complete packet */
	size_t stream;
	uint64_t first; /* number of the first packet */
	bool known;     /* the two above */
	bool given_up;  /* nothing more of it is read than what was seen */
	unsigned stalled;
};

/* What bsa_follow_next_unseen() needs of a packet's header. */
struct bsa_follow_covering {
	uint64_t began, ended, number;
};

struct bsa_follow_stream {
	size_t trace;
	uint64_t class, instance;
	struct bsa_flow *flow;
	size_t file;                 /* SIZE_MAX: no file is open */
	struct bsa_packet_head head; /* head of the last complete packet */
	bool any;
	bool queued; /* the merge has a record of the stream */
	uint64_t at; /* time of that record */
	bool stuck;  /* its next event is not in the recipe */
	uint64_t stuck_since;
	bool broken;         /* its file cannot be read on, and no other one has come */
	uint64_t lost_until; /* time until which it was emitted as lost, because it cannot be read; 0: it can be read */
	uint64_t first;      /* number of its first packet */

	/* Its packets in their order; those before @next_cover began before the end of the last gap. Owned */
	struct bsa_follow_covering *covers;
	size_t n_covers, next_cover, covers_room;
	struct bsa_follow_covering before_gap; /* the last packet that began before the end of that gap */
	bool any_before_gap;
};

struct bsa_follow_trace {
	char *path;
	struct bsa_input input;
	struct bsa_recipe **recipes; /* the last one holds; those before may be in use. Owned */
	size_t n_recipes;
	uint64_t metadata_bytes; /* size of the metadata from which the recipe was made */
	struct bsa_counts *counts;
	struct bsa_follow_file *files;
	size_t n_files;
	bool metadata_grown; /* perhaps, since the recipe was made */
	/* since when packets are there that cannot be read yet; 0: all can be read */
	uint64_t waits_since;
	bool by_lttng;
};

/* A packet that covers time; the gaps between all of them are emitted as losses, as unseen.h does. */
struct bsa_follow_cover {
	uint64_t began, ended;
	size_t trace;
	bool began_with_event; /* false: the packet began when LTTng made the buffer, or where another one ended */
};

/* A stream of which packets are missing before the first one. */
struct bsa_follow_head {
	uint64_t ended;
	uint32_t cpu;
	size_t trace;
};

struct bsa_follow {
	const bt_component_class_source *source; /* a reference */
	struct bsa_scratch scratch;
	int inotify; /* negative: directories are not watched */
	uint64_t settle_ns, now, serial;
	struct bsa_follow_place *places;
	size_t n_places;
	struct bsa_follow_trace *traces;
	size_t n_traces;
	struct bsa_follow_stream *streams;
	size_t n_streams, room;
	size_t n_unreadable;        /* streams with a lost_until */
	struct bsa_ordered ordered; /* a sequence for each stream */
	struct bsa_followed followed;
	uint64_t record[BSA_RECORD_MAX / 8];
	struct bsa_follow_cover *covers; /* by when they began; those before @first_cover are past. Owned */
	size_t n_covers, first_cover, covers_room;
	/* until when all gaps were emitted, and the trace that is of; ended 0: nothing is there yet */
	struct bsa_follow_cover covered;
	struct bsa_follow_cover gap; /* the last gap that was reported */
	uint64_t passed_until;       /* the latest begin of the covers before @first_cover */
	uint64_t event;              /* the latest begin of those before @first_cover that began with an event */
	/* the last gap that was not reported: no packet ended from that event on, and before the gap's end */
	struct bsa_follow_cover refuted;
	uint64_t first_began;          /* the earliest begin of any packet */
	struct bsa_follow_head *heads; /* not reported yet; owned */
	size_t n_heads;
};

static inline int bsa_follow_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to follow a recording");
}

/* ---- follow_unseen.c ---- */

/* Note the time that the next packet of a stream covers. Packets arrive nearly in the order of their begins. */
int bsa_follow_cover(struct bsa_follow *f, struct bsa_follow_stream *s, const struct bsa_packet_head *head,
                     struct bsa_err *err);

/* Whether the stream cannot be read now. */
bool bsa_follow_is_unreadable(const struct bsa_follow *f, const struct bsa_follow_stream *s);

/*
 * Is there a time without a packet, or one whose packets are missing, before the next record; or a stream that cannot
 * be read then? Then f->record is its loss.
 */
bool bsa_follow_next_unseen(struct bsa_follow *f);

#endif
