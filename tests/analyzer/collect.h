/*
 * collect.h -- all facts of a fold, kept, and as text that can be compared.
 *
 * A fact that is reported anew with the same id (apps, processes, models, streams) is there once: the last one holds.
 */
#ifndef ANALYZER_COLLECT_H
#define ANALYZER_COLLECT_H

#include "analyzer/lag_windows.h"
#include "fold/facts.h"

/* In the order in which they are printed. */
/* clang-format off */
#define COLLECT_KINDS(K) \
	K(app) K(process) K(rules) K(model) K(stream) K(execution) K(slice) K(wait) K(preemption) K(deadline_missed) \
	K(refused) K(exhausted) K(slot_missed) K(mapping) K(buffer) K(buffer_used) K(inverted) K(starved) K(share) K(lag) \
	K(interfered) K(chosen) K(possible_wait) K(unknown_lane) K(fmq_op) K(lookup) K(operation) K(lost) K(spanned) \
	K(silence)
/* clang-format on */

/* collected.execution.items[i], collected.execution.n; zero is empty */
struct collected {
#define K(kind)                           \
	struct {                          \
		struct bsa_##kind *items; \
		size_t n, room;           \
	} kind;
	COLLECT_KINDS(K)
#undef K
	struct lag_windows lag_windows;
};

enum collect_kind {
#define K(kind) COLLECT_##kind,
	COLLECT_KINDS(K)
#undef K
		COLLECT_N_KINDS
};

/* Calls that keep everything in @c. Set those of single operations to NULL if they are not wanted. */
struct bsa_facts collect_facts(struct collected *c);

void collect_fini(struct collected *c);

/* The last that was reported of the trace's number. NULL: no execution of that number was reported. */
const struct bsa_execution *collect_execution(const struct collected *c, uint64_t exec);

/*
 * A line a fact, sorted, which means: in the same order however they were reported. Numbers that folds give out are
 * replaced by what they stand for: executions by STREAM:SEQ, apps by key/name, models and streams by their numbers,
 * processes by pids. Unknown times are -. With @common only what full and compact events have alike: nothing of
 * single operations or of what may be hidden, of estimates, of how the request was written and messages were spun
 * for, nor when the launch of a fenced one was answered. Owned by the caller: free.
 */
char *collect_text(const struct collected *c, bool common);

/* The same of one kind of facts. */
char *collect_kind_text(const struct collected *c, enum collect_kind kind, bool common);

#endif
