/*
 * test_buffer.c -- memory domains in one process: the states of a driver's buffer, the uses that exclude each
 * other, and that the driver alone decides on the buffer's place and layout (rules M-1 to M-33).
 *
 * The model doubles: y0 = x0 + x0 and y1 = x1 + x1. Buffers can be any of the four.
 */
#include <dlfcn.h>

#include "unit/burst_helpers.h"

#include "nnb/buffer.h"
#include "nnb/driver.h"
#include "unit/scrambled.h"

#define NONE NNB_STATUS_NONE
#define GENERAL_FAILURE NNB_STATUS_GENERAL_FAILURE
#define INVALID_ARGUMENT NNB_STATUS_INVALID_ARGUMENT
#define TRANSIENT NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT

enum { ROWS = 2, COLUMNS = 8, ROWS_MAX = 64, TENSOR = ROWS_MAX * COLUMNS * 4 };
static const char scrambled[] = DRIVER_SCRAMBLED, bare[] = DRIVER_BARE;

/* Expect that the call returns @want. */
#define expect_status(want, call)                                                               \
	do {                                                                                    \
		struct nnb_reason why = { "" };                                                 \
		enum nnb_status got_ = (call), want_ = (want);                                  \
		if (got_ != want_)                                                              \
			fail_msg("%s: %s (%s), not %s", #call, nnb_status_name(got_), why.text, \
			         nnb_status_name(want_));                                       \
		(void)why;                                                                      \
	} while (0)

/* Expect that the call returns @want, and that an error has a reason. */
#define expect(want, call)                                                                      \
	do {                                                                                    \
		struct nnb_reason why = { "" };                                                 \
		enum nnb_status got_ = (call), want_ = (want);                                  \
		if (got_ != want_ || (got_ && !why.text[0]))                                    \
			fail_msg("%s: %s (%s), not %s", #call, nnb_status_name(got_), why.text, \
			         nnb_status_name(want_));                                       \
	} while (0)

/* ---- models ---- */

static struct nnb_model *doubles(uint32_t rank, uint32_t rows)
{
	const struct nnb_operand tensor = { .type = NNB_TENSOR_FLOAT32, .rank = rank, .dims = { rows, COLUMNS } };
	uint32_t x[2], y[2], act;
	struct nnb_model *m;

	assert_int_equal(nnb_model_new(&m, "doubles", NNB_HAL_1_2), 0);
	act = int_scalar(m, NNB_FUSED_NONE);
	for (int i = 0; i < 2; i++) {
		x[i] = operand(m, &tensor);
		y[i] = operand(m, &tensor);
		assert_true(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ x[i], x[i], act }, 3, &y[i], 1) >= 0);
	}
	assert_int_equal(nnb_model_finish(m, x, 2, y, 2), 0);
	return m;
}

/* ---- a device, the model on it, and shared memory for its arguments ---- */

struct bench {
	struct nnb_device *device;
	struct nnb_prepared *prepared;
	struct nnb_memory memory;
	struct nnb_mapping *mapping;
	float *x[2], *y[2];
	struct scrambled *seen; /* NULL: another driver */
};

static struct nnb_prepared *prepared_doubles(struct nnb_device *device, uint32_t rank, uint32_t rows)
{
	struct nnb_model *m = doubles(rank, rows);
	struct nnb_prepared *p = prepared(device, m);

	nnb_model_free(m);
	return p;
}

static struct scrambled *seen_by(const char *driver)
{
	void *object = dlopen(driver, RTLD_NOW | RTLD_NOLOAD);
	struct scrambled *seen = object ? dlsym(object, "nnb_scrambled") : NULL;

	if (object)
		dlclose(object); /* the device still holds the object */
	if (seen)
		memset(seen, 0, sizeof(*seen));
	return seen;
}

static void bench_memory(struct bench *b)
{
	float *at;

	assert_int_equal(nnb_memory_ashmem(&b->memory, 4 * TENSOR), 0);
	assert_int_equal(nnb_map(&b->mapping, &b->memory), 0);
	at = nnb_mapping_data(b->mapping);
	for (int i = 0; i < 2; i++) {
		b->x[i] = at + i * TENSOR / 4;
		b->y[i] = at + (2 + i) * TENSOR / 4;
	}
}

static void bench_init(struct bench *b, const char *driver, uint32_t rank, uint32_t rows)
{
	b->device = open_device(driver);
	b->prepared = prepared_doubles(b->device, rank, rows);
	b->seen = driver == scrambled ? seen_by(driver) : NULL;
	bench_memory(b);
}

/* All buffers have been freed, so the driver must have none. */
static void bench_fini(struct bench *b)
{
	nnb_prepared_unref(b->prepared);
	if (b->seen) {
		assert_int_equal(atomic_load(&b->seen->made), atomic_load(&b->seen->freed));
		memset(b->seen, 0, sizeof(*b->seen));
	}
	nnb_device_unref(b->device);
	nnb_mapping_unref(b->mapping);
	nnb_memory_close(&b->memory);
}

/* ---- buffers ---- */

static const struct nnb_buffer_role both[] = { { 0, 0, 1 }, { 0, 1, 1 } };

/* A buffer for all roles. @rank 0: the description adds nothing to what the model states. */
static enum nnb_status allocate(struct nnb_buffer **ret, const struct bench *b, uint32_t rank, uint32_t rows,
                                struct nnb_reason *why)
{
	const struct nnb_buffer_desc desc = { .rank = rank,
		                              .dims = { rows, rank > 1 ? COLUMNS : 0 },
		                              .inputs = both,
		                              .outputs = both,
		                              .n_inputs = 2,
		                              .n_outputs = 2 };

	return nnb_buffer_new(ret, b->device, &b->prepared, 1, &desc, why);
}

static struct nnb_buffer *buffer_of(const struct bench *b)
{
	struct nnb_buffer *buffer = NULL;

	expect(NONE, allocate(&buffer, b, 0, 0, &why));
	assert_non_null(buffer);
	return buffer;
}

static uint64_t token_of(const struct nnb_buffer *buffer)
{
	const struct nnb_memory *m = nnb_buffer_memory(buffer);

	return (uint32_t)m->ints[0] | (uint64_t)(uint32_t)m->ints[1] << 32;
}

/* ---- memory to copy from and to: of each kind in turn ---- */

static void file_memory(struct nnb_memory *ret, uint64_t bytes, int prot)
{
	int fd = new_file(bytes, 0);

	assert_int_equal(nnb_memory_mmap_fd(ret, fd, bytes, prot, 0), 0);
	close(fd);
}

static void new_memory(struct nnb_memory *ret, uint64_t bytes)
{
	static unsigned turn;

	switch (turn++ % 3) {
	case 0:
		assert_int_equal(nnb_memory_ashmem(ret, bytes), 0);
		break;
	case 1:
		file_memory(ret, bytes, PROT_READ | PROT_WRITE);
		break;
	default:
		assert_int_equal(nnb_memory_hardware_buffer_blob(ret, bytes), 0);
	}
}

/* Numbers that begin with @first, and a check of the first @n of them. */
static void fill(float *to, uint32_t n, float first)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = first + (float)i;
}

static void expect_filled(const float *is, uint32_t n, float first, float times)
{
	for (uint32_t i = 0; i < n; i++)
		if (is[i] != (first + (float)i) * times)
			fail_msg("element %u is %g, not %g", i, is[i], (first + (float)i) * times);
}

/* Copy @rows rows in; the copy states @rank dimensions. */
static enum nnb_status copy_from(struct nnb_buffer *buffer, float first, uint32_t rows, uint32_t rank,
                                 struct nnb_reason *why)
{
	const uint32_t dims[] = { rows, COLUMNS };
	enum nnb_status status;
	struct nnb_mapping *mapping;
	struct nnb_memory memory;

	new_memory(&memory, (uint64_t)rows * COLUMNS * 4);
	assert_int_equal(nnb_map(&mapping, &memory), 0);
	fill(nnb_mapping_data(mapping), rows * COLUMNS, first);
	nnb_mapping_unref(mapping);
	status = nnb_buffer_copy_from(buffer, &memory, rank, rank ? dims : NULL, why);
	nnb_memory_close(&memory);
	return status;
}

/* Copy @rows rows out to @ret, as they are; on failure *ret is untouched. */
static enum nnb_status copy_to(struct nnb_buffer *buffer, float *ret, uint32_t rows, struct nnb_reason *why)
{
	uint64_t bytes = (uint64_t)rows * COLUMNS * 4;
	enum nnb_status status;
	struct nnb_mapping *mapping;
	struct nnb_memory memory;

	new_memory(&memory, bytes);
	assert_int_equal(nnb_map(&mapping, &memory), 0);
	memset(nnb_mapping_data(mapping), 0x77, bytes);
	status = nnb_buffer_copy_to(buffer, &memory, why);
	if (!status)
		memcpy(ret, nnb_mapping_data(mapping), bytes);
	else
		for (uint64_t i = 0; i < bytes; i++)
			assert_int_equal(((char *)nnb_mapping_data(mapping))[i], 0x77);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&memory);
	return status;
}

static void expect_holds(struct nnb_buffer *buffer, float first, float times, uint32_t rows)
{
	float is[TENSOR / 4];

	expect(NONE, copy_to(buffer, is, rows, &why));
	expect_filled(is, rows * COLUMNS, first, times);
}

static void expect_uninitialised(struct nnb_buffer *buffer, uint32_t rows)
{
	float is[TENSOR / 4];

	expect(GENERAL_FAILURE, copy_to(buffer, is, rows, &why));
}

/* ---- executions ---- */

/* A call's arguments: in shared memory, except those that a test puts into buffers. */
struct call {
	struct nnb_memory pools[5];
	struct nnb_argument in[2], out[2];
	struct nnb_output_shape shapes[2];
	struct nnb_request request;
};

static void call_init(struct call *c, const struct bench *b, uint32_t rows)
{
	*c = (struct call){ .pools = { b->memory },
		            .request = { .inputs = c->in,
		                         .outputs = c->out,
		                         .n_inputs = 2,
		                         .n_outputs = 2,
		                         .n_pools = 1,
		                         .pools = c->pools } };
	for (uint32_t i = 0; i < 2; i++) {
		c->in[i] = (struct nnb_argument){ .location = { 0, i * TENSOR, rows * COLUMNS * 4 },
			                          .rank = 2,
			                          .dims = { rows, COLUMNS } };
		c->out[i] = c->in[i];
		c->out[i].location.offset += 2 * TENSOR;
		fill(b->x[i], rows * COLUMNS, 100 * (float)(i + 1));
		memset(b->y[i], 0, TENSOR);
	}
}

static void put_into(struct call *c, struct nnb_argument *a, const struct nnb_memory *token)
{
	a->location = (struct nnb_location){ .pool = c->request.n_pools };
	c->pools[c->request.n_pools++] = *token;
}

static void put_in(struct call *c, struct nnb_argument *a, const struct nnb_buffer *buffer)
{
	put_into(c, a, nnb_buffer_memory(buffer));
}

static enum nnb_status run(const struct bench *b, struct call *c, struct nnb_reason *why)
{
	return nnb_execute(b->prepared, &c->request, c->shapes, why);
}

/* Execute with the buffer as input 0, or as output 0. */
static enum nnb_status as_input(const struct bench *b, const struct nnb_buffer *buffer, uint32_t rows,
                                struct nnb_reason *why)
{
	struct call c;

