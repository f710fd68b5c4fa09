/*
 * subject.h -- what is judged: a driver in this process, or a service, asked in the same words.
 */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "conformance/validate/checks.h"
#include "nnb/buffer.h"
#include "nnb/client.h"
#include "nnb/fence.h"

struct subject {
	struct nnb_device *device; /* or else */
	struct nnb_client *client;
	const char *socket; /* of the client's service; NULL: where it usually is */
};

const char *subject_name(const struct subject *s); /* the driver's */

enum nnb_status subject_supported(const struct subject *s, const struct nnb_model *m, bool *ret,
                                  struct nnb_reason *reason);

/* Does the driver take all of it? */
bool subject_takes(const struct subject *s, const struct nnb_model *m);

/* ---- a model it has prepared ---- */

struct prepared {
	const struct subject *subject; /* NULL: none */
	struct nnb_prepared *here;     /* or else */
	struct nnb_remote *there;
};

/* @how: NULL: fast answers, medium priority, no deadline. NONE and *ret, or *ret is all zeroes. */
enum nnb_status prepared_new(struct prepared *ret, const struct subject *s, const struct nnb_model *m,
                             const struct nnb_prepare *how, struct nnb_reason *reason);
void prepared_free(struct prepared *p); /* all zeroes are fine */
const struct nnb_model *prepared_model(const struct prepared *p);

/* Ordinarily: within this process, or by a synchronous call. @terms of the call are looked at by a service only. */
enum nnb_status prepared_execute(const struct prepared *p, const struct nnb_call *call, struct nnb_reason *reason);

/* ---- arguments for a model: its inputs in one pool, its outputs in another ---- */

struct job {
	struct nnb_argument *args; /* inputs, then outputs */
	struct nnb_pool *pools[2];
	struct nnb_call call;
};

/* Inputs are small numbers. False: no memory. */
bool job_init(struct job *j, const struct nnb_model *m);
void job_fini(struct job *j); /* all zeroes are fine */

/* ---- a buffer that the driver keeps ---- */

struct buffer {
	struct nnb_buffer *here; /* or else */
	struct nnb_remote_buffer *there;
	struct nnb_pool *pool; /* that names it; borrowed, or own for here */
};

/* @models: the first @n_models, of one subject. */
enum nnb_status buffer_new(struct buffer *ret, const struct subject *s, const struct prepared *models,
                           uint32_t n_models, const struct nnb_buffer_desc *desc, struct nnb_reason *reason);
void buffer_free(struct buffer *b); /* all zeroes are fine */
enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *reason);
enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *reason);

/* ---- a simple model: y = x + 1 @n times over, float32 vectors of @length; the driver may not take it ---- */

struct nnb_model *chain_model(uint32_t length, uint32_t n);

/* Another: @n FULLY_CONNECTED layers of @width by @width weights, which all are one constant. */
struct nnb_model *layers_model(uint32_t width, uint32_t n);

/* What a chain's output is to be. */
float chain_expected(float x, uint32_t n);

/* ---- the suites ---- */

void suite_model(const struct subject *s, struct checks *c);
void suite_request(const struct subject *s, struct checks *c);
void suite_burst(const struct subject *s, struct checks *c);
void suite_deadline(const struct subject *s, struct checks *c);
void suite_memory(const struct subject *s, struct checks *c);
void suite_fence(const struct subject *s, struct checks *c);

/* A row that wants this status. */
bool wants_status(struct checks *c, enum nnb_status is, enum nnb_status wanted, const char *what,
                  const struct nnb_reason *reason);

#endif
