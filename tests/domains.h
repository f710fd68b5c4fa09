/*
 * domains.h -- models, buffers, copies and executions for tests of memory domains, through a service and in
 * this process alike. The models are like those of VTS's MemoryDomainTests.
 *
 * An operand is {1, 32, 32, 8} of one of three types. VTS also has FLOAT16 and QUANT8_ASYMM_SIGNED, which came
 * with later HALs than the operations here. Where two types must conflict, INT32 tensors stand in for them.
 */
#ifndef DOMAINS_H
#define DOMAINS_H

#include "service_helpers.h"

#include "nnb/buffer.h"

#define NONE NNB_STATUS_NONE
#define GENERAL_FAILURE NNB_STATUS_GENERAL_FAILURE
#define INVALID_ARGUMENT NNB_STATUS_INVALID_ARGUMENT

/* ---- types, memories, paths ---- */

enum { RANK = 4, ROW = 32 * 32 * 8 /* the number of elements of {1, 32, 32, 8} */, ROWS_MAX = 4 };
extern const uint32_t full_dims[RANK], dynamic_dims[RANK]; /* dynamic_dims: the first extent is unknown */

extern const struct type {
	const char *name;
	struct nnb_operand operand; /* without dimensions */
	uint32_t bytes;             /* bytes of one element */
} types[];
enum { FLOATS, QUANTS, INTS, N_TYPES };

extern const enum nnb_memory_kind copy_kinds[]; /* as M-30 lists them */
enum { N_COPY_KINDS = 3 };

enum path { BY_SYNC, BY_ASYNC, BY_FENCED, BY_BURST, HERE, HERE_BY_BURST, N_PATHS, N_SERVICE_PATHS = HERE };
extern const char *const path_names[N_PATHS];

/* Fill elements with numbers, and check that elements are those numbers, or what a model computes from them. */
void fill(const struct type *t, void *to, uint32_t n, uint32_t seed);
bool is_filled(const struct type *t, const void *is, uint32_t n, uint32_t seed);
bool is_computed(const struct type *t, const void *is, uint32_t n, uint32_t seed);

/* ---- models: y[i] is made of x[i] alone, and has its dimensions ---- */

struct nnb_model *domain_model(const struct nnb_operand *o, uint32_t n, uint32_t rank, const uint32_t *dims);

/* y = x0 + x1, and the activation, an INT32 scalar, is the third input. */
struct nnb_model *sum_model(const struct nnb_operand *o);

/* ---- the place that prepares models: the service, for one of its apps, or a device of this process ---- */

struct place {
	struct nnb_client *client; /* NULL: the models are prepared on @device */
	struct nnb_device *device;
};

void place_init(struct place *p, const struct service *s); /* @s NULL: in this process */
void place_fini(struct place *p);

/*
 * Whether a test failed before it called place_fini. Its clients then still exist, and the service holds more
 * than it should.
 */
bool places_were_left(void);

struct model {
	struct place *place; /* NULL: the model is not prepared, or no longer */
	struct nnb_remote *remote;
	struct nnb_prepared *prepared;
	struct nnb_burst *burst; /* made at its first use */
};

void model_init(struct model *m, struct place *p, struct nnb_model *taken);
void model_fini(struct model *m);

struct buffer {
	struct nnb_remote_buffer *remote;
	struct nnb_buffer *here;
	struct nnb_pool *pool; /* refers to the buffer's token */
};

/* All @models are of one place. On failure *ret is unchanged. */
enum nnb_status buffer_new(struct buffer *ret, struct place *p, const struct model *models, uint32_t n_models,
                           const struct nnb_buffer_desc *desc, struct nnb_reason *why);
/*
 * The roles are inputs 0 to n_inputs - 1 of one model, and outputs 0 to n_outputs - 1. Fails the test if the
 * service refuses.
 */
void buffer_init(struct buffer *b, const struct model *m, uint32_t n_inputs, uint32_t n_outputs);
void buffer_fini(struct buffer *b);
uint64_t buffer_token(const struct buffer *b);

