/*
 * state.h -- the state that a recurrent model passes from one execution to the next, and its place in between.
 *
 * In pools, outputs are copied to the inputs. On the device there are two buffers for each pair: one is read, the other is
 * written, and then they swap.
 */
#ifndef LOAD_STATE_H
#define LOAD_STATE_H

#include "nnb/client.h"
#include "work.h"

/* All zeroes: there is none. */
struct load_state {
	const struct load_work *work;
	enum load_keeping keeping;
	struct nnb_remote_buffer *buffers[LOAD_PAIRS_MAX][2]; /* owned */
	unsigned turn;                                        /* which of the two buffers is read next */
};

/*
 * A state of zeroes for executions of @remote, a model of @client. NONE; or what the service says who will have neither
 * buffers nor shared memory instead. @work is borrowed until fini.
 */
enum nnb_status load_state_init(struct load_state *ret, enum load_keeping keeping, struct nnb_client *client,
                                struct nnb_remote *remote, const struct load_work *work, struct nnb_reason *reason);
void load_state_fini(struct load_state *state);

/* How many buffers there are, and how many of them are shared memory after all. */
uint32_t load_state_buffers(const struct load_state *state, uint32_t *ret_fallen);

/* Have the next execution on @buffers use it. How many pools that takes in all. */
uint32_t load_state_aim(const struct load_state *state, struct load_buffers *buffers);

/* An execution went well: what came out is what goes in next. */
void load_state_advance(struct load_state *state, const struct load_buffers *buffers);

/* Copy the state in pools to other pools. */
void load_state_move(const struct load_state *state, const struct load_buffers *from, const struct load_buffers *to);

/* A number that only the same state has, never 0; or 0: it cannot be read. */
uint64_t load_state_digest(const struct load_state *state, const struct load_buffers *buffers);

#endif
