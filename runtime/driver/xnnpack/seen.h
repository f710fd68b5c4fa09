/*
 * seen.h -- an operation's operands as kernels and XNNPACK see them, so that kernels need not know each type and
 * layout.
 *
 *   TENSOR_FLOAT16                              TENSOR_FLOAT32
 *   TENSOR_QUANT8_ASYMM_SIGNED, _SYMM,          TENSOR_QUANT8_ASYMM with a zero point that is 128 more; the scales of
 *     _SYMM_PER_CHANNEL                           channels stay
 *   an image with its channels second           the same with its channels last
 *
 * Constants are converted once, when a step is made, and other inputs before each run, into scratch memory. So the
 * operation reads private memory, which cannot change meanwhile.
 */
#ifndef NNBX_SEEN_H
#define NNBX_SEEN_H

#include "step.h"

/* Does any operand of the model need a conversion? */
bool nnbx_sees_otherwise(const struct nnb_model *model);

/* Operand @o after its conversion. */
struct nnb_operand nnbx_see(const struct nnb_operand *o);

/* If the operation has its channels second: set the site's shapes of input 0 and output 0 with channels last. */
void nnbx_see_images(struct site *site);

/* Bytes of scratch memory for the converted inputs and outputs. */
uint64_t nnbx_seen_scratch(const struct site *site);

/*
 * Convert the constants, and assign places in the scratch memory to the other converted operands. *ret is NULL if the
 * operation needs no conversion. XNNPACK's allocator provides the memory. NONE, or RESOURCE_EXHAUSTED_TRANSIENT.
 */
enum nnb_status nnbx_seen_new(struct seen **ret, const struct site *site);
void nnbx_seen_free(struct seen *seen); /* NULL is fine. */

/* @site with the places of the converted operands. The contents are not converted yet. */
struct site nnbx_seen_site(struct seen *seen, const struct site *site);

/* Convert the inputs before a run, and the outputs after it. @site: as nnbx_seen_site returned it. */
void nnbx_seen_load(const struct seen *seen, const struct site *site);
void nnbx_seen_store(const struct seen *seen, const struct site *site);

#endif