	call_init(&c, b, rows);
	put_in(&c, &c.in[0], buffer);
	return run(b, &c, why);
}

static enum nnb_status as_output(const struct bench *b, const struct nnb_buffer *buffer, float first, uint32_t rows,
                                 struct nnb_reason *why)
{
	struct call c;

	call_init(&c, b, rows);
	fill(b->x[0], rows * COLUMNS, first);
	put_in(&c, &c.out[0], buffer);
	return run(b, &c, why);
}

static struct nnb_execution *begun(const struct bench *b, const struct call *c)
{
	struct nnb_execution *e = NULL;

	expect(NONE, nnb_execution_begin(b->prepared, &c->request, NULL, false, NULL, &e, &why));
	return e;
}

static enum nnb_status finish_run(struct nnb_execution *e)
{
	bool finished = false;
	enum nnb_status status = nnb_execution_run(e, NULL, NULL, &finished);

	assert_true(finished);
	return status;
}

/* ---- the state machine (5.3): one buffer, step by step ---- */

enum act {
	NOTHING_MORE,
	COPY_FROM,          /* copy new numbers into the buffer */
	COPY_FROM_HALF,     /* copy in half a buffer */
	COPY_FROM_OTHER,    /* state other dimensions than the buffer's */
	COPY_FROM_UNMAPPED, /* from a memory that cannot be mapped */
	COPY_TO,            /* copy out, and check the content */
	COPY_TO_HALF,
	COPY_TO_UNMAPPED,
	INPUT,            /* input of an execution, whose output is checked */
	INPUTS,           /* both inputs */
	OUTPUT,           /* output of an execution with new inputs */
	INPUT_OF_FAILURE, /* input of an execution whose run fails */
	OUTPUT_OF_FAILURE,
	OUTPUT_UNBEGUN,    /* the driver cannot begin the run */
	OUTPUT_UNFINISHED, /* the execution is given up */
	OUTPUT_UNMAPPED,   /* another argument is in a memory that cannot be mapped */
	OUTPUT_TORN,       /* another argument is in a file that is truncated during the run */
	OUTPUT_INVALID,    /* another argument has an invalid location */
	OUTPUT_OF_NOTHING, /* the input is an uninitialised buffer */
	BOTH,              /* input and output of one execution */
	BOTH_OUTPUTS,
};

static const char *const act_names[] = {
	"nothing more",
	"copy from",
	"copy from half",
	"copy from, of other dimensions",
	"copy from what cannot be mapped",
	"copy to",
	"copy to half",
	"copy to what cannot be mapped",
	"input",
	"both inputs",
	"output",
	"input of a failure",
	"output of a failure",
	"output of what cannot begin",
	"output of what is given up",
	"output beside what cannot be mapped",
	"output beside what is torn",
	"output of what is invalid",
	"output of nothing",
	"input and output",
	"both outputs",
};

static const struct story {
	const char *name;
	struct step {
		enum act act;
		enum nnb_status want;
	} steps[8];
} stories[] = {
	{ "M-32: a new buffer is uninitialised", { { COPY_TO, GENERAL_FAILURE }, { INPUT, GENERAL_FAILURE } } },
	{ "M-31: a copy initialises it", { { COPY_FROM }, { COPY_TO }, { INPUT }, { COPY_TO }, { INPUT } } },
	{ "M-22: an output initialises it", { { OUTPUT }, { COPY_TO }, { INPUT }, { INPUTS }, { COPY_TO } } },
	{ "a buffer holds what was written last",
	  { { COPY_FROM }, { OUTPUT }, { COPY_TO }, { COPY_FROM }, { INPUT }, { OUTPUT }, { INPUT } } },
	{ "M-31: a copy of another size changes nothing",
	  { { COPY_FROM_HALF, INVALID_ARGUMENT },
	    { COPY_TO, GENERAL_FAILURE },
	    { COPY_FROM },
	    { COPY_FROM_HALF, INVALID_ARGUMENT },
	    { COPY_TO } } },
	{ "M-31: a copy of other dimensions changes nothing",
	  { { COPY_FROM_OTHER, INVALID_ARGUMENT },
	    { COPY_TO, GENERAL_FAILURE },
	    { COPY_FROM },
	    { COPY_FROM_OTHER, INVALID_ARGUMENT },
	    { COPY_TO } } },
	{ "5.3: a copy that fails leaves it uninitialised",
	  { { COPY_FROM },
	    { COPY_FROM_UNMAPPED, GENERAL_FAILURE },
	    { COPY_TO, GENERAL_FAILURE },
	    { INPUT, GENERAL_FAILURE },
	    { COPY_FROM },
	    { COPY_TO } } },
	{ "M-32: sizes are compared before anything else",
	  { { COPY_TO_HALF, INVALID_ARGUMENT }, { COPY_FROM }, { COPY_TO_HALF, INVALID_ARGUMENT }, { COPY_TO } } },
	{ "a copy to nowhere leaves it as it is",
	  { { COPY_FROM }, { COPY_TO_UNMAPPED, GENERAL_FAILURE }, { COPY_TO }, { INPUT } } },
	{ "5.3: an input of what fails stays as it is",
	  { { COPY_FROM }, { INPUT_OF_FAILURE, GENERAL_FAILURE }, { COPY_TO }, { INPUT } } },
	{ "section 11: the output of what fails is uninitialised",
	  { { COPY_FROM },
	    { OUTPUT_OF_FAILURE, GENERAL_FAILURE },
	    { COPY_TO, GENERAL_FAILURE },
	    { INPUT, GENERAL_FAILURE },
	    { OUTPUT },
	    { INPUT } } },
	{ "section 11: the output of what cannot begin is uninitialised",
	  { { COPY_FROM },
	    { OUTPUT_UNBEGUN, TRANSIENT },
	    { COPY_TO, GENERAL_FAILURE },
	    { INPUT, GENERAL_FAILURE },
	    { COPY_FROM },
	    { COPY_TO } } },
	{ "section 11: the output of what is given up is uninitialised",
	  { { OUTPUT },
	    { OUTPUT_UNFINISHED },
	    { COPY_TO, GENERAL_FAILURE },
	    { INPUT, GENERAL_FAILURE },
	    { OUTPUT },
	    { COPY_TO } } },
	{ "section 11: it is uninitialised if another argument cannot be mapped",
	  { { COPY_FROM },
	    { OUTPUT_UNMAPPED, GENERAL_FAILURE },
	    { COPY_TO, GENERAL_FAILURE },
	    { OUTPUT },
	    { COPY_TO } } },
	{ "section 11: it is uninitialised if another argument is torn",
	  { { COPY_FROM }, { OUTPUT_TORN, GENERAL_FAILURE }, { COPY_TO, GENERAL_FAILURE }, { OUTPUT }, { COPY_TO } } },
	{ "M-21: the output of what is invalid is as it was",
	  { { OUTPUT_INVALID, INVALID_ARGUMENT },
	    { COPY_TO, GENERAL_FAILURE },
	    { COPY_FROM },
	    { OUTPUT_INVALID, INVALID_ARGUMENT },
	    { COPY_TO } } },
	{ "M-21: the output of what lacks an input is as it was",
	  { { COPY_FROM }, { OUTPUT_OF_NOTHING, GENERAL_FAILURE }, { COPY_TO }, { INPUT } } },
	{ "M-20: a buffer cannot be input and output of one request",
	  { { BOTH, GENERAL_FAILURE }, { COPY_FROM }, { BOTH, INVALID_ARGUMENT }, { COPY_TO } } },
	{ "M-20: a buffer cannot be two outputs of one request",
	  { { BOTH_OUTPUTS, INVALID_ARGUMENT },
	    { COPY_TO, GENERAL_FAILURE },
	    { COPY_FROM },
	    { BOTH_OUTPUTS, INVALID_ARGUMENT },
	    { COPY_TO } } },
};

/* A memory whose file is empty, so that it cannot be mapped. */
static void unmapped(struct nnb_memory *ret)
{
	file_memory(ret, ROWS * COLUMNS * 4, PROT_READ | PROT_WRITE);
	assert_int_equal(ftruncate(ret->fds[0], 0), 0);
}

static enum nnb_status copy_unmapped(struct nnb_buffer *buffer, bool from, struct nnb_reason *why)
{
	enum nnb_status status;
	struct nnb_memory memory;

	unmapped(&memory);
	status = from ? nnb_buffer_copy_from(buffer, &memory, 0, NULL, why) : nnb_buffer_copy_to(buffer, &memory, why);
	nnb_memory_close(&memory);
	return status;
}

static enum nnb_status beside_a_file(const struct bench *b, const struct nnb_buffer *buffer, bool torn,
                                     struct nnb_reason *why)
{
	struct nnb_execution *e;
	struct nnb_memory file;
	enum nnb_status status;
	struct call c;

	call_init(&c, b, ROWS);
	put_in(&c, &c.out[0], buffer);
	file_memory(&file, ROWS * COLUMNS * 4, PROT_READ | PROT_WRITE);
	put_into(&c, &c.in[1], &file);
	c.in[1].location.length = ROWS * COLUMNS * 4;
	if (torn) {
		e = begun(b, &c);
		assert_int_equal(ftruncate(file.fds[0], 0), 0);
		status = finish_run(e);
		nnb_execution_end(e);
		nnb_because(why, "torn");
	} else {
		assert_int_equal(ftruncate(file.fds[0], 0), 0);
		status = run(b, &c, why);
	}
	nnb_memory_close(&file);
	return status;
}

static enum nnb_status of_nothing(const struct bench *b, const struct nnb_buffer *buffer, struct nnb_reason *why)
{
	struct nnb_buffer *nothing = buffer_of(b);
	enum nnb_status status;
	struct call c;

	call_init(&c, b, ROWS);
	put_in(&c, &c.in[1], nothing);
	put_in(&c, &c.out[0], buffer);
	status = run(b, &c, why);
	nnb_buffer_unref(nothing);
	return status;
}

static enum nnb_status given_up(const struct bench *b, const struct nnb_buffer *buffer)
{
	struct call c;

	call_init(&c, b, ROWS);
	put_in(&c, &c.out[0], buffer);
	nnb_execution_end(begun(b, &c));
	return NONE;
}

static enum nnb_status in_two_places(const struct bench *b, const struct nnb_buffer *buffer, enum act act,
                                     struct nnb_reason *why)
{
	struct call c;

	call_init(&c, b, ROWS);
	put_in(&c, act == INPUTS ? &c.in[1] : &c.out[0], buffer);
	put_in(&c, act == BOTH_OUTPUTS ? &c.out[1] : &c.in[0], buffer); /* the same buffer, by another pool */
	return run(b, &c, why);
}

static enum nnb_status invalid(const struct bench *b, const struct nnb_buffer *buffer, struct nnb_reason *why)
{
	struct call c;

	call_init(&c, b, ROWS);
	put_in(&c, &c.out[0], buffer);
	c.in[1].location.offset = UINT32_MAX - 3;
	return run(b, &c, why);
}

static enum nnb_status copy_from_other(struct nnb_buffer *buffer, struct nnb_reason *why)
{
	static const uint32_t other[] = { COLUMNS, ROWS };
	enum nnb_status status;
	struct nnb_memory memory;

	new_memory(&memory, ROWS * COLUMNS * 4);
	status = nnb_buffer_copy_from(buffer, &memory, 2, other, why);
	nnb_memory_close(&memory);
	return status;
}

