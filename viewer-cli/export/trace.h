/*
 * trace.h -- a database as a trace for a viewer: what is asked for, and all of it written.
 */
#ifndef BSV_EXPORT_TRACE_H
#define BSV_EXPORT_TRACE_H

#include "export/world.h"

enum bsv_trace_format { BSV_PERFETTO, BSV_CHROME };

struct bsv_trace_asked {
	enum bsv_trace_format format;
	enum bsv_detail_of_export detail;
	bool compress;
};

/* Negative: why not; what was written is not whole. */
int bsv_export_trace(struct bsv_input *input, const struct bsv_trace_asked *asked, FILE *to, struct bsa_err *err);

#endif
