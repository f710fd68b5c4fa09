/*
 * ctf_writer.h -- traces for tests: records of fold/event.h, or whatever else one has a mind to, as real CTF with exact
 * times, written by babeltrace2's sink.ctf.fs. One stream a cpu.
 *
 * Events of one cpu come in the order of time; cpus in any. What cannot be written ends the program: the test is wrong.
 */
#ifndef ANALYZER_CTF_WRITER_H
#define ANALYZER_CTF_WRITER_H

#include "fold/event.h"

#include <stdbool.h>

struct ctf_options {
	const char *uuid;       /* NULL: made of the directory's name; "": by chance */
	const char *host;       /* NULL: "host" */
	const char *session;    /* NULL: "session" */
	const char *clock_uuid; /* NULL: one for all; "": none */
	int64_t clock_offset;   /* ns */
	uint64_t frequency;     /* Hz of the clock; 0: 1 GHz. Times are its cycles */
	const char *uid;        /* all processes are of this user; NULL: nothing shows it */
	unsigned pid;           /* all events are of this one; 0: of any */
	unsigned packet;        /* events a packet; 0: 1000 */
	unsigned cpus;          /* streams that are there even if empty */
	bool backwards;         /* times of a cpu may go backwards, as none of a real one do */
};

struct ctf_writer;

/* @directory is made when the trace is written. Zeroes are fine for options. */
struct ctf_writer *ctf_writer_new(const char *directory, const struct ctf_options *options);

/*
 * A record, of a loss, too: events and packets of which it has BSA_NEVER are not written as lost. A loss begins after
 * all that was given of its cpu, and ends before the next one of it. The trace has the classes of the events that are
 * in it, no others.
 */
void ctf_writer_record(struct ctf_writer *w, unsigned cpu, const struct bsa_event *record);

/* Lines of script.h, each with a cpu=N of its own if that is not 0; lines of other traces (trace=) are left out. */
void ctf_writer_script(struct ctf_writer *w, const char *text, uint32_t trace);

/*
 * An event class as no provider of ours writes it; it stands for the catalogue's of that name, if there is one.
 * Fields: "exec:u64 queue:i8 odd:u3 at:u64[3] more:u8[] name:text real:f64 hue:e8": integers of any width, arrays of
 * fixed or any length, text, numbers that are none, an enumeration without labels for most of its values.
 */
void ctf_writer_define(struct ctf_writer *w, const char *event, const char *fields);

/* Write an event of these, or of the catalogue's: "exec=1 at=1,2,3 name=word", what is not given being 0. */
void ctf_writer_event(struct ctf_writer *w, unsigned cpu, uint64_t at, const char *event, const char *values);

/* Write the trace. NULL is fine. Returns NULL. */
struct ctf_writer *ctf_writer_free(struct ctf_writer *w);

#endif
