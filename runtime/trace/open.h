/* open.h -- loads the tracepoint provider. */
#ifndef NNB_TRACE_OPEN_H
#define NNB_TRACE_OPEN_H

/*
 * Load the provider, once in a process: $NNBURST_TRACEPOINTS, or nnburst/tracepoints.so beside this library. Without
 * a provider no event is emitted. Any thread.
 */
void nnb__trace_open(void);

#endif
