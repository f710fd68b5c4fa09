/* arith.c -- fixed-point rescaling as O-34 has it, quantised bounds, and where a window lies. */
#include "arith.h"
#include "wide.h"

bool nnbx_narrow;

static int64_t saturate_32(int64_t x)
{
	return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

struct nnbx_scaler nnbx_scaler(double factor)
{
	struct nnbx_scaler s = { 0 };
	int64_t mantissa;

	if (!isfinite(factor) || factor <= 0)
		return s;
	mantissa = llround(frexp(factor, &s.exponent) * (1LL << 31));
	if (mantissa == 1LL << 31) {
		mantissa /= 2;
		s.exponent++;
	}
	s.mantissa = (int32_t)mantissa;
	/* Beyond these every int32 saturates, or becomes 0, all the same. */
	s.exponent = s.exponent > 31 ? 31 : s.exponent < -33 ? -33 : s.exponent;
	return s;
}

int32_t nnbx_rescale(struct nnbx_scaler s, int64_t x)
{
	int left = s.exponent > 0 ? s.exponent : 0, right = left - s.exponent;
	int64_t half = right ? 1LL << (right - 1) : 0;
	int64_t doubled = saturate_32(saturate_32(x) * (1LL << left)) * s.mantissa;

	/* The first rounding has its halves upwards, the second away from zero. */
	doubled = (doubled + (doubled < 0 ? 1 - (1LL << 30) : 1LL << 30)) / (1LL << 31);
	return (int32_t)((doubled < 0 ? doubled - half : doubled + half) / (1LL << right));
}

void nnbx_quant_range(struct nnbx_quant out, uint32_t fused, uint8_t *min, uint8_t *max)
{
	static const float lows[] = { -INFINITY, 0, -1, 0 }, highs[] = { INFINITY, INFINITY, 1, 6 };
	uint32_t i = fused <= NNB_FUSED_RELU6 ? fused : NNB_FUSED_NONE;

	*min = nnbx_to_q8(round((double)lows[i] / out.scale) + out.zero_point, 0, UINT8_MAX);
	*max = nnbx_to_q8(round((double)highs[i] / out.scale) + out.zero_point, 0, UINT8_MAX);
}

/* Where the window of output position @at lies on an axis of @in cells; its own are @dilation apart. */
static struct nnbx_span window_span(uint32_t at, uint32_t stride, uint32_t pad, uint32_t filter, uint32_t dilation,
                                    uint32_t in)
{
	int64_t origin = (int64_t)((uint64_t)at * stride) - pad, apart = dilation;
	int64_t begin = origin < 0 ? -origin : 0;
	int64_t end = origin < in ? (int64_t)in - origin : 0;

	if (apart > 1) { /* divisions take longer than a small window */
		begin = (begin + apart - 1) / apart;
		end = (end + apart - 1) / apart;
	}
	end = end < filter ? end : filter;
	if (end <= begin)
		return (struct nnbx_span){ 0 };
	return (struct nnbx_span){ (size_t)begin, (size_t)end, (size_t)(origin + begin * apart) };
}

struct nnbx_patch nnbx_patch_row(const struct nnbx_planes *p, size_t row)
{
	const struct nnb_window *w = &p->window;

	return (struct nnbx_patch){
		.image = row / p->out_h * p->in_h * p->in_w * p->in_c,
		.y = window_span((uint32_t)(row % p->out_h), w->stride_h, w->pad_top, w->filter_h, w->dilation_h,
		                 p->in_h),
	};
}

struct nnbx_span nnbx_patch_columns(const struct nnbx_planes *p, size_t column)
{
	const struct nnb_window *w = &p->window;

	return window_span((uint32_t)column, w->stride_w, w->pad_left, w->filter_w, w->dilation_w, p->in_w);
}

struct nnbx_patch nnbx_patch(const struct nnbx_planes *p, size_t pixel)
{
	struct nnbx_patch patch = nnbx_patch_row(p, pixel / p->out_w);

	patch.x = nnbx_patch_columns(p, pixel % p->out_w);
	return patch;
}

/* Cells of a row, four at a time: each sum is read and written once for four. */
static NNBX_INLINE void sum_f32_body(size_t cells, size_t step, const float *in, size_t n, double *restrict sums)
{
	size_t c = 0;

	for (; c + 4 <= cells; c += 4) {
		const float *four = in + c * step;

		for (size_t i = 0; i < n; i++)
			sums[i] += ((double)four[i] + (double)four[step + i]) +
			           ((double)four[2 * step + i] + (double)four[3 * step + i]);
	}
	for (; c < cells; c++)
		for (size_t i = 0; i < n; i++)
			sums[i] += (double)in[c * step + i];
}

NNBX_TWICE(sum_f32, (size_t cells, size_t step, const float *in, size_t n, double *restrict sums),
           (cells, step, in, n, sums))

void nnbx_sum_f32(const struct nnbx_area *area, const float *in, size_t n, double *sums)
{
	bool joins = area->row_step == area->cells * area->cell_step; /* rows of a window as wide as the image */
	size_t rows = joins ? 1 : area->rows, cells = joins ? area->rows * area->cells : area->cells;

	for (size_t row = 0; row < rows; row++)
		sum_f32(cells, area->cell_step, in + row * area->row_step, n, sums);
}
