/* probe.c -- measures by a short recording, deleted again, how much a workload writes. */
#include "record/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "record/packets.h"
#include "record/scratch.h"

enum { PROBE_MS = 200 };

uint64_t bsv_probe(struct bsv_probed *p, const struct bsv_lttng *lttng, enum bsv_detail detail,
                   struct bsv_buffers buffers)
{
	const struct timespec a_while = { .tv_nsec = PROBE_MS * 1000000L };
	struct bsv_session s = { .lttng = lttng, .detail = detail, .buffers = buffers };
	const char *place = getenv("TMPDIR");
	struct bsv_packets packets;
	uint64_t most = 0; /* bytes of one buffer */

	if (!bsv_scratch_make(place && *place ? place : "/tmp", p->directory))
		return 0;
	bsv_session_name(s.name);
	s.directory = p->directory;
	if (bsv_session_start(&s, NULL) < 0)
		return 0;
	nanosleep(&a_while, NULL);
	if (bsv_session_flush(&s, NULL) >= 0 && bsv_packets_read(&packets, p->directory, NULL) >= 0) {
		for (size_t i = 0; i < packets.n; i++)
			if (packets.streams[i].bytes > most)
				most = packets.streams[i].bytes;
		bsv_packets_fini(&packets);
	}
	p->lttng = lttng;
	if (lttng->destroy_session_ext(s.name, &p->end) != LTTNG_OK)
		p->end = NULL;
	return most * 1000 / PROBE_MS;
}

void bsv_probe_close(struct bsv_probed *p)
{
	if (p->end) { /* otherwise LTTng would make anew what it misses */
		p->lttng->destruction_handle_wait_for_completion(p->end, -1);
		p->lttng->destruction_handle_destroy(p->end);
	}
	if (*p->directory)
		bsv_remove_tree(p->directory);
	*p = (struct bsv_probed){ .end = NULL };
}
