/*
 * expect.h -- the facts that a fold is to have found out, as text.
 *
 *   execution id=3:1 phase=10,20,10,0,20,5,335,0,10,40,10,0 quality=complete
 *   no wait kind=1
 *   2 preemption
 *   left stragglers=1
 *
 * A line each: a kind, and columns that one fact of it is to have (see collect.c); `no`, or a number: of how many
 * facts it is to be true. Of `left`, what the fold left out, and how late the latest summary came. Enumerations are
 * numbers, but for quality, miss and sides.
 */
#ifndef ANALYZER_EXPECT_H
#define ANALYZER_EXPECT_H

#include "analyzer/folded.h"

/* Is all of it so? If not, what is wrong goes to the standard error, behind @what. */
bool expect_facts(const char *what, const struct folded *f, const char *wants);

#endif
