/* alternatives.h -- the answers of burstscope whatif about many changes at once: --search and --advise. */
#ifndef BSV_WHATIF_ALTERNATIVES_H
#define BSV_WHATIF_ALTERNATIVES_H

#include "answer/answer.h"
#include "whatif/search.h"

struct bsv_alternatives {
	const struct bsv_past *past;
	const struct bsv_whatif_change *base; /* the change that all alternatives share */
	unsigned lanes_up_to;                 /* 0: as many as there were */
	bool quiet;
	struct bsv_trials trials;
	struct bsv_advices advices;
	struct bsv_goals *goals; /* owned, by trial */
	size_t *front, n_front;  /* owned */
};

/* Replay all, with progress on a terminal. 0, or BSA_E_ENV. Either is followed by bsv_alternatives_fini. */
int bsv_alternatives_search(struct bsv_alternatives *a, struct bsa_err *err);
int bsv_alternatives_advise(struct bsv_alternatives *a, struct bsa_err *err);

/* The parts of the answer. @a is as it was initialised where nothing was replayed: then they are empty. */
void bsv_alternatives_add_search(const struct bsv_alternatives *a, struct bsv_answer *answer, bool empty);
void bsv_alternatives_add_advice(const struct bsv_alternatives *a, struct bsv_answer *answer, bool empty);

/* All 0 is fine. */
void bsv_alternatives_fini(struct bsv_alternatives *a);

#endif
