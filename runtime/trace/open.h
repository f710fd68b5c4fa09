/* open.h -- finding who listens. */
#ifndef NNB_TRACE_OPEN_H
#define NNB_TRACE_OPEN_H

/*
 * Load the provider, once in a process: $NNBURST_TRACEPOINTS, or nnburst/tracepoints.so beside this library. Without one
 * nothing is said of anything. Any thread.
 */
void nnb__trace_open(void);

#endif
