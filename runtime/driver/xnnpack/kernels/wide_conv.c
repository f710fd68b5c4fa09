/* wide_conv.c -- GROUPED_CONV_2D and TRANSPOSE_CONV_2D. */
#include "wide_conv.h"

#include "arith.h"

struct images {
	const struct nnbx_wide_conv *p;
	struct nnbx_image in, out;
	size_t deep; /* input channels that a filter has */
};

/*
 * The cell of one axis of the input under cell @f of the filter, for cell @o of the output. False: it lies outside
 * the input.
 */
static bool input_under(bool transposed, size_t o, size_t f, uint32_t pad, uint32_t stride, size_t n, size_t *ret)
{
	size_t at;

	if (!transposed) {
		at = o * stride + f;
		if (at < pad || at - pad >= n)
			return false;
		*ret = at - pad;
		return true;
	}
	at = o + pad;
	if (at < f || (at - f) % stride || (at - f) / stride >= n)
		return false;
	*ret = (at - f) / stride;
	return true;
}

static double pixel_dot(const float *in, size_t step, const float *filter, size_t n)
{
	double sum = 0;

	NNBX_IN_PARTS (n, 1, at, part)
		for (size_t i = at; i < at + part; i++)
			sum += (double)in[i * step] * (double)filter[i];
	return sum;
}

static double sum_at(const struct images *m, size_t image, size_t y, size_t x, size_t c)
{
	const struct nnb_window *w = &m->p->window;
	size_t first = c / (m->out.c / m->p->groups) * m->deep * m->in.step_c, row, column;
	const float *filter = m->p->filter + c * w->filter_h * w->filter_w * m->deep;
	double sum = 0;

	for (size_t fy = 0; fy < w->filter_h && nnbx_worked(5); fy++) {
		if (!input_under(m->p->transposed, y, fy, w->pad_top, w->stride_h, m->in.h, &row))
			continue;
		for (size_t fx = 0; fx < w->filter_w && nnbx_worked(5); fx++)
			if (input_under(m->p->transposed, x, fx, w->pad_left, w->stride_w, m->in.w, &column))
				sum += pixel_dot(m->p->in + image + first + row * m->in.step_h + column * m->in.step_w,
				                 m->in.step_c, filter + (fy * w->filter_w + fx) * m->deep, m->deep);
	}
	return sum;
}

static void convolve_pixel(const struct images *m, size_t b, size_t y, size_t x, const struct nnbx_tensor *bias,
                           const struct nnbx_tensor *out)
{
	const struct nnbx_wide_conv *p = m->p;
	size_t at = b * m->out.step_batch + y * m->out.step_h + x * m->out.step_w;

	for (size_t c = 0; c < m->out.c && nnbx_worked(20); c++) {
		double sum = sum_at(m, b * m->in.step_batch, y, x, c) + nnbx_load_one(bias, c);

		sum *= p->scale * (p->scales ? (double)p->scales[c] : 1);
		nnbx_store_one(out, at + c * m->out.step_c, sum < p->min ? p->min : sum > p->max ? p->max : sum);
	}
}

void nnbx_wide_conv(const struct nnbx_wide_conv *p, const uint32_t dims[4], const struct nnbx_tensor *bias,
                    const struct nnbx_tensor *out)
{
	struct images m = { p, nnbx_image(dims, p->nchw), nnbx_image(out->dims, p->nchw), 0 };

	m.deep = m.in.c / p->groups;
	for (size_t b = 0; b < m.out.batch && nnbx_worked(1); b++)
		for (size_t y = 0; y < m.out.h && nnbx_worked(1); y++)
			for (size_t x = 0; x < m.out.w && nnbx_worked(1); x++)
				convolve_pixel(&m, b, y, x, bias, out);
}
