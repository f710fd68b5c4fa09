/*
 * state.h -- the state that a recurrent model passes from one execution to the next, and its place in between.
 *
 * In pools, outputs are copied to the inputs. On the device there are two buffers for each pair: one is read, the
 * other is written, and then they swap.
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
	unsigned turn;                                        /* index of the buffer that is read next */
};

/*
 * Make a state of zeroes for executions of @remote, a model of @client. @work is borrowed until fini. NONE, or the
 * status of a service that allows neither buffers nor shared memory in their place.
 */
enum nnb_status load_state_init(struct load_state *ret, enum load_keeping keeping, struct nnb_client *client,
                                struct nnb_remote *remote, const struct load_work *work, struct nnb_reason *reason);
void load_state_fini(struct load_state *state);

/* The number of buffers. *ret_fallen: how many of them are shared memory, because the driver keeps no buffers. */
uint32_t load_state_buffers(const struct load_state *state, uint32_t *ret_fallen);

/* Put the state into the next execution on @buffers. Returns the number of pools in all. */
uint32_t load_state_aim(const struct load_state *state, struct load_buffers *buffers);

/* An execution succeeded: its outputs are the inputs of the next one. */
void load_state_advance(struct load_state *state, const struct load_buffers *buffers);

/* Copy the state in pools to other pools. */
void load_state_move(const struct load_state *state, const struct load_buffers *from, const struct load_buffers *to);

/* A digest of the state, which is not 0; 0: the state cannot be read. */
uint64_t load_state_digest(const struct load_state *state, const struct load_buffers *buffers);

#endif
