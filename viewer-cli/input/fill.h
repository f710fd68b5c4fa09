/* fill.h -- queries about an input: SQL templates with their placeholders filled. */
#ifndef BSV_INPUT_FILL_H
#define BSV_INPUT_FILL_H

#include "base/rows.h"
#include "base/template.h"
#include "input/input.h"

/*
 * @template with the placeholders @own (NULL: none) and the placeholders that every template may have: @with@;
 * @began@, the start of the recording; @from@ and @to@ as numbers; and @only_preempted@,
 * @only_victims@, @only_chosen@, joins that keep of preemptions s, inversions i and choices c those
 * of the picked executions. Owned by the caller; NULL: no memory.
 */
char *bsv_input_fill(const struct bsv_input *input, const char *template, const struct bsv_placeholder *own);

/* The rows of the filled template, before the first step. *ret is owned by the caller. */
int bsv_input_rows(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                   const struct bsv_placeholder *own, struct bsa_err *err);

/* The same, on the first row. Returns 1: a row; 0: no row. Negative: an error. */
int bsv_input_row(struct bsv_rows **ret, const struct bsv_input *input, const char *template,
                  const struct bsv_placeholder *own, struct bsa_err *err);

#endif
