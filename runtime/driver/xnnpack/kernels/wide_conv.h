/*
 * wide_conv.h -- convolutions of any type and layout that are in groups, or transposed.
 *
 * Sums are made in double of what was converted to float, where every integer of a quantised type is exact.
 */
#ifndef NNBX_WIDE_CONV_H
#define NNBX_WIDE_CONV_H

#include "tensor.h"

struct nnbx_wide_conv {
	struct nnb_window window; /* pads, strides and the filter's extents */
	uint32_t groups;
	bool transposed, nchw;
	double min, max;     /* bounds of the stored value */
	double scale;        /* scale of a sum; 1 for floats */
	const float *scales; /* by output channel, on top of that; NULL: 1 */
	const float *in;     /* in the input's layout, zero points taken off */
	const float *filter; /* [out_c, filter_h, filter_w, in_c / groups], likewise */
};

/* @dims: of the input. bias [out_c]: floats, or integers of the sums' scale. */
void nnbx_wide_conv(const struct nnbx_wide_conv *p, const uint32_t dims[4], const struct nnbx_tensor *bias,
                    const struct nnbx_tensor *out);

#endif
