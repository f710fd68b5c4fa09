/*
 * unseen.h -- times of a recording that no packet covers, found from the packets' headers before anything is read.
 *
 * Each becomes a record of BSA_loss, which decode.c merges with those that are read: so both decoders answer the same.
 *
 * WHAT LTTNG WRITES (measured with LTTng 2.13: plain, rotated, snapshot, overwrite and tracefile-count
 * sessions, per-uid and per-pid buffers, a switch timer, stop and start under load)
 *
 *   Full packets    Packet n+1 begins where packet n ends. Now and then an event fits exactly: then it begins with
 *                   the next event, 10 to 200 us later, or whenever that comes.
 *   Flushed ones    Stop, snapshot, rotation and the switch timer end the packets of all cpus, one cpu after the
 *                   other, within 0.3 ms. The next packet of a cpu begins with its next event, which may be seconds
 *                   later if the cpu is quiet. So a gap in one stream proves nothing; only a time at which no stream
 *                   has a packet can be one at which the session was stopped, because a packet that is open is
 *                   flushed by a stop.
 *   No events       The first packet of a cpu begins when its buffer is made, before there is any event, 0 to 6 ms
 *                   after that of the first cpu; without events it ends with the first flush. A stop, a snapshot or a
 *                   rotation writes an empty packet, which begins and ends with the flush, for a cpu whose buffer is
 *                   empty; the timer does not.
 *   Numbers         packet_seq_num goes on over stop, start, rotations and snapshots, and counts overwritten packets.
 *                   The first packet of a stream has 0 unless earlier ones were overwritten, or are in another
 *                   directory.
 *   Streams         There is one for each possible cpu, from 0, with a packet once the session was stopped. Before
 *                   that the file of a quiet cpu has no bytes, and its index no entry.
 *   Ends            After a stop the last packets of all cpus end within 0.3 ms, and no event is later than the first
 *                   of them.
 *   Full disks      Of the packet that meets one a part may be written; with the next one that fails the consumer
 *                   gives up the stream for good, though there may be room again, and reports that to its log alone.
 *
 * So: HEAD, if the first packet of a stream is not number 0: until it begins. GAP: a time without any packet
 * of the recording, or between two recordings of one clock; but not where a stream proves that the session was not
 * stopped (stop.h). Without that proof, a lull just after the switch timer looks like a stop.
 * TAIL: a stream whose last packet ends before the last of another one of its trace, or before the recording
 * did (recorded.h), or that has no packet. STREAM: a cpu that other streams prove. Of these the fold drops
 * what hides nothing (fold/pending.h).
 *
 * What babeltrace2 has written is left alone: it numbers packets anew, and other writers that use it begin
 * packets with events.
 */
#ifndef BSA_DECODE_UNSEEN_H
#define BSA_DECODE_UNSEEN_H

#include "inputs.h"

/* Into @inputs, whose list is complete and grouped by clock. False: no memory. */
bool bsa_unseen_find(struct bsa_inputs *inputs);

#endif
