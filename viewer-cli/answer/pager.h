/* pager.h -- page output that does not fit on the terminal. */
#ifndef BSV_PAGER_H
#define BSV_PAGER_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct bsv_pager {
	FILE *to; /* stream to print to: the pager, or the standard output */
	pid_t pid;
	void (*on_pipe)(int), (*on_interrupt)(int);
};

/*
 * Start $BURSTSCOPE_PAGER, $PAGER, or less, through sh, if @wanted and the standard output is a
 * terminal. "" or cat: no pager.
 */
void bsv_pager_begin(struct bsv_pager *p, bool wanted);

/* Wait until the pager ends. That the user left it before all was printed is not an error. */
void bsv_pager_end(struct bsv_pager *p);

#endif