/* @next: the first number to write, if the act writes. */
static enum nnb_status act_out(const struct bench *b, struct nnb_buffer *buffer, enum act act, float next,
                               struct nnb_reason *why)
{
	float is[TENSOR / 4];

	switch (act) {
	case COPY_FROM:
		return copy_from(buffer, next, ROWS, 0, why);
	case COPY_FROM_HALF:
		return copy_from(buffer, next, ROWS / 2, 0, why);
	case COPY_FROM_OTHER:
		return copy_from_other(buffer, why);
	case COPY_FROM_UNMAPPED:
	case COPY_TO_UNMAPPED:
		return copy_unmapped(buffer, act == COPY_FROM_UNMAPPED, why);
	case COPY_TO_HALF:
	case COPY_TO:
		return copy_to(buffer, is, act == COPY_TO ? ROWS : ROWS / 2, why);
	case INPUT:
	case INPUT_OF_FAILURE:
		return as_input(b, buffer, ROWS, why);
	case OUTPUT:
	case OUTPUT_OF_FAILURE:
	case OUTPUT_UNBEGUN:
		return as_output(b, buffer, next / 2, ROWS, why);
	case OUTPUT_UNFINISHED:
		return given_up(b, buffer);
	case OUTPUT_UNMAPPED:
	case OUTPUT_TORN:
		return beside_a_file(b, buffer, act == OUTPUT_TORN, why);
	case OUTPUT_INVALID:
		return invalid(b, buffer, why);
	case OUTPUT_OF_NOTHING:
		return of_nothing(b, buffer, why);
	default:
		return in_two_places(b, buffer, act, why);
	}
}

/* Check the buffer's content, (first + i) * times, or the outputs of an execution that read it. */
static void check_content(const struct bench *b, struct nnb_buffer *buffer, enum act act, float first, float times)
{
	if (act == COPY_TO)
		expect_holds(buffer, first, times, ROWS);
	if (act == INPUT || act == INPUTS)
		expect_filled(b->y[0], ROWS * COLUMNS, first, 2 * times);
	if (act == INPUTS)
		expect_filled(b->y[1], ROWS * COLUMNS, first, 2 * times);
}

static void play_story(const struct story *story, const char *driver)
{
	float first = 0, times = 1;
	struct nnb_buffer *buffer;
	struct bench b;

	bench_init(&b, driver, 2, ROWS);
	buffer = buffer_of(&b);
	for (size_t i = 0; i < N_OF(story->steps) && story->steps[i].act; i++) {
		const struct step *step = &story->steps[i];
		float next = 10 * (float)(i + 1);
		struct nnb_reason why = { "" };
		enum nnb_status status;

		if (step->act == OUTPUT_OF_FAILURE || step->act == INPUT_OF_FAILURE)
			atomic_store(&b.seen->run_ends, GENERAL_FAILURE);
		if (step->act == OUTPUT_UNBEGUN)
			atomic_store(&b.seen->run_begins, TRANSIENT);
		status = act_out(&b, buffer, step->act, next, &why);
		atomic_store(&b.seen->run_ends, NONE);
		atomic_store(&b.seen->run_begins, NONE);
		if (status != step->want)
			fail_msg("step %zu, %s: %s (%s), not %s", i, act_names[step->act], nnb_status_name(status),
			         why.text, nnb_status_name(step->want));
		if (!status && (step->act == COPY_FROM || step->act == OUTPUT)) {
			times = step->act == OUTPUT ? 2 : 1;
			first = next / times;
		}
		if (!status)
			check_content(&b, buffer, step->act, first, times);
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* cmocka replaces the SIGBUS handler for each test; restore the library's handler. */
static struct sigaction of_the_library;

static void row_of_acts_has_its_results(void **state)
{
	sigaction(SIGBUS, &of_the_library, NULL);
	play_story(*state, scrambled);
}

/* ---- uses of a buffer during another use (M-11) ---- */

enum use { READING_RUN, WRITING_RUN, READING_COPY, WRITING_COPY, N_USES };
static const char *const use_names[] = { "an input", "an output", "copied to memory", "copied from memory" };

static bool writes(enum use use)
{
	return use == WRITING_RUN || use == WRITING_COPY;
}

struct meeting {
	struct bench b;
	struct nnb_buffer *buffer;
	enum use first, second;
	unsigned met;
};

/* A second use, while the first one is under way, is refused at once or succeeds, whichever use it is. */
static void second_use(void *arg)
{
	struct meeting *m = arg;
	enum nnb_status want = writes(m->first) || writes(m->second) ? GENERAL_FAILURE : NONE;
	float is[TENSOR / 4];

	if (m->b.seen)
		m->b.seen->in_copy = NULL; /* the second use must not start a third */
	m->met++;
	if (m->second == READING_RUN)
		expect(want, as_input(&m->b, m->buffer, ROWS, &why));
	else if (m->second == WRITING_RUN)
		expect(want, as_output(&m->b, m->buffer, 7777, ROWS, &why));
	else if (m->second == READING_COPY)
		expect(want, copy_to(m->buffer, is, ROWS, &why));
	else
		expect(want, copy_from(m->buffer, 7777, ROWS, 0, &why));
}

static void second_use_in_run(struct meeting *m)
{
	struct nnb_execution *e;
	struct call c;

	call_init(&c, &m->b, ROWS);
	put_in(&c, m->first == READING_RUN ? &c.in[0] : &c.out[0], m->buffer);
	e = begun(&m->b, &c);
	second_use(m);
	fill(m->b.x[0], ROWS * COLUMNS, 100);
	expect_status(NONE, finish_run(e));
	nnb_execution_end(e);
}

static void second_use_in_copy(struct meeting *m)
{
	float is[TENSOR / 4];

	m->b.seen->arg = m;
	m->b.seen->in_copy = second_use;
	if (m->first == READING_COPY)
		expect(NONE, copy_to(m->buffer, is, ROWS, &why));
	else
		expect(NONE, copy_from(m->buffer, 200, ROWS, 0, &why));
}

static struct meeting meetings[N_USES * N_USES];

static void a_second_use_is_refused_at_once_or_succeeds(void **state)
{
	struct meeting *m = *state;

	bench_init(&m->b, scrambled, 2, ROWS);
	m->buffer = buffer_of(&m->b);
	expect(NONE, copy_from(m->buffer, 100, ROWS, 0, &why));
	if (m->first == READING_RUN || m->first == WRITING_RUN)
		second_use_in_run(m);
	else
		second_use_in_copy(m);
	assert_int_equal(m->met, 1);
	/* as if the second use had not been tried */
	expect_holds(m->buffer, writes(m->first) && m->first == WRITING_COPY ? 200 : 100,
	             m->first == WRITING_RUN ? 2 : 1, ROWS);
	expect(NONE, copy_from(m->buffer, 5, ROWS, 0, &why)); /* the first use has ended */
	expect_holds(m->buffer, 5, 1, ROWS);
	nnb_buffer_unref(m->buffer);
	bench_fini(&m->b);
}

/* An execution that uses several buffers gets all or none. */
static void a_refused_request_leaves_its_other_buffers_alone(void **state)
{
	struct nnb_buffer *one, *other, *input;
	struct nnb_execution *e;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	one = buffer_of(&b);
	other = buffer_of(&b);
	input = buffer_of(&b);
	expect(NONE, copy_from(one, 1, ROWS, 0, &why));
	expect(NONE, copy_from(other, 2, ROWS, 0, &why));
	expect(NONE, copy_from(input, 3, ROWS, 0, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], other);
	e = begun(&b, &c);
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], input);
	put_in(&c, &c.out[0], one);
	put_in(&c, &c.out[1], other);
	expect(GENERAL_FAILURE, run(&b, &c, &why));
	expect_holds(one, 1, 1, ROWS);
	expect_holds(other, 2, 1, ROWS);
	expect(NONE, copy_from(input, 4, ROWS, 0, &why)); /* the refused request does not read this buffer any more */
	expect(NONE, copy_from(one, 5, ROWS, 0, &why));
	nnb_execution_end(e);
	expect(NONE, run(&b, &c, &why));
	expect_holds(one, 4, 2, ROWS);
	expect_holds(other, 100 * 2, 2, ROWS);
	nnb_buffer_unref(one);
	nnb_buffer_unref(other);
	nnb_buffer_unref(input);
	bench_fini(&b);
}

static const struct lack_row {
	const char *name;
	bool filled, written, read; /* input 0 has content; a run writes input 0; a run reads output 0 */
} lack_rows[] = {
	{ "an input that is uninitialised", .filled = false },
	{ "an input that is being written", .written = true },
	{ "an output that is being read", .filled = true, .read = true },
};

/* M-21: the service reports a missing buffer before a memory that it cannot map, and changes nothing. */
static void a_missing_buffer_is_reported_before_an_unmappable_memory(void **state)
{
	const struct lack_row *row = *state;
	struct nnb_execution *e = NULL;
	struct nnb_buffer *in, *out;
	struct nnb_memory file;
	struct call c, other;
	struct bench b;

	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	unmapped(&file);
	expect(NONE, copy_from(out, 7, ROWS, 0, &why));
	if (row->filled)
		expect(NONE, copy_from(in, 3, ROWS, 0, &why));
	call_init(&other, &b, ROWS);
	if (row->written)
		put_in(&other, &other.out[0], in);
	if (row->read)
		put_in(&other, &other.in[0], out);
	if (row->written || row->read)
		e = begun(&b, &other);
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], in);
	put_in(&c, &c.out[0], out);
	put_into(&c, &c.in[1], &file);
	c.in[1].location.length = ROWS * COLUMNS * 4;
	expect(GENERAL_FAILURE, run(&b, &c, &why));
	nnb_execution_end(e);
	expect_holds(out, 7, 1, ROWS);
	expect(NONE, copy_from(in, 3, ROWS, 0, &why)); /* now only the mapping is missing */
	expect(GENERAL_FAILURE, run(&b, &c, &why));
	expect_uninitialised(out, ROWS);
	expect_holds(in, 3, 1, ROWS);
	nnb_memory_close(&file);
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	bench_fini(&b);
}

