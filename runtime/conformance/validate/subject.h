/*
 * subject.h -- the driver or service under test: one interface for a driver in this process and for a service.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "conformance/validate/checks.h"
#include "conformance/validate/job.h"
#include "nnb/buffer.h"
#include "nnb/client.h"
#include "nnb/fence.h"

struct subject {
	struct nnb_device *device; /* set for a driver in this process; otherwise client is set */
	struct nnb_client *client;
	const char *socket; /* socket of the client's service; NULL: the default socket */
};

const char *subject_name(const struct subject *s); /* the driver's name */

enum nnb_status subject_supported(const struct subject *s, const struct nnb_model *m, bool *ret,
                                  struct nnb_reason *reason);

/* Does the driver support every operation of @m? */
bool subject_takes(const struct subject *s, const struct nnb_model *m);

/* ---- prepared models ---- */

struct prepared {
	const struct subject *subject; /* NULL: nothing is prepared */
	struct nnb_prepared *here;     /* set in this process; otherwise the service's model is set */
	struct nnb_remote *there;
};

/*
 * Prepare a model. @how NULL: fast single answer, medium priority, no deadline. NONE and *ret; after a failure *ret
 * is all zeroes.
 */
enum nnb_status prepared_new(struct prepared *ret, const struct subject *s, const struct nnb_model *m,
                             const struct nnb_prepare *how, struct nnb_reason *reason);
void prepared_free(struct prepared *p); /* @p may be all zeroes */
const struct nnb_model *prepared_model(const struct prepared *p);

/*
 * Execute by a plain call: in this process, or synchronously through the service. Only a service reads the terms of
 * @call.
 */
enum nnb_status prepared_execute(const struct prepared *p, const struct nnb_call *call, struct nnb_reason *reason);

/* ---- buffers of the driver ---- */

struct buffer {
	struct nnb_buffer *here; /* set in this process; otherwise the service's buffer is set */
	struct nnb_remote_buffer *there;
	struct nnb_pool *pool; /* pool that refers to the buffer: borrowed from the client, owned in this process */
};

/* @models: the first @n_models of them are used; all are of one subject. */
enum nnb_status buffer_new(struct buffer *ret, const struct subject *s, const struct prepared *models,
                           uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason);
void buffer_free(struct buffer *b); /* @b may be all zeroes */
enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *reason);
enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *reason);

/* ---- chain model: y = x + 1, repeated @n times, float32 vectors of @length; a driver may not support it ---- */

struct nnb_model *chain_model(uint32_t length, uint32_t n);

/* A model of @n FULLY_CONNECTED layers of @width by @width weights, which are all the same constant. */
struct nnb_model *layers_model(uint32_t width, uint32_t n);

/* The expected output of a chain. */
float chain_expected(float x, uint32_t n);

/* ---- the suites ---- */

void suite_model(const struct subject *s, struct checks *c);
void suite_request(const struct subject *s, struct checks *c);
void suite_burst(const struct subject *s, struct checks *c);
void suite_deadline(const struct subject *s, struct checks *c);
void suite_memory(const struct subject *s, struct checks *c);
void suite_fence(const struct subject *s, struct checks *c);
void suite_hooks(const struct subject *s, struct checks *c);

/* Add a row that requires status @wanted. */
bool wants_status(struct checks *c, enum nnb_status is, enum nnb_status wanted, const char *what,
                  const struct nnb_reason *reason);

#endif