enum nnb_status buffer_copy_from(const struct buffer *b, const struct nnb_memory *from, uint32_t rank,
                                 const uint32_t *dims, struct nnb_reason *why);
enum nnb_status buffer_copy_to(const struct buffer *b, const struct nnb_memory *to, struct nnb_reason *why);

/* ---- copies ---- */

void memory_new(struct nnb_memory *ret, enum nnb_memory_kind kind, uint64_t bytes);
void memory_fill(const struct nnb_memory *m, const struct type *t, uint32_t seed);

/* Copy @rows rows in from shared memory. @dims: the dimensions of the copy; NULL: not given. */
enum nnb_status copy_in(const struct buffer *b, const struct type *t, uint32_t rows, const uint32_t *dims,
                        uint32_t seed, struct nnb_reason *why);
/* Copy one row in; fails the test if the service refuses. */
void initialise(const struct buffer *b, const struct type *t, uint32_t seed);
enum nnb_status copy_out(const struct buffer *b, uint64_t bytes, void *ret, struct nnb_reason *why);

void expect_holds(const struct buffer *b, const struct type *t, uint32_t rows, uint32_t seed, bool computed);
void expect_uninitialised(const struct buffer *b, const struct type *t, uint32_t rows);

/* ---- executions: arguments lie in shared memory, except those that a test puts into a buffer or pool ---- */

enum { ARGUMENTS = 2, POOLS = 5 };

struct request {
	const struct type *type;
	uint32_t n, rows; /* the number of arguments on each side, and of rows in each */
	struct nnb_pool *pools[POOLS];
	struct nnb_argument in[ARGUMENTS], out[ARGUMENTS];
	struct nnb_output_shape shapes[ARGUMENTS];
	struct nnb_call call;
};

/* @dims: the request states dimensions; for a dynamic model it must. */
void request_init(struct request *r, const struct type *t, uint32_t n, uint32_t rows, bool dims);
void request_refresh(struct request *r, uint32_t seed); /* fill input i from seed + i */
void request_fini(struct request *r);
void put_in(struct request *r, struct nnb_argument *a, const struct buffer *b);
/* The argument becomes the whole pool, which is borrowed. */
void put_into(struct request *r, struct nnb_argument *a, struct nnb_pool *pool);
void *argument_data(const struct request *r, const struct nnb_argument *a);

struct outcome {
	enum nnb_status launch, status; /* equal, except for asynchronous executions */
	unsigned n_callbacks;
	uint32_t n_shapes;
	struct nnb_timing timing;
	bool fallback, nothing_to_wait_for; /* the answer has no fence and no handle */
	char why[200];
};

void execute(struct model *m, enum path path, struct request *r, struct outcome *ret);

/*
 * Execute, and expect status @want. After an error, expect no shapes, no timing and nothing to wait for; the
 * launch of an asynchronous execution then returned NONE or @want.
 */
void expect_run(struct model *m, enum path path, struct request *r, enum nnb_status want);

/* ---- a scene: a model of two inputs and two outputs, an equal one, and what they are executed with ---- */

struct scene {
	const struct type *type;
	enum path path;
	bool dynamic;
	struct place place;
	struct model model, equal;
	struct buffer buffer; /* the test allocates it */
	struct request request;
};

/* @dynamic: the models do not know the first extent, and requests state that it is @rows. */
void scene_init(struct scene *c, const struct service *s, const struct type *t, enum path path, bool dynamic,
                uint32_t rows);
void scene_fini(struct scene *c);
void scene_again(struct scene *c); /* put all arguments into shared memory again */
struct nnb_argument *argument(struct scene *c, bool output, uint32_t i);

/* Run with the buffer as argument @i, and all others in shared memory. */
void run_with(struct scene *c, struct model *m, bool output, uint32_t i, enum nnb_status want);

/* Expect in output @i, in shared memory, what the model computes from @seed. */
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
