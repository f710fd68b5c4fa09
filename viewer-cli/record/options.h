/*
 * options.h -- rows of tables of options that all commands have which record: of struct @of, in
 * which they are called detail (int), buffer, ring and duration (struct bsv_quantity).
 */
#ifndef BSV_RECORD_OPTIONS_H
#define BSV_RECORD_OPTIONS_H

#include "base/command.h"
#include "record/sizing.h"

/*
 * Values of --detail, in the order of enum bsv_detail; the first is the default. In the second
 * list, compact is the default.
 */
extern const char *const bsv_details[], *const bsv_details_compact[];

/* The detail that choice @i of bsv_details_compact is. */
enum bsv_detail bsv_detail_compact(int i);

#define BSV_OPTION_DETAIL(of, choice, what)                                                             \
	{                                                                                               \
		.name = "detail", .kind = BSV_CHOICE, .argument = "compact|full|verbose", .says = what, \
		.offset = offsetof(of, detail), .choices = choice                                       \
	}

#define BSV_OPTION_BUFFER(of)                                                                  \
	{                                                                                      \
		.name = "buffer", .kind = BSV_SIZE, .argument = "SIZE",                        \
		.says = "of LTTng's buffers, for each cpu; otherwise as large as seems right", \
		.offset = offsetof(of, buffer)                                                 \
	}

#define BSV_OPTION_RING(of)                                                                                   \
	{                                                                                                     \
		.name = "ring", .kind = BSV_SIZE, .argument = "SIZE",                                         \
		.says = "of tracefiles in memory, for each cpu and user: 32M; the newest replace the oldest", \
		.offset = offsetof(of, ring)                                                                  \
	}

/* The value of --ring in bytes. BSA_E_USAGE: out of range. */
int bsv_option_ring(uint64_t *ret, const struct bsv_quantity *given, struct bsa_err *err);

#define BSV_OPTION_FOR(of)                                                                               \
	{                                                                                                \
		.name = "for", .kind = BSV_DURATION, .argument = "TIME", .says = "stop after that long", \
		.offset = offsetof(of, duration)                                                         \
	}

#endif
