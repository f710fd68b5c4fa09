/* inputs.h -- the traces that were found: the properties that each declares, and its streams. */
#ifndef BSA_DECODE_INPUTS_H
#define BSA_DECODE_INPUTS_H

#include "decode.h"
#include "discover.h"
#include "mend.h"
#include "recipe.h"

#include <babeltrace2/babeltrace.h>

struct bsa_input_stream {
	char *port; /* name in babeltrace2's source */
	uint64_t bytes, packets;
	size_t rank;            /* among all streams of all traces */
	unsigned reader;        /* index of its reader */
	bool cut;               /* its file is */
	struct bsa_span *spans; /* of its packets, by their begin; none: their times are unknown */
	size_t n_spans;

	/* If the trace has a recipe: */
	char *path; /* the one file it is in */
	const struct bsa_recipe_stream *recipe;
};

/* An interval that was not recorded, or perhaps not, according to the packets (unseen.h). */
struct bsa_unseen {
	struct bsa_loss loss;
	uint64_t at;
	size_t input;
	unsigned group; /* the input's clock group */
};

/* One trace: of one uuid, in one directory or, where the session was rotated, in several. */
struct bsa_input {
	struct bsa_trace info;
	char **directories; /* to be read: those found, or copies made of them */
	size_t n_directories, directories_room;
	struct bsa_input_stream *streams; /* in the order of their ranks */
	size_t n_streams;
	struct bsa_files files;
	uint64_t frequency;        /* frequency of the trace's clock; 0 if the trace has no clock */
	uint64_t ended;            /* latest end of a packet, or of the recording, in its clock's cycles; 0: unknown */
	uint32_t recorded_streams; /* how many each channel of it had when the recording ended; 0: unknown */
	uint64_t until;            /* the recording's end, in cycles of the trace's clock; 0: unknown */
	uint32_t pid;              /* the process of all its events; 0: unknown, or several */
	uint64_t unknown_fields;
	struct bsa_recipe *recipe; /* to read it without babeltrace2; NULL: it has to be read by that */
	bool from_start;           /* every stream begins with its packet 0, and there is one */
	bool cut;                  /* parts that the trace's metadata or index names are missing */
};

struct bsa_inputs {
	struct bsa_input *list;
	size_t n;
	struct bsa_unseen *unseen; /* by clock group, then by time */
	size_t n_unseen, unseen_room;
	struct bsa_scratch scratch; /* where copies are */
};

/*
 * The traces among @places that have events of ours, those of one clock side by side. 0, and *ret is the caller's;
 * BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_inputs_open(struct bsa_inputs *ret, const struct bsa_places *places, const bt_component_class_source *source,
                    const struct bsa_decode_options *options, struct bsa_err *err);
void bsa_inputs_close(struct bsa_inputs *inputs); /* zeroes are fine */
void bsa_input_fini(struct bsa_input *input);     /* frees what one input holds; zeroes are fine */

/* A source, in a graph, that reads the trace's directories. NULL: bsa_bt_failed() reports the cause. */
const bt_component_source *bsa_input_add(const struct bsa_input *input, bt_graph *graph,
                                         const bt_component_class_source *source);

#endif
