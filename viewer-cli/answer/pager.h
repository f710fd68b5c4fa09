/*
 * pager.h -- a terminal is shown page by page what does not fit on it.
 */
#ifndef BSV_PAGER_H
#define BSV_PAGER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct bsv_pager {
	FILE *to; /* what to print to: the pager, or the standard output */
	pid_t pid;
	void (*on_pipe)(int), (*on_interrupt)(int);
};

/* @wanted, and the standard output is a terminal: $BURSTSCOPE_PAGER, $PAGER, or less, through sh; "" or cat: none. */
void bsv_pager_begin(struct bsv_pager *p, bool wanted);

/* Wait until whoever reads it has had enough; who goes before all was printed makes no mistake. */
void bsv_pager_end(struct bsv_pager *p);

#endif
