/*
 * domains.h -- what tests of memory domains share: models like those of VTS's MemoryDomainTests, their buffers, copies and
 * executions, through a service and in this process alike.
 *
 * An operand is {1, 32, 32, 8} of one of three types. VTS also has FLOAT16 and QUANT8_ASYMM_SIGNED, which come with later
 * HALs than the operations here; INT32 tensors stand in, where two types are to be in conflict, too.
 */
#ifndef DOMAINS_H
#define DOMAINS_H

#include "service_helpers.h"

#include "nnb/buffer.h"

#define NONE NNB_STATUS_NONE
#define GENERAL_FAILURE NNB_STATUS_GENERAL_FAILURE
#define INVALID_ARGUMENT NNB_STATUS_INVALID_ARGUMENT

/* ---- types, memories, paths ---- */

enum { RANK = 4, ROW = 32 * 32 * 8 /* elements of {1, 32, 32, 8} */, ROWS_MAX = 4 };
extern const uint32_t full_dims[RANK], dynamic_dims[RANK]; /* of which the first is not known */

extern const struct type {
	const char *name;
	struct nnb_operand operand; /* but for its dimensions */
	uint32_t bytes;             /* of an element */
} types[];
enum { FLOATS, QUANTS, INTS, N_TYPES };

extern const enum nnb_memory_kind copy_kinds[]; /* M-30 */
enum { N_COPY_KINDS = 3 };

enum path { BY_SYNC, BY_ASYNC, BY_FENCED, BY_BURST, HERE, HERE_BY_BURST, N_PATHS, N_SERVICE_PATHS = HERE };
extern const char *const path_names[N_PATHS];

/* Numbers, and what the models make of them. */
void fill(const struct type *t, void *to, uint32_t n, uint32_t seed);
bool is_filled(const struct type *t, const void *is, uint32_t n, uint32_t seed);
bool is_computed(const struct type *t, const void *is, uint32_t n, uint32_t seed);

/* ---- models: y[i] is made of x[i] alone, and has its dimensions ---- */

struct nnb_model *domain_model(const struct nnb_operand *o, uint32_t n, uint32_t rank, const uint32_t *dims);

/* y = x0 + x1, and the activation, an INT32 scalar, is the third input. */
struct nnb_model *sum_model(const struct nnb_operand *o);

/* ---- who prepares them: the service, for an app of its, or a device of this process ---- */

struct place {
	struct nnb_client *client; /* or else */
	struct nnb_device *device;
};

void place_init(struct place *p, const struct service *s); /* NULL: here */
void place_fini(struct place *p);

/* Has a test failed before it came to that? Then its clients are there yet, and the service is not what it was. */
bool places_were_left(void);

struct model {
	struct place *place; /* NULL: there is none, or no more */
	struct nnb_remote *remote;
	struct nnb_prepared *prepared;
	struct nnb_burst *burst; /* from its first use on */
};

void model_init(struct model *m, struct place *p, struct nnb_model *taken);
void model_fini(struct model *m);

struct buffer {
	struct nnb_remote_buffer *remote;
	struct nnb_buffer *here;
	struct nnb_pool *pool; /* of its token */
};

/* With models of one place. NONE, or *ret is as it was. */
enum nnb_status buffer_new(struct buffer *ret, struct place *p, const struct model *models, uint32_t n_models,
                           const struct nnb_buffer_desc *desc, struct nnb_reason *why);
/* For input roles 0 to n_inputs - 1 of one model, and likewise outputs. It has to work. */
void buffer_init(struct buffer *b, const struct model *m, uint32_t n_inputs, uint32_t n_outputs);
void buffer_fini(struct buffer *b);
uint64_t buffer_token(const struct buffer *b);

enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *why);
enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *why);

/* ---- copies ---- */

void memory_new(struct nnb_memory *ret, enum nnb_memory_kind kind, uint64_t bytes);
void memory_fill(const struct nnb_memory *m, const struct type *t, uint32_t seed);

