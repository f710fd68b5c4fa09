/*
 * seen.h -- an operation's operands as kernels and XNNPACK see them, so that kernels need not know each type and layout.
 *
 *   TENSOR_FLOAT16                              TENSOR_FLOAT32
 *   TENSOR_QUANT8_ASYMM_SIGNED, _SYMM,          TENSOR_QUANT8_ASYMM with a zero point that is 128 more; the scales of
 *     _SYMM_PER_CHANNEL                           channels stay
 *   an image with its channels second           the same with its channels last
 *
 * Constants are converted once, when a step is made, and other inputs before each run, into scratch memory. So the operation reads
 * private memory, which cannot change meanwhile.
 */
#ifndef NNBX_SEEN_H
#define NNBX_SEEN_H

#include "step.h"

/* Does any of the model's operands need that? */
bool nnbx_sees_otherwise(const struct nnb_model *model);

/* Operand @o as the operations see it. */
struct nnb_operand nnbx_see(const struct nnb_operand *o);

/* The site's input 0 and output 0 with their channels last, where it says that they have them second. */
void nnbx_see_images(struct site *site);

/* Bytes of scratch that the operation's inputs and outputs take, as it sees them. */
uint64_t nnbx_seen_scratch(const struct site *site);

/*
 * Convert the constants, and say in @ret where everything is to be: NULL, if the operation sees all as it is. The memory is
 * XNNPACK's allocator's. NONE, or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnb_status nnbx_seen_new(struct seen **ret, const struct site *site);
void nnbx_seen_free(struct seen *seen); /* NULL is fine. */

/* @site as the operation sees it, for its frame: where things are, not what they hold. */
struct site nnbx_seen_site(struct seen *seen, const struct site *site);

/* Before and after a run, with the site of nnbx_seen_site. */
void nnbx_seen_load(const struct seen *seen, const struct site *site);
void nnbx_seen_store(const struct seen *seen, const struct site *site);

#endif
