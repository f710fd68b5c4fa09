/*
 * loose.h -- runs whose shapes are found on the way (nnb_run's found): each operation is set up when its turn comes.
 *
 * A loose run has one user, and ends with it. Its memory is charged to the model's account while the run has it.
 */
#ifndef NNBX_LOOSE_H
#define NNBX_LOOSE_H

#include "step.h"

struct loose;

/*
 * @bases: by part of the model, the main graph first and then its subgraphs, the operands as operations see them,
 * where that is not as they are; NULL: nowhere. @run's arrays stay valid until it is freed.
 */
enum nnb_status nnbx_loose_new(struct loose **ret, const struct nnb_graph *graph,
                               const struct nnb_operand *const *bases, const struct nnb_run *run);
void nnbx_loose_free(struct loose *loose); /* NULL is fine. */

/* The operations come in the model's order, each once. */
enum nnb_status nnbx_loose_op(struct loose *loose, uint32_t op);

#endif