/* A copy that fails does not end the use of a reader. */
static void a_copy_that_fails_leaves_a_reader_alone(void **state)
{
	struct nnb_buffer *buffer;
	struct nnb_execution *e;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	expect(NONE, copy_from(buffer, 7, ROWS, 0, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], buffer);
	e = begun(&b, &c);
	expect(GENERAL_FAILURE, copy_unmapped(buffer, true, &why));
	expect_holds(buffer, 7, 1, ROWS);
	expect_status(NONE, finish_run(e));
	expect_filled(b.y[0], ROWS * COLUMNS, 7, 2);
	nnb_execution_end(e);
	expect_holds(buffer, 7, 1, ROWS);
	expect(GENERAL_FAILURE, copy_unmapped(buffer, true, &why));
	expect_uninitialised(buffer, ROWS);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/*
 * An execution that has finished, but not ended, uses no buffer: a burst keeps its executions for the next
 * request.
 */
static void an_execution_that_has_finished_uses_nothing(void **state)
{
	struct nnb_execution *e;
	struct nnb_buffer *buffer;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	call_init(&c, &b, ROWS);
	put_in(&c, &c.out[0], buffer);
	e = begun(&b, &c);
	expect_status(NONE, finish_run(e));
	expect_holds(buffer, 100, 2, ROWS);
	expect(NONE, copy_from(buffer, 8, ROWS, 0, &why));
	nnb_execution_end(e);
	expect_holds(buffer, 8, 1, ROWS); /* the end of the execution changes nothing */
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* An execution that is over, however it ended, has no buffers to restart on. */
static void an_execution_that_is_over_does_not_start_again(void **state)
{
	struct nnb_buffer *buffer;
	struct nnb_execution *e;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	for (unsigned fails = 0; fails < 2; fails++) {
		call_init(&c, &b, ROWS);
		put_in(&c, &c.out[0], buffer);
		e = begun(&b, &c);
		atomic_store(&b.seen->run_ends, fails ? GENERAL_FAILURE : NONE);
		expect_status(fails ? GENERAL_FAILURE : NONE, finish_run(e));
		atomic_store(&b.seen->run_ends, NONE);
		expect(NONE, copy_from(buffer, 8, ROWS, 0, &why));
		assert_int_equal(nnb_execution_restart(e), GENERAL_FAILURE);
		expect_status(GENERAL_FAILURE, finish_run(e));
		nnb_execution_end(e);
		expect_holds(buffer, 8, 1, ROWS);
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

static bool stop(void *arg, uint32_t next_op)
{
	(void)arg;
	(void)next_op;
	return false;
}

/* A preempted execution keeps its buffers until it goes on or restarts. */
static void an_execution_that_is_preempted_keeps_its_buffers(void **state)
{
	struct nnb_buffer *in, *out;
	struct nnb_execution *e;
	struct call c;
	struct bench b;
	bool finished;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	expect(NONE, copy_from(in, 3, ROWS, 0, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], in);
	put_in(&c, &c.out[0], out);
	e = begun(&b, &c);
	for (int over = 0; over < 2; over++) {
		assert_int_equal(nnb_execution_run(e, stop, NULL, &finished), NONE);
		assert_false(finished);
		expect(GENERAL_FAILURE, copy_from(in, 4, ROWS, 0, &why));
		expect(GENERAL_FAILURE, as_input(&b, out, ROWS, &why));
		expect_holds(in, 3, 1, ROWS);
		if (!over)
			assert_int_equal(nnb_execution_restart(e), NONE);
	}
	expect_status(NONE, finish_run(e));
	nnb_execution_end(e);
	expect_holds(out, 3, 2, ROWS);
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	bench_fini(&b);
}

/* An execution that restarts on other buffers releases the first ones. */
static void an_execution_that_begins_again_uses_its_new_buffers(void **state)
{
	struct nnb_buffer *one, *other;
	struct nnb_execution *e;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	one = buffer_of(&b);
	other = buffer_of(&b);
	expect(NONE, copy_from(one, 1, ROWS, 0, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.out[0], one);
	e = begun(&b, &c);
	call_init(&c, &b, ROWS);
	put_in(&c, &c.out[0], other);
	expect(NONE, nnb_execution_again(e, &c.request, NULL, false, NULL, &why));
	expect_uninitialised(one, ROWS);
	expect(GENERAL_FAILURE, copy_from(other, 1, ROWS, 0, &why));
	expect(NONE, copy_from(one, 1, ROWS, 0, &why));
	expect_status(NONE, finish_run(e));
	expect_holds(other, 100, 2, ROWS);
	c.request.n_inputs = 1;
	expect(INVALID_ARGUMENT, nnb_execution_again(e, &c.request, NULL, false, NULL, &why));
	expect_holds(other, 100, 2, ROWS);
	nnb_execution_end(e);
	nnb_buffer_unref(one);
	nnb_buffer_unref(other);
	bench_fini(&b);
}

/* ---- tokens ---- */

static void tokens_are_not_0_and_all_differ(void **state)
{
	enum { MANY = 1000 };
	struct nnb_buffer *buffers[MANY];
	uint64_t tokens[2 * MANY], bits = 0;
	struct nnb_mapping *mapping;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	for (int round = 0; round < 2; round++) { /* tokens of the first round are gone, and do not come back */
		for (int i = 0; i < MANY; i++) {
			const struct nnb_memory *m;

			buffers[i] = buffer_of(&b);
			m = nnb_buffer_memory(buffers[i]);
			assert_int_equal(nnb_memory_kind(m), NNB_MEMORY_TOKEN);
			assert_int_equal(nnb_memory_check(m), 0);
			assert_true(m->n_fds == 0 && m->size == 0);
			assert_int_equal(nnb_map(&mapping, m), -ENOTSUP);
			tokens[round * MANY + i] = token_of(buffers[i]);
			bits |= token_of(buffers[i]);
		}
		for (int i = 0; i < MANY; i++)
			nnb_buffer_unref(buffers[i]);
	}
	qsort(tokens, N_OF(tokens), sizeof(*tokens), by_number);
	assert_true(tokens[0] != 0);
	for (size_t i = 1; i < N_OF(tokens); i++)
		assert_true(tokens[i] != tokens[i - 1]);
	assert_true(bits == UINT64_MAX); /* a counter's high bits would stay 0 */
	bench_fini(&b);
}

/* Expect that the token is refused as input and as output. */
static void expect_means_nothing(const struct bench *b, const struct nnb_memory *token)
{
	for (int output = 0; output < 2; output++) {
		struct call c;

		call_init(&c, b, ROWS);
		put_into(&c, output ? &c.out[0] : &c.in[0], token);
		expect(INVALID_ARGUMENT, run(b, &c, &why));
	}
}

static void an_invented_token_is_refused(void **state)
{
	struct nnb_buffer *buffer, *elsewhere;
	struct nnb_memory token;
	struct bench b, other;
	uint64_t real;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	bench_init(&other, "xnnpack", 2, ROWS);
	buffer = buffer_of(&b);
	elsewhere = buffer_of(&other);
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
	expect(NONE, copy_from(elsewhere, 1, ROWS, 0, &why));
	real = token_of(buffer);
	for (unsigned bit = 0; bit < 64; bit++) {
		nnb_memory_token(&token, real ^ UINT64_C(1) << bit);
		expect_means_nothing(&b, &token);
	}
	for (uint64_t guess = 0; guess < 256; guess++) {
		nnb_memory_token(&token, guess);
		expect_means_nothing(&b, &token);
	}
	expect_means_nothing(&b, nnb_buffer_memory(elsewhere)); /* the buffer is of another device */
	expect_holds(buffer, 1, 1, ROWS);
	nnb_buffer_unref(buffer);
	expect_means_nothing(&b, (nnb_memory_token(&token, real), &token));
	nnb_buffer_unref(elsewhere);
	bench_fini(&other);
	bench_fini(&b);
}

/* M-20: a buffer is an argument as a whole. */
static const struct place_row {
	const char *name;
	struct nnb_location location;
	enum nnb_status want;
} place_rows[] = {
	{ "no offset and no length", { .pool = 1 } },
	{ "an offset", { 1, 4, 0 }, INVALID_ARGUMENT },
	{ "its length", { 1, 0, ROWS *COLUMNS * 4 }, INVALID_ARGUMENT },
	{ "a length that is not its own", { 1, 0, 1 }, INVALID_ARGUMENT },
	{ "offset and length", { 1, 4, 4 }, INVALID_ARGUMENT },
	{ "the largest of both", { 1, UINT32_MAX, UINT32_MAX }, INVALID_ARGUMENT },
};

static void a_buffer_is_an_argument_as_a_whole(void **state)
{
	const struct place_row *row = *state;
	struct nnb_buffer *buffer;
	struct bench b;

	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	for (int output = 0; output < 2; output++) {
		struct call c;
		struct nnb_argument *a = output ? &c.out[0] : &c.in[0];

		expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
		call_init(&c, &b, ROWS);
		put_in(&c, a, buffer);
		a->location = row->location;
		expect(row->want, run(&b, &c, &why));
		expect_holds(buffer, output && !row->want ? 100 : 1, output && !row->want ? 2 : 1, ROWS);
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* A pool that no argument refers to is not used. */
static void a_pool_without_an_argument_is_not_used(void **state)
{
	struct nnb_buffer *buffer;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	call_init(&c, &b, ROWS);
	c.pools[c.request.n_pools++] = *nnb_buffer_memory(buffer); /* the buffer is uninitialised */
	expect(NONE, run(&b, &c, &why));
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
	expect(NONE, run(&b, &c, &why));
	expect_holds(buffer, 1, 1, ROWS);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* ---- roles ---- */

/* M-3, M-20: an equal model is a different model, even where it takes the freed model's address. */
static void a_role_is_for_one_prepared_model_and_not_for_an_equal_one(void **state)
{
	enum { TRIES = 16 };
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
	for (int i = 0; i < TRIES; i++) {
		struct nnb_prepared *old = b.prepared;

		if (i % 2) /* both orders must occur */
			old = nnb_prepared_unref(old);
		b.prepared = prepared_doubles(b.device, 2, ROWS);
		nnb_prepared_unref(old);
		expect_means_nothing(&b, nnb_buffer_memory(buffer));
	}
	expect_holds(buffer, 1, 1, ROWS);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

static const struct role_row {
	const char *name;
	struct nnb_buffer_role inputs[2], outputs[2];
	uint32_t n_inputs, n_outputs;
	bool may[4]; /* whether the buffer may be input 0, input 1, output 0, output 1 */
} role_rows[] = {
	{ "input 0", { { 0, 0, 1 } }, { { 0 } }, 1, 0, { true, false, false, false } },
	{ "input 1", { { 0, 1, 1 } }, { { 0 } }, 1, 0, { false, true, false, false } },
	{ "output 0", { { 0 } }, { { 0, 0, 1 } }, 0, 1, { false, false, true, false } },
	{ "output 1", { { 0 } }, { { 0, 1, 0.5F } }, 0, 1, { false, false, false, true } },
	{ "input 0 and output 1", { { 0, 0, 1 } }, { { 0, 1, 1 } }, 1, 1, { true, false, false, true } },
	{ "both inputs", { { 0, 1, 1 }, { 0, 0, 1e-30F } }, { { 0 } }, 2, 0, { true, true, false, false } },
};

static void a_buffer_can_be_used_in_its_roles_only(void **state)
{
	const struct role_row *row = *state;
	const struct nnb_buffer_desc desc = {
		.inputs = row->inputs, .outputs = row->outputs, .n_inputs = row->n_inputs, .n_outputs = row->n_outputs
	};
	struct nnb_buffer *buffer = NULL;
	struct bench b;

	bench_init(&b, scrambled, 2, ROWS);
	expect(NONE, nnb_buffer_new(&buffer, b.device, &b.prepared, 1, &desc, &why));
	for (int i = 0; i < 4; i++) {
		struct call c;

		expect(NONE, copy_from(buffer, 1, ROWS, 0, &why)); /* with any roles */
		call_init(&c, &b, ROWS);
		put_in(&c, i < 2 ? &c.in[i] : &c.out[i - 2], buffer);
		expect(row->may[i] ? NONE : INVALID_ARGUMENT, run(&b, &c, &why));
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

static void more_roles_than_allowed_are_refused(void **state)
{
	struct nnb_buffer_role roles[NNB_BUFFER_ROLES_MAX + 1];
	struct nnb_prepared *models[N_OF(roles) / 2 + 1];
	struct nnb_buffer_desc desc = { .inputs = roles };
	struct nnb_buffer *buffer = NULL;
	struct bench b;

	(void)state;
	bench_init(&b, "null", 2, ROWS);
	for (size_t i = 0; i < N_OF(models); i++)
		models[i] = prepared_doubles(b.device, 2, ROWS);
	for (uint32_t i = 0; i < N_OF(roles); i++)
		roles[i] = (struct nnb_buffer_role){ i / 2, i % 2, 1 };
	desc.n_inputs = N_OF(roles);
	expect(INVALID_ARGUMENT, nnb_buffer_new(&buffer, b.device, models, N_OF(models), &desc, &why));
	assert_null(buffer);
	desc.n_inputs = UINT32_MAX;
	expect(INVALID_ARGUMENT, nnb_buffer_new(&buffer, b.device, models, N_OF(models), &desc, &why));
	assert_null(buffer);
	desc.n_inputs = NNB_BUFFER_ROLES_MAX;
	expect(NONE, nnb_buffer_new(&buffer, b.device, models, N_OF(models), &desc, &why));
	nnb_buffer_unref(buffer);
	for (size_t i = 0; i < N_OF(models); i++)
		nnb_prepared_unref(models[i]);
	bench_fini(&b);
}

/* ---- lives ---- */

static void every_reference_keeps_the_buffer(void **state)
{
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	assert_ptr_equal(nnb_buffer_ref(buffer), buffer);
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
	assert_null(nnb_buffer_unref(buffer));
	expect_holds(buffer, 1, 1, ROWS);
	expect(NONE, as_input(&b, buffer, ROWS, &why));
	assert_null(nnb_buffer_unref(buffer));
	assert_null(nnb_buffer_unref(NULL));
	bench_fini(&b);
}

/* M-8: the token is invalid at once, but the memory stays as long as an execution uses it. */
static void a_buffer_freed_in_use_lives_until_its_last_use(void **state)
{
	struct nnb_buffer *in, *out;
	struct nnb_memory token;
	struct nnb_execution *e;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	expect(NONE, copy_from(in, 5, ROWS, 0, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.in[0], in);
	put_in(&c, &c.out[1], out);
	e = begun(&b, &c);
	nnb_memory_token(&token, token_of(in));
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	expect_means_nothing(&b, &token);
	assert_int_equal(atomic_load(&b.seen->freed), 0);
	fill(b.x[1], ROWS * COLUMNS, 200);
	expect_status(NONE, finish_run(e));
	expect_filled(b.y[0], ROWS * COLUMNS, 5, 2);
	nnb_execution_end(e);
	assert_int_equal(atomic_load(&b.seen->freed), 2);
	bench_fini(&b);
}

/* The owners of a buffer's device may be freed in any order. */
static void a_buffer_keeps_its_device(void **state)
{
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	buffer = buffer_of(&b);
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why));
	b.prepared = nnb_prepared_unref(b.prepared);
	nnb_device_unref(b.device);
	expect_holds(buffer, 1, 1, ROWS);
	b.device = NULL;
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* ---- shapes that are unknown at first (M-10, M-31, M-33) ---- */

static const struct {
	uint32_t rank, rows;
} unknown_extents[] = { { 2, 0 }, { 0, 0 } }; /* one extent is unknown; all of them are */

static void each_output_may_have_another_shape(void **state)
{
	static const uint32_t shapes[] = { 2, ROWS_MAX, 1, 3 };
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	for (size_t k = 0; k < N_OF(unknown_extents); k++) {
		bench_init(&b, scrambled, unknown_extents[k].rank, unknown_extents[k].rows);
		buffer = buffer_of(&b);
		for (size_t i = 0; i < N_OF(shapes); i++) {
			float first = (float)(10 * i);

			expect(NONE, as_output(&b, buffer, first, shapes[i], &why));
			expect(INVALID_ARGUMENT, as_input(&b, buffer, shapes[i] + 1, &why));
			expect(NONE, as_input(&b, buffer, shapes[i], &why));
			expect_filled(b.y[0], shapes[i] * COLUMNS, first, 4);
			expect_holds(buffer, first, 2, shapes[i]);
		}
		nnb_buffer_unref(buffer);
		bench_fini(&b);
	}
}

static void each_copy_may_have_another_shape(void **state)
{
	static const uint32_t shapes[] = { 2, ROWS_MAX, 1, 3 };
	float is[TENSOR / 4];
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	for (size_t k = 0; k < N_OF(unknown_extents); k++) {
		bench_init(&b, scrambled, unknown_extents[k].rank, unknown_extents[k].rows);
		buffer = buffer_of(&b);
		for (size_t i = 0; i < N_OF(shapes); i++) {
			float first = (float)(10 * i);

			expect(NONE, copy_from(buffer, first, shapes[i], 2, &why));
			/* without dimensions the shape is unknown */
			expect(INVALID_ARGUMENT, copy_from(buffer, 99, shapes[i], 0, &why));
			expect(INVALID_ARGUMENT, copy_to(buffer, is, shapes[i] + 1, &why));
			expect_holds(buffer, first, 1, shapes[i]);
			expect(INVALID_ARGUMENT, as_input(&b, buffer, shapes[i] + 1, &why));
			expect(NONE, as_input(&b, buffer, shapes[i], &why));
			expect_filled(b.y[0], shapes[i] * COLUMNS, first, 2);
		}
		nnb_buffer_unref(buffer);
		bench_fini(&b);
	}
}

/* Execute a request that does not state the output's shape; as_output states it. */
static enum nnb_status as_silent_output(const struct bench *b, const struct nnb_buffer *buffer, uint32_t rows,
                                        struct call *c, struct nnb_reason *why)
{
	call_init(c, b, rows);
	put_in(c, &c->out[0], buffer);
	c->out[0].rank = 0;
	return run(b, c, why);
}

static void an_output_has_the_shape_that_the_run_gives(void **state)
{
	struct nnb_buffer *buffer;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, 0);
	buffer = buffer_of(&b);
	for (uint32_t rows = 1; rows < 5; rows++) {
		expect(NONE, as_silent_output(&b, buffer, rows, &c, &why));
		assert_true(c.shapes[0].rank == 2 && c.shapes[0].dims[0] == rows && c.shapes[0].sufficient);
		expect_holds(buffer, 100, 2, rows);
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* An input has the shape that was written last, where the request states none. */
static void an_input_has_the_shape_that_was_written_last(void **state)
{
	struct nnb_buffer *buffer;
	struct call c;
	struct bench b;

	(void)state;
	for (size_t k = 0; k < N_OF(unknown_extents); k++) {
		bench_init(&b, scrambled, unknown_extents[k].rank, unknown_extents[k].rows);
		buffer = buffer_of(&b);
		for (uint32_t rows = 1; rows < 5; rows++) {
			expect(NONE, copy_from(buffer, 7, rows, 2, &why));
			call_init(&c, &b, rows);
			put_in(&c, &c.in[0], buffer);
			c.in[0].rank = c.out[0].rank = 0;
			c.out[0].location.length += 4; /* there may be room for more */
			expect(NONE, run(&b, &c, &why));
			assert_true(c.shapes[0].rank == 2 && c.shapes[0].dims[0] == rows && c.shapes[0].sufficient);
			expect_filled(b.y[0], rows * COLUMNS, 7, 2);
			c.out[0].location.length = rows * COLUMNS * 4 - 4;
			expect(NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE, run(&b, &c, &why));
		}
		nnb_buffer_unref(buffer);
		bench_fini(&b);
	}
}

/* M-22: the buffer cannot have the output's shape. That is a failure, not a lack of room. */
static void an_output_of_a_shape_that_the_buffer_cannot_have_is_a_failure(void **state)
{
	struct nnb_buffer *buffer = NULL;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, 0);
	expect(NONE, allocate(&buffer, &b, 2, ROWS, &why));
	expect(NONE, copy_from(buffer, 1, ROWS, 0, &why)); /* all extents are known */
	expect(INVALID_ARGUMENT, as_output(&b, buffer, 1, ROWS + 1, &why));
	expect_holds(buffer, 1, 1, ROWS);
	expect(GENERAL_FAILURE, as_silent_output(&b, buffer, ROWS + 1, &c, &why));
	expect_uninitialised(buffer, ROWS);
	expect(GENERAL_FAILURE, as_silent_output(&b, buffer, ROWS - 1, &c, &why));
	expect(NONE, as_silent_output(&b, buffer, ROWS, &c, &why));
	expect_holds(buffer, 100, 2, ROWS);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* P-31, section 11: another output lacks room, and its needed size is reported; the buffer stays uninitialised. */
static void a_run_that_lacks_room_leaves_its_output_buffer_uninitialised(void **state)
{
	struct nnb_buffer *buffer;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, 0);
	buffer = buffer_of(&b);
	expect(NONE, copy_from(buffer, 1, ROWS, 2, &why));
	call_init(&c, &b, ROWS);
	put_in(&c, &c.out[0], buffer);
	c.out[1].rank = 0;
	c.out[1].location.length = 4;
	expect(NNB_STATUS_OUTPUT_INSUFFICIENT_SIZE, run(&b, &c, &why));
	assert_true(c.shapes[0].sufficient && c.shapes[0].dims[0] == ROWS);
	assert_true(!c.shapes[1].sufficient && c.shapes[1].dims[0] == ROWS);
	expect(INVALID_ARGUMENT, copy_from(buffer, 1, ROWS, 0, &why));
	expect(GENERAL_FAILURE, as_input(&b, buffer, ROWS, &why));
	expect(NONE, as_output(&b, buffer, 4, ROWS + 1, &why));
	expect_holds(buffer, 4, 2, ROWS + 1);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* M-33: a buffer of unknown size has no memory until its size is known. */
static void a_buffer_of_unknown_size_takes_no_memory_until_it_is_written(void **state)
{
	struct nnb_buffer *buffer;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, 0);
	buffer = buffer_of(&b);
	assert_int_equal(atomic_load(&b.seen->made), 0);
	expect(NONE, copy_from(buffer, 1, ROWS, 2, &why));
	assert_int_equal(atomic_load(&b.seen->made), 1);
	for (int i = 0; i < 2; i++) { /* written by a copy, and by an execution */
		atomic_store(&b.seen->refuses, -ENOMEM);
		if (i)
			expect(TRANSIENT, as_output(&b, buffer, 1, ROWS_MAX, &why));
		else
			expect(TRANSIENT, copy_from(buffer, 1, ROWS_MAX, 2, &why));
		expect(GENERAL_FAILURE, as_input(&b, buffer, ROWS_MAX, &why));
		atomic_store(&b.seen->refuses, 0);
		expect(NONE, as_output(&b, buffer, 6, ROWS, &why));
		expect_holds(buffer, 6, 2, ROWS);
	}
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* ---- drivers ---- */

static void a_driver_may_have_no_memory_domains(void **state)
{
	struct nnb_buffer *buffer = NULL;
	struct bench b;

	(void)state;
	bench_init(&b, bare, 2, ROWS);
	expect(GENERAL_FAILURE, allocate(&buffer, &b, 0, 0, &why));
	assert_null(buffer);
	/* an invalid description is reported before a driver without buffers */
	expect(INVALID_ARGUMENT, allocate(&buffer, &b, 2, ROWS + 1, &why));
	assert_null(buffer);
	bench_fini(&b);
}

static const struct refusal_row {
	const char *name;
	int says;
	enum nnb_status want;
} refusal_rows[] = {
	{ "has no memory", -ENOMEM, TRANSIENT },
	{ "will not", -ENOTSUP, GENERAL_FAILURE },
	{ "is broken", -EIO, GENERAL_FAILURE },
};

static void a_driver_may_refuse(void **state)
{
	const struct refusal_row *row = *state;
	struct nnb_buffer *buffer = NULL;
	struct bench b;

	bench_init(&b, scrambled, 2, ROWS);
	atomic_store(&b.seen->refuses, row->says);
	expect(row->want, allocate(&buffer, &b, 0, 0, &why));
	assert_null(buffer);
	atomic_store(&b.seen->refuses, 0);
	buffer = buffer_of(&b);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* M-1: the driver alone decides on a buffer's layout; other code does not touch the content. */
static void place_and_layout_are_the_drivers(void **state)
{
	struct nnb_buffer *a, *c;
	struct call call;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	a = buffer_of(&b);
	c = buffer_of(&b);
	expect(NONE, copy_from(a, 3, ROWS, 0, &why));
	assert_int_equal(atomic_load(&b.seen->written), 1);
	for (int i = 0; i < 3; i++) { /* 3, 6, 12, 24: from one buffer to the other and back */
		call_init(&call, &b, ROWS);
		put_in(&call, &call.in[i % 2], i % 2 ? c : a);
		put_in(&call, &call.out[i % 2], i % 2 ? a : c);
		expect(NONE, run(&b, &call, &why));
		/* the other outputs are unchanged */
		expect_filled(b.y[!(i % 2)], ROWS * COLUMNS, i % 2 ? 100 : 200, 2);
	}
	assert_int_equal(atomic_load(&b.seen->inputs_kept), 3);
	assert_int_equal(atomic_load(&b.seen->outputs_kept), 3);
	assert_int_equal(atomic_load(&b.seen->runs), 3);
	assert_int_equal(atomic_load(&b.seen->written), 1); /* no copies in between */
	assert_int_equal(atomic_load(&b.seen->read), 0);
	expect_holds(c, 3, 8, ROWS);
	assert_int_equal(atomic_load(&b.seen->read), 1);
	nnb_buffer_unref(a);
	nnb_buffer_unref(c);
	bench_fini(&b);
}

/* The driver reads RESHAPE's shape from its own buffer before the run. */
static struct nnb_model *reshapes(void)
{
	struct nnb_model *m;
	uint32_t in[2], y;

	assert_int_equal(nnb_model_new(&m, "reshapes", NNB_HAL_1_2), 0);
	in[0] = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { ROWS, COLUMNS } });
	in[1] = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { 2 } });
	y = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32 });
	assert_true(nnb_model_operation(m, NNB_RESHAPE, in, 2, &y, 1) >= 0);
	assert_int_equal(nnb_model_finish(m, in, 2, &y, 1), 0);
	return m;
}

static void a_value_that_decides_shapes_may_lie_in_a_buffer(void **state)
{
	static const struct nnb_buffer_role shape_role = { 0, 1, 1 };
	static const struct nnb_buffer_desc desc = { .inputs = &shape_role, .n_inputs = 1 };
	struct nnb_model *m = reshapes();
	struct nnb_buffer *buffer = NULL;
	struct nnb_memory memory;
	struct nnb_mapping *mapping;
	struct nnb_prepared *p;
	struct call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	p = prepared(b.device, m);
	expect(NONE, nnb_buffer_new(&buffer, b.device, &p, 1, &desc, &why));
	assert_int_equal(nnb_memory_ashmem(&memory, 8), 0);
	assert_int_equal(nnb_map(&mapping, &memory), 0);
	for (int32_t rows = 1; rows <= ROWS * COLUMNS; rows *= 2) {
		memcpy(nnb_mapping_data(mapping), (int32_t[]){ rows, -1 }, 8);
		expect(NONE, nnb_buffer_copy_from(buffer, &memory, 0, NULL, &why));
		call_init(&c, &b, ROWS);
		put_in(&c, &c.in[1], buffer);
		c.in[1].rank = c.out[0].rank = 0;
		c.request.n_outputs = 1;
		expect(NONE, nnb_execute(p, &c.request, c.shapes, &why));
		assert_true(c.shapes[0].rank == 2 && c.shapes[0].dims[0] == (uint32_t)rows &&
		            c.shapes[0].dims[1] == (uint32_t)(ROWS * COLUMNS / rows));
		expect_filled(b.y[0], ROWS * COLUMNS, 100, 1);
	}
	nnb_mapping_unref(mapping);
	nnb_memory_close(&memory);
	nnb_buffer_unref(buffer);
	nnb_prepared_unref(p);
	nnb_model_free(m);
	bench_fini(&b);
}

/* One buffer for the shape, and one for the output; the data is in shared memory. */
struct reshaping {
	struct bench b;
	struct nnb_prepared *prepared;
	struct nnb_buffer *shape, *out;
};

static void reshaping_init(struct reshaping *r)
{
	static const struct nnb_buffer_role decides = { 0, 1, 1 }, first = { 0, 0, 1 };
	static const struct nnb_buffer_desc of_shape = { .inputs = &decides, .n_inputs = 1 };
	static const struct nnb_buffer_desc of_output = { .outputs = &first, .n_outputs = 1 };
	struct nnb_model *m = reshapes();

	bench_init(&r->b, scrambled, 2, ROWS);
	r->prepared = prepared(r->b.device, m);
	expect(NONE, nnb_buffer_new(&r->shape, r->b.device, &r->prepared, 1, &of_shape, &why));
	expect(NONE, nnb_buffer_new(&r->out, r->b.device, &r->prepared, 1, &of_output, &why));
	nnb_model_free(m);
}

static void reshaping_fini(struct reshaping *r)
{
	nnb_buffer_unref(r->shape);
	nnb_buffer_unref(r->out);
	nnb_prepared_unref(r->prepared);
	bench_fini(&r->b);
}

/* Write the shape into its buffer. Fails if an execution uses the buffer. */
static void write_shape(struct reshaping *r, const int32_t *to)
{
	struct nnb_mapping *mapping;
	struct nnb_memory memory;

	assert_int_equal(nnb_memory_ashmem(&memory, 8), 0);
	assert_int_equal(nnb_map(&mapping, &memory), 0);
	memcpy(nnb_mapping_data(mapping), to, 8);
	expect(NONE, nnb_buffer_copy_from(r->shape, &memory, 0, NULL, &why));
	nnb_mapping_unref(mapping);
	nnb_memory_close(&memory);
}

static enum nnb_status reshape(struct reshaping *r, const int32_t *to, bool shape_kept, struct nnb_reason *why)
{
	struct call c;

	write_shape(r, to);
	call_init(&c, &r->b, ROWS);
	memcpy(r->b.x[1], to, 8);
	c.in[1].location.length = 8;
	if (shape_kept)
		put_in(&c, &c.in[1], r->shape);
	put_in(&c, &c.out[0], r->out);
	c.in[1].rank = c.out[0].rank = 0;
	c.request.n_outputs = 1;
	return nnb_execute(r->prepared, &c.request, c.shapes, why);
}

/*
 * M-21: the service notices an invalid shape only after it has got the buffers, and still calls it the
 * request's fault.
 */
static void an_invalid_shape_in_a_buffer_changes_nothing(void **state)
{
	static const int32_t good[] = { ROWS, COLUMNS },
			     nonsense[][2] = { { ROWS + 1, COLUMNS }, { -1, -1 }, { 0, COLUMNS }, { 3, -1 } };
	struct reshaping r;

	(void)state;
	reshaping_init(&r);
	for (size_t i = 0; i < 2 * N_OF(nonsense); i++) {
		bool kept = i % 2;

		expect(NONE, reshape(&r, good, kept, &why));
		expect(INVALID_ARGUMENT, reshape(&r, nonsense[i / 2], kept, &why));
		expect_holds(r.out, 100, 1, ROWS);
		expect(NONE, copy_from(r.out, (float)i, ROWS, 2, &why));
		expect(INVALID_ARGUMENT, reshape(&r, nonsense[i / 2], kept, &why));
		expect_holds(r.out, (float)i, 1, ROWS);
	}
	reshaping_fini(&r);
}

/*
 * The null driver writes no output, so an output shows the memory's previous content: zeroes, because new
 * memory has no previous owner.
 */
static void an_output_that_the_driver_does_not_write_is_zeroes(void **state)
{
	float is[TENSOR / 4];
	struct bench b;

	(void)state;
	bench_init(&b, "null", 2, 0);
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t rows = i % 2 ? ROWS_MAX : 1 + i % 7;
		struct nnb_buffer *buffer = buffer_of(&b);

		expect(NONE, as_output(&b, buffer, 1, rows, &why));
		expect(NONE, copy_to(buffer, is, rows, &why));
		for (uint32_t k = 0; k < rows * COLUMNS; k++)
			assert_true(is[k] == 0);
		expect(NONE, copy_from(buffer, 1e9F, rows, 2, &why)); /* the next buffer must not show these numbers */
		nnb_buffer_unref(buffer);
	}
	bench_fini(&b);
}

/* driver.h: kernels may read past an operand. They must find zeroes there, not the ones of memory next to it. */
static void kernels_can_read_zeroes_behind_a_plain_buffer(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t sizes[] = {
		1, 64, page - NNB_MAPPING_SLACK, page - NNB_MAPPING_SLACK + 1, page - 1, page, page + 1, 4 * page
	};
	enum { EACH = 8 };
	char *buffers[N_OF(sizes) * EACH], behind[NNB_MAPPING_SLACK];
	static const char zeroes[NNB_MAPPING_SLACK];
	int pipe_fds[2];

	(void)state;
	assert_int_equal(pipe2(pipe_fds, O_CLOEXEC), 0);
	for (size_t i = 0; i < N_OF(buffers); i++) {
		void *p = NULL;

		assert_int_equal(
			nnb_plain_buffer_new(NULL, &(struct nnb_driver_buffer){ .bytes = sizes[i / EACH] }, &p), 0);
		buffers[i] = memset(p, 0xff, sizes[i / EACH]);
	}
	for (size_t i = 0; i < N_OF(buffers); i++) { /* the kernel checks whether these bytes can be read */
		assert_int_equal(write(pipe_fds[1], buffers[i] + sizes[i / EACH], sizeof(behind)), sizeof(behind));
		assert_int_equal(read(pipe_fds[0], behind, sizeof(behind)), sizeof(behind));
		assert_memory_equal(behind, zeroes, sizeof(zeroes));
	}
	for (size_t i = 0; i < N_OF(buffers); i++)
		nnb_plain_buffer_free(NULL, buffers[i], sizes[i / EACH]);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* Unmap a page that the copy has written already: msync does not write unmapped memory to its file. */
static void take_the_first_page(void *arg)
{
	struct scrambled *seen = arg;

	assert_int_equal(munmap(seen->copied_to, (size_t)sysconf(_SC_PAGESIZE)), 0);
}

/* P-16: after a copy that succeeded, the file has the data. */
static void a_copy_that_cannot_be_flushed_is_a_failure(void **state)
{
	const uint32_t rows = (uint32_t)(4 * sysconf(_SC_PAGESIZE)) / (COLUMNS * 4);
	const uint64_t bytes = (uint64_t)rows * COLUMNS * 4;
	struct nnb_buffer *buffer;
	struct nnb_memory file;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, 0);
	buffer = buffer_of(&b);
	expect(NONE, copy_from(buffer, 1, rows, 2, &why));
	file_memory(&file, bytes, PROT_READ | PROT_WRITE);
	b.seen->arg = b.seen;
	b.seen->in_copy = take_the_first_page;
	expect(GENERAL_FAILURE, nnb_buffer_copy_to(buffer, &file, &why));
	b.seen->in_copy = NULL;
	expect(NONE, nnb_buffer_copy_to(buffer, &file, &why)); /* the buffer is unchanged and not in use */
	expect(NONE, copy_from(buffer, 2, ROWS, 2, &why));
	expect_holds(buffer, 2, 1, ROWS);
	nnb_memory_close(&file);
	nnb_buffer_unref(buffer);
	bench_fini(&b);
}

/* ---- bursts in this process ---- */

struct burst_call {
	struct nnb_pool *pools[3]; /* shared memory, and two buffers */
	struct call call;
	struct nnb_call made;
	struct nnb_answer answer;
};

static void burst_call_init(struct burst_call *c, const struct bench *b, const struct nnb_buffer *in,
                            const struct nnb_buffer *out)
{
	call_init(&c->call, b, ROWS);
	assert_int_equal(nnb_pool_from(&c->pools[0], &b->memory), 0);
	put_in(&c->call, &c->call.in[0], in);
	assert_int_equal(nnb_pool_from(&c->pools[1], nnb_buffer_memory(in)), 0);
	put_in(&c->call, &c->call.out[0], out);
	assert_int_equal(nnb_pool_from(&c->pools[2], nnb_buffer_memory(out)), 0);
	c->made = (struct nnb_call){ .inputs = c->call.in,
		                     .outputs = c->call.out,
		                     .pools = c->pools,
		                     .n_inputs = 2,
		                     .n_outputs = 2,
		                     .n_pools = 3 };
	c->answer = (struct nnb_answer){ .shapes = c->call.shapes };
}

static void burst_call_fini(struct burst_call *c)
{
	for (int i = 0; i < 3; i++)
		nnb_pool_free(c->pools[i]);
}

static void a_burst_uses_buffers_for_as_long_as_it_executes(void **state)
{
	bool cached = *(const bool *)*state;
	struct nnb_buffer *in, *out, *third;
	struct nnb_burst *burst = NULL;
	struct burst_call c;
	struct bench b;

	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	burst_call_init(&c, &b, in, out);
	expect(NONE, nnb_burst_local(&burst, b.prepared, cached, NULL, &why));
	expect_status(GENERAL_FAILURE, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	assert_false(c.answer.fallback);
	for (int i = 1; i < 10; i++) { /* the same call again and again, with others in between */
		expect(NONE, copy_from(in, (float)i, ROWS, 0, &why));
		expect(NONE, nnb_burst_execute(burst, &c.made, &c.answer, &why));
		assert_false(c.answer.fallback);
		expect_holds(out, (float)i, 2, ROWS);
		if (i % 3 == 0)
			expect(NONE, as_input(&b, out, ROWS, &why));
		if (i % 4 == 0) { /* uninitialised for a while, although the call has not changed */
			given_up(&b, in);
			expect_status(GENERAL_FAILURE, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
			expect_holds(out, (float)i, 2, ROWS);
		}
	}
	third = buffer_of(&b); /* a freed buffer is unknown, and its token never names another one */
	nnb_buffer_unref(in);
	expect_status(INVALID_ARGUMENT, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	assert_false(c.answer.fallback);
	expect_holds(out, 9, 2, ROWS);
	nnb_buffer_unref(third);
	nnb_buffer_unref(out);
	expect_status(INVALID_ARGUMENT, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	assert_int_equal(atomic_load(&b.seen->made), atomic_load(&b.seen->freed)); /* the burst keeps no buffer */
	burst_call_fini(&c);
	nnb_burst_free(burst);
	bench_fini(&b);
}

static const struct wrong_row {
	const char *name;
	struct nnb_location out; /* location of output 0, in its buffer */
	uint32_t rows;           /* rows of input 0, in shared memory */
	enum nnb_status want;
} wrong_rows[] = {
	{ "a part of a buffer", { 0, 4, 0 }, ROWS, INVALID_ARGUMENT },
	{ "a length of a buffer", { 0, 0, ROWS *COLUMNS * 4 }, ROWS, INVALID_ARGUMENT },
	{ "an input of no known extent", { 0 }, 0, INVALID_ARGUMENT },
	{ "nothing wrong", { 0 }, ROWS, GENERAL_FAILURE },
};

/*
 * A burst without a cache notices a pool that it cannot map only when it executes; an invalid argument is
 * reported first.
 */
static void an_invalid_argument_is_reported_before_an_unmappable_pool(void **state)
{
	const struct wrong_row *row = *state;
	struct nnb_burst *burst = NULL;
	struct nnb_buffer *out, *in;
	struct nnb_pool *pools[4];
	struct nnb_memory file;
	struct burst_call c;
	struct bench b;

	bench_init(&b, scrambled, 2, 0);
	in = buffer_of(&b);
	out = buffer_of(&b);
	expect(NONE, copy_from(in, 7, ROWS, 2, &why));
	expect(NONE, copy_from(out, 7, ROWS, 2, &why));
	burst_call_init(&c, &b, in, out);
	file_memory(&file, ROWS * COLUMNS * 4, PROT_READ | PROT_WRITE);
	memcpy(pools, c.pools, sizeof(c.pools));
	assert_int_equal(nnb_pool_from(&pools[3], &file), 0);
	assert_int_equal(ftruncate(file.fds[0], 0), 0);
	c.made.pools = pools;
	c.made.n_pools = 4;
	c.call.in[0].location = (struct nnb_location){ 0, 0, ROWS * COLUMNS * 4 };
	c.call.in[0].dims[0] = row->rows;
	c.call.in[1].location = (struct nnb_location){ 3, 0, ROWS * COLUMNS * 4 };
	c.call.out[0].location.offset = row->out.offset;
	c.call.out[0].location.length = row->out.length;
	expect(NONE, nnb_burst_local(&burst, b.prepared, false, NULL, &why));
	expect_status(row->want, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	assert_false(c.answer.fallback);
	if (row->want == INVALID_ARGUMENT)
		expect_holds(out, 7, 1, ROWS);
	else
		expect(GENERAL_FAILURE, as_input(&b, out, ROWS, &why));
	nnb_pool_free(pools[3]);
	nnb_memory_close(&file);
	burst_call_fini(&c);
	nnb_burst_free(burst);
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	bench_fini(&b);
}

/*
 * A request that is invalid and late is checked as far as its slots are known: all, except one that it does not
 * use.
 */
static void an_invalid_late_request_of_a_burst_changes_nothing(void **state)
{
	struct nnb_burst *burst = NULL;
	struct nnb_buffer *in, *out;
	struct nnb_pool *pools[4];
	struct burst_call c;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	expect(NONE, copy_from(in, 3, ROWS, 0, &why));
	burst_call_init(&c, &b, in, out);
	memcpy(pools, c.pools, sizeof(c.pools));
	assert_int_equal(nnb_pool_new(&pools[3], 4), 0);
	expect(NONE, nnb_burst_local(&burst, b.prepared, true, NULL, &why));
	expect(NONE, nnb_burst_execute(burst, &c.made, &c.answer, &why));
	c.made.pools = pools;
	c.made.n_pools = 4;
	c.made.terms.deadline_ns = 1;
	c.call.out[0].location.offset = 4;
	expect_status(INVALID_ARGUMENT, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	expect_holds(out, 3, 2, ROWS);
	c.call.out[0].location.offset = 0;
	expect_status(NNB_STATUS_MISSED_DEADLINE_PERSISTENT, nnb_burst_execute(burst, &c.made, &c.answer, NULL));
	expect_uninitialised(out, ROWS);
	nnb_pool_free(pools[3]);
	burst_call_fini(&c);
	nnb_burst_free(burst);
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	bench_fini(&b);
}

/* S-7: while the server asks for one slot, the client frees another one. */
static void *free_slot_0_meanwhile(void *arg)
{
	struct desk *d = arg;

	gate_await(&d->asking);
	nnb_burst_server_free_memory(d->server, 0);
	gate_set(&d->asking, false);
	return NULL;
}

/* M-21: the client itself freed the slot, so the request is invalid and must not have changed anything. */
static void a_slot_that_is_freed_under_a_request_changes_nothing(void **state)
{
	struct nnb_pool *pools[4];
	struct nnb_buffer *in, *out;
	struct nnb_burst *burst;
	struct burst_call c;
	pthread_t thread;
	struct desk desk;
	struct bench b;

	(void)state;
	bench_init(&b, scrambled, 2, ROWS);
	in = buffer_of(&b);
	out = buffer_of(&b);
	expect(NONE, copy_from(in, 3, ROWS, 0, &why));
	burst_call_init(&c, &b, in, out);
	memcpy(pools, c.pools, sizeof(c.pools));
	assert_int_equal(nnb_pool_new(&pools[3], 4), 0);
	desk_init(&desk, b.prepared);
	burst = desk_burst(&desk, NULL);
	assert_int_equal(burst_execute(burst, &c.made, &c.answer, NULL), NONE); /* the server knows slots 0, 1 and 2 */
	expect_holds(out, 3, 2, ROWS);
	c.made.pools = pools;
	c.made.n_pools = 4;
	gate_set(&desk.asking, true);
	assert_int_equal(pthread_create(&thread, NULL, free_slot_0_meanwhile, &desk), 0);
	expect_status(INVALID_ARGUMENT, burst_execute(burst, &c.made, &c.answer, NULL));
	pthread_join(thread, NULL);
	assert_int_equal(desk.executions, 1);
	assert_int_equal(desk.fallbacks, 0);
	expect_holds(out, 3, 2, ROWS);
	nnb_pool_free(pools[3]);
	burst_call_fini(&c);
	nnb_burst_free(burst);
	nnb_buffer_unref(in);
	nnb_buffer_unref(out);
	bench_fini(&b);
}

/* ---- threads ---- */

/*
 * Readers, writers, copies and frees at once on few buffers. Each answer must be one of those allowed, and a
 * reader must see the same number everywhere. NNB_SOAK_SECONDS sets the length.
 */
enum { WORKERS = 4, BUFFERS = 3 };

struct market {
	const char *driver;
	struct bench b;
	uint64_t end;
	pthread_mutex_t lock;
	struct nnb_buffer *buffers[BUFFERS];
	_Atomic uint64_t went_well, met, unknown;
	const char *_Atomic trouble;
};

struct worker {
	struct market *market;
	uint64_t seed;
	struct bench own; /* the market's, with memory of its own */
	pthread_t thread;
};

static void all_equal(struct worker *w, const float *is, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (is[i] != is[0])
			atomic_store(&w->market->trouble, "two numbers where there was to be one");
}

static void one_number(float *to, uint32_t n, float value)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = value;
}

static enum nnb_status work_copy(struct worker *w, struct nnb_buffer *buffer, bool from)
{
	float value = (float)(next_random(&w->seed) % 1000);
	struct nnb_mapping *mapping;
	struct nnb_memory memory;
	enum nnb_status status;

	if (nnb_memory_ashmem(&memory, ROWS * COLUMNS * 4) || nnb_map(&mapping, &memory))
		abort();
	one_number(nnb_mapping_data(mapping), ROWS * COLUMNS, value);
	status =
		from ? nnb_buffer_copy_from(buffer, &memory, 0, NULL, NULL) : nnb_buffer_copy_to(buffer, &memory, NULL);
	all_equal(w, nnb_mapping_data(mapping), ROWS * COLUMNS);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&memory);
	return status;
}

/* Execute by tokens, without a reference to the buffers. Input, output, or both. */
static enum nnb_status work_run(struct worker *w, const struct nnb_memory *in, const struct nnb_memory *out)
{
	enum nnb_status status;
	struct call c;

	call_init(&c, &w->own, ROWS);
	one_number(w->own.x[0], ROWS * COLUMNS, (float)(next_random(&w->seed) % 1000));
	if (in)
		put_into(&c, &c.in[0], in);
	if (out)
		put_into(&c, &c.out[0], out);
	status = run(&w->own, &c, NULL);
	if (!out && !status)
		all_equal(w, w->own.y[0], ROWS * COLUMNS);
	return status;
}

static void replace(struct worker *w, size_t i)
{
	struct nnb_buffer *new = NULL, *old;

	if (allocate(&new, &w->own, 0, 0, NULL))
		abort();
	pthread_mutex_lock(&w->market->lock);
	old = w->market->buffers[i];
	w->market->buffers[i] = new;
	pthread_mutex_unlock(&w->market->lock);
	nnb_buffer_unref(old);
}

static void judge(struct market *m, enum nnb_status status, bool held)
{
	if (!status)
		m->went_well++;
	else if (status == GENERAL_FAILURE)
		m->met++;
	else if (status == INVALID_ARGUMENT && !held)
		m->unknown++;
	else
		atomic_store(&m->trouble, nnb_status_name(status));
}

static void work_once(struct worker *w)
{
	struct market *m = w->market;
	size_t i = next_random(&w->seed) % BUFFERS, k = next_random(&w->seed) % BUFFERS;
	struct nnb_memory in, out;
	struct nnb_buffer *buffer;

	pthread_mutex_lock(&m->lock);
	in = *nnb_buffer_memory(m->buffers[i]);
	out = *nnb_buffer_memory(m->buffers[k]);
	buffer = nnb_buffer_ref(m->buffers[i]);
	pthread_mutex_unlock(&m->lock);
	switch (next_random(&w->seed) % 8) {
	case 0:
	case 1:
		judge(m, work_copy(w, buffer, true), true);
		break;
	case 2:
		judge(m, work_copy(w, buffer, false), true);
		break;
	case 3:
		replace(w, i);
		break;
	case 4:
		nnb_buffer_unref(buffer);
		buffer = NULL;
		judge(m, work_run(w, &in, NULL), false);
		break;
	case 5:
		judge(m, work_run(w, NULL, &out), false);
		break;
	default:
		judge(m, work_run(w, &in, &out), false);
	}
	nnb_buffer_unref(buffer);
}

static void *work(void *arg)
{
	struct worker *w = arg;

	while (now_ns() < w->market->end && !atomic_load(&w->market->trouble))
		work_once(w);
	return NULL;
}

static void worker_init(struct worker *w, struct market *m, uint64_t seed)
{
	*w = (struct worker){ .market = m, .seed = seed, .own = m->b };
	bench_memory(&w->own);
}

static uint64_t length_ns(void)
{
	const char *s = getenv("NNB_SOAK_SECONDS");

	return s && atoi(s) > 0 ? (uint64_t)atoi(s) * 1000 * MS : 700 * MS;
}

static void concurrent_uses_never_see_a_torn_buffer(void **state)
{
	struct market m = { .driver = *state, .lock = PTHREAD_MUTEX_INITIALIZER };
	struct worker workers[WORKERS];

	bench_init(&m.b, m.driver, 2, ROWS);
	for (int i = 0; i < BUFFERS; i++)
		m.buffers[i] = buffer_of(&m.b);
	m.end = now_ns() + length_ns();
	for (int i = 0; i < WORKERS; i++) {
		worker_init(&workers[i], &m, (uint64_t)i + 1);
		assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	}
	for (int i = 0; i < WORKERS; i++) {
		pthread_join(workers[i].thread, NULL);
		nnb_mapping_unref(workers[i].own.mapping);
		nnb_memory_close(&workers[i].own.memory);
	}
	for (int i = 0; i < BUFFERS; i++)
		nnb_buffer_unref(m.buffers[i]);
	print_message("%llu succeeded, %llu met another use, %llu were unknown\n", (unsigned long long)m.went_well,
	              (unsigned long long)m.met, (unsigned long long)m.unknown);
	if (m.trouble)
		fail_msg("%s", m.trouble);
	assert_true(m.went_well > 0);
	bench_fini(&m.b);
}

/* ---- */

#define TEST(run, ...) add_test(run, NULL, NULL, NULL, __VA_ARGS__)
#define TEST_ROW(run, row, ...) add_test(run, NULL, NULL, (void *)(uintptr_t)(row), __VA_ARGS__)

static void add_rows(void)
{
	for (size_t i = 0; i < N_OF(stories); i++)
		TEST_ROW(row_of_acts_has_its_results, &stories[i], "%s", stories[i].name);
	for (unsigned i = 0; i < N_USES; i++)
		for (unsigned k = 0; k < N_USES; k++) {
			struct meeting *m = &meetings[i * N_USES + k];

			m->first = (enum use)i;
			m->second = (enum use)k;
			TEST_ROW(a_second_use_is_refused_at_once_or_succeeds, m,
			         "M-11: while it is %s it is to be %s: %s", use_names[i], use_names[k],
			         writes(m->first) || writes(m->second) ? "GENERAL_FAILURE" : "NONE");
		}
	for (size_t i = 0; i < N_OF(place_rows); i++)
		TEST_ROW(a_buffer_is_an_argument_as_a_whole, &place_rows[i], "M-20: an argument with %s: %s",
		         place_rows[i].name, nnb_status_name(place_rows[i].want));
	for (size_t i = 0; i < N_OF(role_rows); i++)
		TEST_ROW(a_buffer_can_be_used_in_its_roles_only, &role_rows[i], "M-3: a buffer for %s is nothing else",
		         role_rows[i].name);
	for (size_t i = 0; i < N_OF(refusal_rows); i++)
		TEST_ROW(a_driver_may_refuse, &refusal_rows[i], "M-2: a driver that %s: %s", refusal_rows[i].name,
		         nnb_status_name(refusal_rows[i].want));
}

static void add_more_rows(void)
{
	for (size_t i = 0; i < N_OF(lack_rows); i++)
		TEST_ROW(a_missing_buffer_is_reported_before_an_unmappable_memory, &lack_rows[i],
		         "M-21: %s, beside what cannot be mapped, changes nothing", lack_rows[i].name);
	for (size_t i = 0; i < N_OF(wrong_rows); i++)
		TEST_ROW(an_invalid_argument_is_reported_before_an_unmappable_pool, &wrong_rows[i],
		         "P-30: %s beside what a burst without a cache cannot map: %s", wrong_rows[i].name,
		         nnb_status_name(wrong_rows[i].want));
}

/* The library installs its SIGBUS handler when it first maps a file. */
static void note_the_librarys_handler(void)
{
	struct nnb_mapping *mapping;
	struct nnb_memory memory;

	file_memory(&memory, 1, PROT_READ);
	if (nnb_map(&mapping, &memory))
		abort();
	sigaction(SIGBUS, NULL, &of_the_library);
	nnb_mapping_unref(mapping);
	nnb_memory_close(&memory);
}

int main(void)
{
	static const bool yes = true, no = false;

	note_the_librarys_handler();
	add_rows();
	add_more_rows();
	TEST(a_refused_request_leaves_its_other_buffers_alone,
	     "M-11: a refused request leaves its other buffers alone");
	TEST(an_execution_that_has_finished_uses_nothing, "an execution that has finished uses nothing");
	TEST(an_execution_that_is_over_does_not_start_again, "an execution that is over does not start again");
	TEST(a_copy_that_fails_leaves_a_reader_alone, "M-11: a copy that fails leaves a reader alone");
	TEST(an_execution_that_is_preempted_keeps_its_buffers, "an execution that is preempted keeps its buffers");
	TEST(an_execution_that_begins_again_uses_its_new_buffers,
	     "an execution that begins again uses its new buffers");
	TEST(tokens_are_not_0_and_all_differ, "M-4: tokens are not 0, and all differ");
	TEST(an_invented_token_is_refused, "M-8, M-21: an invented token is refused");
	TEST(a_pool_without_an_argument_is_not_used, "a pool without an argument is not used");
	TEST(a_role_is_for_one_prepared_model_and_not_for_an_equal_one,
	     "M-3, M-20: a role is for one prepared model, and not for an equal one");
	TEST(more_roles_than_allowed_are_refused, "more roles than allowed are refused");
	TEST(every_reference_keeps_the_buffer, "M-8: every reference keeps the buffer");
	TEST(a_buffer_freed_in_use_lives_until_its_last_use, "M-8: a buffer freed in use lives until its last use");
	TEST(a_buffer_keeps_its_device, "a buffer keeps its device");
	TEST(each_output_may_have_another_shape, "M-10: each output may have another shape");
	TEST(each_copy_may_have_another_shape, "M-31, M-33: each copy may have another shape");
	TEST(an_output_has_the_shape_that_the_run_gives, "M-22: an output has the shape that the run gives");
	TEST(an_input_has_the_shape_that_was_written_last,
	     "M-10: an input has the shape that was written last, where the request states none");
	TEST(an_output_of_a_shape_that_the_buffer_cannot_have_is_a_failure,
	     "M-22: an output of a shape that the buffer cannot have is a failure");
	TEST(a_run_that_lacks_room_leaves_its_output_buffer_uninitialised,
	     "section 11: a run that lacks room leaves its output buffer uninitialised");
	TEST(a_buffer_of_unknown_size_takes_no_memory_until_it_is_written,
	     "M-33: a buffer of unknown size takes no memory until it is written");
	TEST(a_driver_may_have_no_memory_domains, "M-2: a driver may have no memory domains");
	TEST(place_and_layout_are_the_drivers, "M-1: place and layout are the driver's");
	TEST(a_value_that_decides_shapes_may_lie_in_a_buffer, "a value that decides shapes may lie in a buffer");
	TEST(an_invalid_shape_in_a_buffer_changes_nothing, "M-21: an invalid shape in a buffer changes nothing");
	TEST(kernels_can_read_zeroes_behind_a_plain_buffer, "kernels can read zeroes behind a plain buffer");
	TEST(a_copy_that_cannot_be_flushed_is_a_failure, "P-16: a copy that cannot be flushed is a failure");
	TEST(an_output_that_the_driver_does_not_write_is_zeroes,
	     "an output that the driver does not write is zeroes, and not earlier content");
	TEST_ROW(a_burst_uses_buffers_for_as_long_as_it_executes, &yes,
	         "a burst with a cache uses buffers for as long as it executes");
	TEST_ROW(a_burst_uses_buffers_for_as_long_as_it_executes, &no,
	         "a burst without a cache uses buffers for as long as it executes");
	TEST(an_invalid_late_request_of_a_burst_changes_nothing,
	     "P-30: an invalid late request of a burst changes nothing");
	TEST(a_slot_that_is_freed_under_a_request_changes_nothing,
	     "M-21: a slot that is freed under a request changes nothing");
	TEST_ROW(concurrent_uses_never_see_a_torn_buffer, scrambled,
	         "M-11: concurrent uses never see a torn buffer, and never wait: scrambled");
	TEST_ROW(concurrent_uses_never_see_a_torn_buffer, "xnnpack",
	         "M-11: concurrent uses never see a torn buffer, and never wait: xnnpack");
	return _cmocka_run_group_tests("buffers", tests, n_tests, NULL, NULL);
}
