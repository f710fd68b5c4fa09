/* conjunct.h -- the first of the conditions that a condition of --where joins by AND. */
#ifndef BSV_INPUT_CONJUNCT_H
#define BSV_INPUT_CONJUNCT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether @where is "A AND B", or A alone, where A has no AND outside of brackets and texts. *ret:
 * the length of A; *ret_rest: B, in @where; NULL: A is all of it. A may end within a BETWEEN or a
 * CASE, and then is no condition by itself. False: there may be an OR or a name in quotes outside
 * of brackets, or a remark anywhere, so how @where falls apart is not known.
 */
bool bsv_first_conjunct(const char *where, size_t *ret, const char **ret_rest);

#endif
