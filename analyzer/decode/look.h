/* look.h -- reads the properties and streams of a trace: its metadata, and the first packet of one stream. */
#ifndef BSA_DECODE_LOOK_H
#define BSA_DECODE_LOOK_H

#include "inputs.h"

/*
 * Into @input, whose directories are known: its info, but the path, and its streams, but how large they are;
 * strings are the input's. 1; 0: it has no events of ours; BSA_E_INPUT; BSA_E_ENV.
 */
int bsa_look(struct bsa_input *input, const bt_component_class_source *source, struct bsa_err *err);

/*
 * The same of the trace that @stream is of, while it is being read. Nothing of streams is filled in. 1; 0: it has no
 * events of ours; BSA_E_ENV.
 */
int bsa_look_at_stream(struct bsa_input *input, const bt_stream *stream, struct bsa_err *err);

#endif
