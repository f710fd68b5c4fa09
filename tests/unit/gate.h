/*
 * gate.h -- what a test shares with the driver "gate" in a service: who is to wait there, and who does.
 *
 * The driver maps the file that $NNB_GATE names. Without one it holds nobody.
 */
#ifndef GATE_H
#define GATE_H

#include <stdatomic.h>

struct gate {
	/* the test's: not 0 holds them */
	atomic_uint hold_runs, hold_prepares;
	/* the driver's: how many are held now; how many prepared models and runs there are; is the fast state on? */
	atomic_uint held_runs, held_prepares, prepared, runs, performance;
};

#endif