/* By memory of that kind, of @rows rows; with these dimensions, or none (dims NULL). */
enum nnb_status copy_in(const struct buffer *b, const struct type *t, uint32_t rows, const uint32_t *dims,
                        uint32_t seed, struct nnb_reason *why);
void initialise(const struct buffer *b, const struct type *t, uint32_t seed); /* that, of one row; it has to work */
enum nnb_status copy_out(const struct buffer *b, uint64_t bytes, void *ret, struct nnb_reason *why);

void expect_holds(const struct buffer *b, const struct type *t, uint32_t rows, uint32_t seed, bool computed);
void expect_uninitialised(const struct buffer *b, const struct type *t, uint32_t rows);

/* ---- executions: arguments in shared memory, but for those that are put elsewhere ---- */

enum { ARGUMENTS = 2, POOLS = 5 };

struct request {
	const struct type *type;
	uint32_t n, rows; /* arguments on each side; rows of each */
	struct nnb_pool *pools[POOLS];
	struct nnb_argument in[ARGUMENTS], out[ARGUMENTS];
	struct nnb_output_shape shapes[ARGUMENTS];
	struct nnb_call call;
};

/* @dims: they are told: of a dynamic model they have to be. */
void request_init(struct request *r, const struct type *t, uint32_t n, uint32_t rows, bool dims);
void request_refresh(struct request *r, uint32_t seed); /* input i is filled by seed + i */
void request_fini(struct request *r);
void put_in(struct request *r, struct nnb_argument *a, const struct buffer *b);
void put_into(struct request *r, struct nnb_argument *a, struct nnb_pool *pool); /* all of it; borrowed */
void *argument_data(const struct request *r, const struct nnb_argument *a);

struct outcome {
	enum nnb_status launch, status; /* the same but for those that are not waited for */
	unsigned times_told;
	uint32_t n_shapes;
	struct nnb_timing timing;
	bool fallback, nothing_to_wait_for; /* neither fence nor handle */
	char why[200];
};

void execute(struct model *m, enum path path, struct request *r, struct outcome *ret);

/*
 * That is what comes of it; and if it is an error nothing else does: no shapes, no timing, nothing to wait for, and of an
 * asynchronous one the launch says NONE or the same.
 */
void expect_run(struct model *m, enum path path, struct request *r, enum nnb_status want);

/* ---- all of it: a model of two inputs and two outputs, an equal one, and what they are executed with ---- */

struct scene {
	const struct type *type;
	enum path path;
	bool dynamic;
	struct place place;
	struct model model, equal;
	struct buffer buffer; /* for the test to make */
	struct request request;
};

/* @dynamic: the models do not know the first extent, and requests say that it is @rows. */
void scene_init(struct scene *c, const struct service *s, const struct type *t, enum path path, bool dynamic,
                uint32_t rows);
void scene_fini(struct scene *c);
void scene_again(struct scene *c); /* all arguments in shared memory again */
struct nnb_argument *argument(struct scene *c, bool output, uint32_t i);

/* With the buffer there, and everything else in shared memory. */
void run_with(struct scene *c, struct model *m, bool output, uint32_t i, enum nnb_status want);

/* Output @i, in shared memory, is what comes of @seed. */
void expect_output(struct scene *c, uint32_t i, uint32_t seed);

/* ---- an asynchronous execution, to be held at the gate by its caller ---- */

struct launched {
	struct request *request;
	_Atomic bool told;
	enum nnb_status status;
};
void launch(struct launched *l, struct model *m, struct request *r);
enum nnb_status landed(struct launched *l);

#define expect(want, call)                                                                      \
	do {                                                                                    \
		struct nnb_reason why = { "" };                                                 \
		enum nnb_status got_ = (call), want_ = (want);                                  \
		if (got_ != want_ || (got_ && !why.text[0]))                                    \
			fail_msg("%s: %s (%s), not %s", #call, nnb_status_name(got_), why.text, \
			         nnb_status_name(want_));                                       \
	} while (0)

#endif
