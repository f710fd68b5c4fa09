/*
 * script.h -- records of fold/event.h, written as text: an event a line.
 *
 *   # what is behind a # is for the reader
 *   1000 exec_submit exec=2:1 model=7 path=burst deadline_ns=5us
 *   +20  fmq_write exec=2:1 queue=request trace=2
 *   1500 exec_service exec=2:1 began=1040 at=10,-,20,30,400,410,0,0,0,-
 *   1600 loss ended=1900 events=3
 *   <1590 exec_return exec=2:1
 *
 * First the time, or with a + how much later than the line before, or with a < that of a record that comes late,
 * behind later ones; then fields of the catalogue (and of struct bsa_loss), in any order. A value is a number, with
 * us, ms or s behind it for that many ns; a label of the field's enumeration; a text; A:B for A * 2^32 + B; - for
 * what never was (all bits set). What is not given is as in a trace that does not have it. trace=N is the trace of
 * the record (1). What cannot be read ends the program: it is the test that is wrong.
 */
#ifndef ANALYZER_SCRIPT_H
#define ANALYZER_SCRIPT_H

#include "fold/event.h"

struct script;

/* @text is borrowed until the script is freed. */
struct script *script_new(const char *text);

/* NULL is fine. Returns NULL. */
struct script *script_free(struct script *s);

/* Borrowed until the next call. NULL: that was all. */
const struct bsa_event *script_next(struct script *s);

/*
 * The text of the file at @path. Owned by the caller: free. A file that cannot be read, or is empty, ends the
 * program.
 */
char *script_read_file(const char *path);

/* One record of its own: @line is a line as above. Owned by the caller: free. */
struct bsa_event *script_record(const char *line);

/* All bits as in a trace that has none of the fields; @ret has room for any record. For who writes records in C. */
enum { SCRIPT_RECORD_MAX = 256 };
void script_blank(struct bsa_event *ret, enum bsa_kind kind, uint64_t at);

#endif
