/*
 * test_memory_domains.c -- the tables of VTS's MemoryDomainTests (5.6), row by row, against a real nnburstd
 * on each of its paths, and against a device of this process.
 *
 * VTS allows answers to a driver without memory domains; this driver has them, so such an answer fails here.
 * Where VTS has an object that is no prepared model, or another driver's, an app has a model of another
 * client's, or device's.
 */
#include "domains.h"

static struct service service;

/* The object of a test; each test may have a type, a kind of memory, and a path. */
struct setting {
	const void *row;
	const struct type *type;
	enum nnb_memory_kind kind;
	enum path path;
};

static struct setting settings[N_OF(tests)];

static const struct setting *setting(const void *row, unsigned type, unsigned kind, unsigned path)
{
	struct setting *s = &settings[n_tests];

	*s = (struct setting){ row, &types[type], copy_kinds[kind], (enum path)path };
	return s;
}

static int tear_down(void **state)
{
	(void)state;
	if (places_were_left()) {
		service_kill(&service);
		service_start(&service, OPTIONS(NULL));
	}
	service_settles(&service); /* each test leaves nothing behind */
	return 0;
}

/* A place at the service, or in this process. */
static void place_for(struct place *p, int here)
{
	place_init(p, here ? NULL : &service);
}

/* ---- MemoryDomainAllocateTest ---- */

enum { N_COMBINATIONS = 4 };

/* Two models of one input and one output each, which may differ, and two roles of these models. */
struct allocation {
	const struct type *type;
	struct nnb_operand operand[2];
	uint32_t rank[2], dims[2][RANK];
	uint32_t n_models;
	enum {
		AS_IS,
		TWICE,
		NO_MODEL,
		FOREIGN
	} second; /* the second model: the same, another copy, none, or a
	                                                  * foreign one */
	struct nnb_buffer_role roles[2];
	uint32_t n_roles; /* the first of them */
	uint32_t desc_rank, desc_dims[RANK];
};

static void one_model_no_role(struct allocation *a)
{
	a->n_models = 1;
	a->n_roles = 0;
}

static void no_model_no_role(struct allocation *a)
{
	a->n_models = a->n_roles = 0;
}

static void no_model_at_all(struct allocation *a)
{
	a->n_models = 0;
	a->n_roles = 1;
}

static void null_model(struct allocation *a)
{
	a->second = NO_MODEL;
}

static void foreign_model(struct allocation *a)
{
	a->second = FOREIGN;
}

static void one_role(struct allocation *a)
{
	a->n_models = a->n_roles = 1;
}

static void model_index(struct allocation *a)
{
	one_role(a);
	a->roles[0].model = 1;
}

static void largest_model_index(struct allocation *a)
{
	one_role(a);
	a->roles[0].model = UINT32_MAX;
}

static void io_index(struct allocation *a)
{
	one_role(a);
	a->roles[0].index = 1;
}

static void largest_io_index(struct allocation *a)
{
	one_role(a);
	a->roles[0].index = UINT32_MAX;
}

static void frequency_10(struct allocation *a)
{
	one_role(a);
	a->roles[0].frequency = 10;
}

static void frequency_0(struct allocation *a)
{
	one_role(a);
	a->roles[0].frequency = 0;
}

static void frequency_below_0(struct allocation *a)
{
	one_role(a);
	a->roles[0].frequency = -0.5F;
}

static void frequency_nan(struct allocation *a)
{
	one_role(a);
	a->roles[0].frequency = __builtin_nanf("");
}

static void frequency_infinite(struct allocation *a)
{
	one_role(a);
	a->roles[0].frequency = __builtin_inff();
}

static void same_by_index(struct allocation *a)
{
	a->n_models = 1;
	a->roles[1].model = 0;
}

static void same_by_two_indices(struct allocation *a)
{
	a->second = TWICE;
}

static void conflict_type(struct allocation *a)
{
	a->operand[1] = a->type == &types[FLOATS] ? types[QUANTS].operand : types[FLOATS].operand;
}

static void conflict_type_of_integers(struct allocation *a)
{
	a->operand[1] = a->type == &types[INTS] ? types[QUANTS].operand : types[INTS].operand;
}

static void conflict_scale(struct allocation *a)
{
	a->operand[1].scale = 1;
}

static void conflict_zero_point(struct allocation *a)
{
	a->operand[1].zero_point = 10;
}

static void conflict_rank(struct allocation *a)
{
	a->rank[1] = 3;
	memcpy(a->dims[1], (uint32_t[]){ 32, 32, 8 }, 3 * sizeof(uint32_t));
}

static void conflict_dimensions(struct allocation *a)
{
	a->dims[1][0] = 4;
}

static void conflict_last_dimension(struct allocation *a)
{
	a->dims[1][3] = 4;
}

static void desc_rank_3(struct allocation *a)
{
	one_role(a);
	a->desc_rank = 3;
	memcpy(a->desc_dims, (uint32_t[]){ 1, 32, 32 }, 3 * sizeof(uint32_t));
}

static void desc_dim_4(struct allocation *a)
{
	one_role(a);
	a->desc_rank = RANK;
	memcpy(a->desc_dims, (uint32_t[]){ 4, 32, 32, 8 }, sizeof(a->desc_dims));
}

static void desc_of_what_two_roles_leave_open(struct allocation *a)
{
	desc_dim_4(a);
	a->n_models = a->n_roles = 2;
	a->dims[0][0] = 0;
	a->dims[1][3] = 0;
	a->desc_dims[0] = 1;
	a->desc_dims[3] = 7; /* because the first operand has 8 */
}

static void change_nothing(struct allocation *a)
{
	(void)a;
}

static void desc_of_unknown_extents(struct allocation *a)
{
	a->desc_rank = RANK; /* all of them 0 */
}

static void desc_of_what_is_known(struct allocation *a)
{
	a->desc_rank = RANK;
	memcpy(a->desc_dims, full_dims, sizeof(full_dims));
}

static void smallest_frequency(struct allocation *a)
{
	a->roles[0].frequency = 0x1p-149F;
}

static void unknown_extents(struct allocation *a)
{
	a->dims[0][0] = a->dims[1][0] = 0;
}

static void extents_known_together(struct allocation *a)
{
	a->dims[0][0] = 0;
	a->dims[1][3] = 0;
}

static const struct allocation_row {
	const char *name, *rule;
	void (*change)(struct allocation *a);
	bool legal, quant_only, not_of_integers;
} allocation_rows[] = {
	{ "EmptyRole: no models and no roles", "M-5", no_model_no_role },
	{ "EmptyRole: a model and no roles", "M-5", one_model_no_role },
	{ "EmptyRole: a role and no models", "M-5", no_model_at_all },
	{ "NullptrPreparedModel", "M-5", null_model },
	{ "InvalidPreparedModel: another client's", "M-5", foreign_model },
	{ "InvalidModelIndex: 1 of one", "M-5", model_index },
	{ "InvalidModelIndex: 2^32 - 1", "M-5", largest_model_index },
	{ "InvalidIOIndex: 1 of one", "M-5", io_index },
	{ "InvalidIOIndex: 2^32 - 1", "M-5", largest_io_index },
	{ "InvalidFrequency: 10", "M-3, M-5", frequency_10 },
	{ "InvalidFrequency: 0", "M-3, M-5", frequency_0 },
	{ "InvalidFrequency: -0.5", "M-3, M-5", frequency_below_0 },
	{ "InvalidFrequency: not a number", "M-3, M-5", frequency_nan },
	{ "InvalidFrequency: infinite", "M-3, M-5", frequency_infinite },
	{ "SameRoleSpecifiedTwice: by one index", "M-5", same_by_index },
	{ "SameRoleSpecifiedTwice: by two indices of one model", "M-5", same_by_two_indices },
	{ "ConflictOperandType: floats and bytes", "M-5", conflict_type },
	{ "ConflictOperandType: integers", "M-5", conflict_type_of_integers },
	{ "ConflictScale: 0.5 and 1", "M-5", conflict_scale, .quant_only = true },
	{ "ConflictZeroPoint: 0 and 10", "M-5", conflict_zero_point, .quant_only = true },
	{ "ConflictRankBetweenRoles: 4 and 3", "M-5, M-6", conflict_rank },
	{ "ConflictDimensionsBetweenRoles: 1 and 4", "M-5, M-6", conflict_dimensions },
	{ "ConflictDimensionsBetweenRoles: 8 and 4", "M-5, M-6", conflict_last_dimension },
	{ "ConflictRankBetweenRoleAndDesc: 4 and 3", "M-5, M-6", desc_rank_3 },
	{ "ConflictDimensionsBetweenRoleAndDesc: 1 and 4", "M-5, M-6", desc_dim_4 },
	{ "ConflictDimensionsBetweenRoleAndDesc: what two roles leave open", "M-5, M-6",
	  desc_of_what_two_roles_leave_open, .not_of_integers = true },
	{ "two roles", "M-4", change_nothing, .legal = true },
	{ "one role", "M-4", one_role, .legal = true },
	{ "the smallest frequency", "M-3", smallest_frequency, .legal = true },
	{ "a description of unknown extents", "M-6", desc_of_unknown_extents, .legal = true },
	{ "a description that says what is known", "M-6", desc_of_what_is_known, .legal = true },
	{ "an unknown extent", "M-6, M-33", unknown_extents, .legal = true },
	{ "extents that roles know together", "M-6", extents_known_together, .legal = true, .not_of_integers = true },
};

static void allocation_init(struct allocation *a, const struct type *t)
{
	*a = (struct allocation){ .type = t,
		                  .operand = { t->operand, t->operand },
		                  .rank = { RANK, RANK },
		                  .n_models = 2,
		                  .roles = { { 0, 0, 1 }, { 1, 0, 1 } },
		                  .n_roles = 2 };
	memcpy(a->dims[0], full_dims, sizeof(full_dims));
	memcpy(a->dims[1], full_dims, sizeof(full_dims));
}

/* The two roles are in+in, in+out, out+in, out+out. */
static enum nnb_status allocate(struct buffer *ret, const struct allocation *a, unsigned combination, struct place *p,
                                const struct model *models, struct nnb_reason *why)
{
	struct nnb_buffer_role in[2], out[2];
	struct nnb_buffer_desc desc = { .rank = a->desc_rank, .inputs = in, .outputs = out };

	memcpy(desc.dims, a->desc_dims, sizeof(a->desc_dims));
	for (uint32_t i = 0; i < a->n_roles; i++) {
		/* The fault is in the second model where there are two; else in the only one. */
		if (combination >> i & 1)
			out[desc.n_outputs++] = a->roles[i];
		else
			in[desc.n_inputs++] = a->roles[i];
	}
	return buffer_new(ret, p, models, a->n_models, &desc, why);
}

static void second_model(struct model *second, const struct allocation *a, struct model *first, struct place *elsewhere)
{
	*second = (struct model){ 0 };
	if (a->second == TWICE)
		*second = *first;
	else if (a->second != NO_MODEL)
		model_init(second, a->second == FOREIGN ? elsewhere : first->place,
		           domain_model(&a->operand[1], 1, a->rank[1], a->dims[1]));
}

static void allocate_here_or_there(const struct allocation_row *row, const struct type *t, int here)
{
	struct place place, elsewhere;
	struct model models[2];
	struct allocation a;

	allocation_init(&a, t);
	row->change(&a);
	place_for(&place, here);
	place_for(&elsewhere, here);
	model_init(&models[0], &place, domain_model(&a.operand[0], 1, a.rank[0], a.dims[0]));
	second_model(&models[1], &a, &models[0], &elsewhere);
	for (unsigned i = 0; i < N_COMBINATIONS; i++) {
		struct buffer none = { (void *)&place, (void *)&place, (void *)&place }, b = none;

		if ((a.second == TWICE || (a.n_models == 1 && a.n_roles == 2)) && (i == 1 || i == 2))
			continue; /* an input and an output differ */
		if (row->legal) {
			b = (struct buffer){ 0 };
			expect(NONE, allocate(&b, &a, i, &place, models, &why));
			assert_true(buffer_token(&b) != 0);
			buffer_fini(&b);
			continue;
		}
		expect(INVALID_ARGUMENT, allocate(&b, &a, i, &place, models, &why));
		assert_memory_equal(&b, &none, sizeof(b));
	}
	if (a.second != TWICE)
		model_fini(&models[1]);
	model_fini(&models[0]);
	place_fini(&elsewhere);
	place_fini(&place);
}

static void allocating(void **state)
{
	const struct setting *s = *state;

	allocate_here_or_there(s->row, s->type, false);
	allocate_here_or_there(s->row, s->type, true);
}

/*
 * ConflictRankWithScalarRole. xnnpack refuses an INT32 activation that is no constant; the null driver takes
 * it.
 */
static void scalar_role(const struct type *t, struct place *place)
{
	static const struct nnb_buffer_role activation = { 0, 2, 1 };
	struct nnb_buffer_desc desc = { .rank = 1, .inputs = &activation, .n_inputs = 1 };
	struct nnb_memory memory;
	struct buffer b = { 0 };
	struct model model;

	model_init(&model, place, sum_model(&t->operand));
	for (uint32_t dim = 0; dim < 3; dim++) {
		desc.dims[0] = dim;
		expect(INVALID_ARGUMENT, buffer_new(&b, place, &model, 1, &desc, &why));
		assert_true(!b.here && !b.remote && !b.pool);
	}
	desc.rank = 0;
	expect(NONE, buffer_new(&b, place, &model, 1, &desc, &why));
	memory_new(&memory, NNB_MEMORY_ASHMEM, 4); /* M-31 */
	expect(INVALID_ARGUMENT, buffer_copy_from(&b, &memory, 1, (uint32_t[]){ 1 }, &why));
	expect(GENERAL_FAILURE, buffer_copy_to(&b, &memory, &why));
	expect(NONE, buffer_copy_from(&b, &memory, 0, NULL, &why));
	expect(NONE, buffer_copy_to(&b, &memory, &why));
	nnb_memory_close(&memory);
	buffer_fini(&b);
	model_fini(&model);
}

static void conflict_rank_with_scalar_role(void **state)
{
	const struct setting *s = *state;
	struct place place = { .device = open_device("null") };
	struct service null_service;

	scalar_role(s->type, &place);
	nnb_device_unref(place.device);
	service_init(&null_service);
	service_start(&null_service, OPTIONS("--driver", "null"));
	place_init(&place, &null_service);
	scalar_role(s->type, &place);
	place_fini(&place);
	service_fini(&null_service);
}

/* ---- MemoryDomainCopyTest ---- */

enum { HALF = 1, EXACT = 2, DOUBLE = 4 };

static const struct copy_row {
	const char *name, *rule;
	bool dynamic;
	struct copy_step {
		enum { NO_MORE, FROM, TO } what;
		unsigned halves; /* half lengths of {1, 32, 32, 8} */
		enum nnb_status want;
		uint32_t rank, dims[RANK];
	} steps[8];
} copy_rows[] = {
	{ "CopyFrom_InvalidMemorySize",
	  "M-31",
	  false,
	  { { FROM, HALF, INVALID_ARGUMENT }, { FROM, DOUBLE, INVALID_ARGUMENT }, { TO, EXACT, GENERAL_FAILURE } } },
	{ "CopyFrom_InvalidMemorySize_DynamicShape",
	  "M-31, M-33",
	  true,
	  { { FROM, HALF, INVALID_ARGUMENT, 4, { 1, 32, 32, 8 } },
	    { FROM, DOUBLE, INVALID_ARGUMENT, 4, { 1, 32, 32, 8 } },
	    { FROM, EXACT, NONE, 4, { 1, 32, 32, 8 } },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 2, 32, 32, 8 } },
	    { TO, EXACT } } },
	{ "CopyFrom_InvalidDimensions",
	  "M-31",
	  false,
	  { { FROM, EXACT, INVALID_ARGUMENT, 3, { 1, 32, 32 } },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 2, 32, 32, 8 } },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 0, 32, 32, 8 } },
	    { TO, EXACT, GENERAL_FAILURE },
	    { FROM, EXACT },
	    { TO, EXACT },
	    { FROM, EXACT, NONE, 4, { 1, 32, 32, 8 } },
	    { TO, EXACT } } },
	{ "CopyFrom_InvalidDimensions_DynamicShape",
	  "M-31, M-33",
	  true,
	  { { FROM, EXACT, INVALID_ARGUMENT, 3, { 1, 32, 32 } },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 2, 32, 32, 4 } },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 1, 32, 32, 0 } },
	    { FROM, EXACT, INVALID_ARGUMENT },
	    { FROM, EXACT, INVALID_ARGUMENT, 4, { 0, 32, 32, 8 } },
	    { FROM, EXACT, NONE, 4, { 1, 32, 32, 8 } },
	    { TO, EXACT } } },
	{ "CopyTo_UninitializedMemory", "M-32", false, { { TO, EXACT, GENERAL_FAILURE } } },
	{ "CopyTo_UninitializedMemory, of an unknown extent", "M-32", true, { { TO, EXACT, GENERAL_FAILURE } } },
	{ "CopyTo_InvalidMemorySize",
	  "M-32",
	  false,
	  { { FROM, EXACT }, { TO, HALF, INVALID_ARGUMENT }, { TO, DOUBLE, INVALID_ARGUMENT }, { TO, EXACT } } },
	{ "CopyTo_InvalidMemorySize_DynamicShape",
	  "M-32, M-33",
	  true,
	  { { FROM, EXACT, NONE, 4, { 1, 32, 32, 8 } },
	    { TO, HALF, INVALID_ARGUMENT },
	    { TO, DOUBLE, INVALID_ARGUMENT },
	    { TO, EXACT } } },
	{ "CopyTo_InvalidMemorySize, uninitialised: sizes come first",
	  "M-32",
	  false,
	  { { TO, HALF, INVALID_ARGUMENT }, { TO, DOUBLE, INVALID_ARGUMENT }, { TO, EXACT, GENERAL_FAILURE } } },
	{ "CopyTo: as many bytes as were written last",
	  "M-33",
	  true,
	  { { FROM, DOUBLE, NONE, 4, { 2, 32, 32, 8 } },
	    { TO, EXACT, INVALID_ARGUMENT },
	    { TO, DOUBLE },
	    { FROM, EXACT, NONE, 4, { 1, 32, 32, 8 } },
	    { TO, DOUBLE, INVALID_ARGUMENT },
	    { TO, EXACT } } },
};

static enum nnb_status copy_step(const struct copy_step *step, const struct buffer *b, const struct setting *s,
                                 uint32_t *seed, struct nnb_reason *why)
{
	uint32_t n = step->halves * ROW / 2;
	struct nnb_mapping *mapping;
	struct nnb_memory memory;
	enum nnb_status status;

	memory_new(&memory, s->kind, (uint64_t)n * s->type->bytes);
	memory_fill(&memory, s->type, *seed + 1);
	if (step->what == FROM) {
		status = buffer_copy_from(b, &memory, step->rank, step->rank ? step->dims : NULL, why);
		*seed += !status;
	} else {
		status = buffer_copy_to(b, &memory, why);
		assert_int_equal(nnb_map(&mapping, &memory), 0); /* all of it, or none */
		assert_true(is_filled(s->type, nnb_mapping_data(mapping), n, status ? *seed + 1 : *seed));
		nnb_mapping_unref(mapping);
	}
	nnb_memory_close(&memory);
	return status;
}

static void copy_here_or_there(const struct setting *s, int here)
{
	const struct copy_row *row = s->row;
	struct place place;
	struct model model;
	struct buffer b;

	place_for(&place, here);
	model_init(&model, &place, domain_model(&s->type->operand, 1, RANK, row->dynamic ? dynamic_dims : full_dims));
	for (uint32_t roles = 1; roles < 4; roles++) { /* input, output, both */
		uint32_t seed = 1;

		buffer_init(&b, &model, roles & 1, roles >> 1);
		for (size_t i = 0; i < N_OF(row->steps) && row->steps[i].what; i++) {
			struct nnb_reason why = { "" };
			enum nnb_status status = copy_step(&row->steps[i], &b, s, &seed, &why);

			if (status != row->steps[i].want || (status && !why.text[0]))
				fail_msg("step %zu: %s (%s), not %s", i, nnb_status_name(status), why.text,
				         nnb_status_name(row->steps[i].want));
		}
		buffer_fini(&b);
	}
	model_fini(&model);
	place_fini(&place);
}

static void copying(void **state)
{
	copy_here_or_there(*state, false);
	copy_here_or_there(*state, true);
}

/* ---- MemoryDomainExecutionTest ---- */

static void invalid_token(struct scene *c)
{
	static const uint64_t tokens[] = { 0, 100, UINT64_MAX };

	for (size_t i = 0; i < 2 * N_OF(tokens); i++) {
		struct nnb_memory token;
		struct nnb_pool *pool;

		nnb_memory_token(&token, tokens[i / 2]);
		assert_int_equal(nnb_pool_from(&pool, &token), 0);
		scene_again(c);
		put_into(&c->request, argument(c, i % 2, 0), pool);
		expect_run(&c->model, c->path, &c->request, INVALID_ARGUMENT);
		nnb_pool_free(pool);
	}
}

static void invalid_prepared_model(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 1);
	initialise(&c->buffer, c->type, 9);
	run_with(c, &c->equal, false, 0, INVALID_ARGUMENT);
	run_with(c, &c->equal, true, 0, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
	run_with(c, &c->model, false, 0, NONE);
	expect_output(c, 0, 9);
}

static void invalid_io_index(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 0);
	initialise(&c->buffer, c->type, 9);
	run_with(c, &c->model, false, 1, INVALID_ARGUMENT);
	run_with(c, &c->model, true, 1, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
}

static void invalid_io_type(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 0);
	initialise(&c->buffer, c->type, 9);
	run_with(c, &c->model, true, 0, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
	buffer_fini(&c->buffer);
	buffer_init(&c->buffer, &c->model, 0, 1);
	initialise(&c->buffer, c->type, 9);
	run_with(c, &c->model, false, 0, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
}

static void uninitialized_memory(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 1);
	run_with(c, &c->model, false, 0, GENERAL_FAILURE);
	run_with(c, &c->model, true, 0, NONE);
	expect_output(c, 1, 2);
	expect_holds(&c->buffer, c->type, 1, 1, true);
	initialise(&c->buffer, c->type, 9); /* the sum of two larger values would overflow a byte */
	run_with(c, &c->model, false, 0, NONE);
	expect_output(c, 0, 9);
	expect_output(c, 1, 2);
}

static void same_request_multiple_roles(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 2, 2);
	initialise(&c->buffer, c->type, 9);
	scene_again(c);
	put_in(&c->request, &c->request.in[0], &c->buffer);
	c->request.out[0].location = c->request.in[0].location;
	expect_run(&c->model, c->path, &c->request, INVALID_ARGUMENT);
	scene_again(c);
	put_in(&c->request, &c->request.out[0], &c->buffer);
	c->request.out[1].location = c->request.out[0].location;
	expect_run(&c->model, c->path, &c->request, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
	scene_again(c);
	put_in(&c->request, &c->request.in[0], &c->buffer);
	c->request.in[1].location = c->request.in[0].location;
	expect_run(&c->model, c->path, &c->request, NONE);
	expect_output(c, 0, 9);
	expect_output(c, 1, 9);
}

/* The same with two pools of one token. */
static void same_request_multiple_pools(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 2, 2);
	initialise(&c->buffer, c->type, 9);
	for (int i = 0; i < 3; i++) {
		scene_again(c);
		put_in(&c->request, argument(c, i == 1, 0), &c->buffer);
		put_in(&c->request, argument(c, i < 2, 1), &c->buffer);
		expect_run(&c->model, c->path, &c->request, i < 2 ? INVALID_ARGUMENT : NONE);
		expect_holds(&c->buffer, c->type, 1, 9, false);
	}
}

/* The model leaves the first extent unknown, and the buffer has it. */
static void invalid_dimensions(struct scene *c)
{
	static const struct nnb_buffer_role role = { 0, 0, 1 };
	struct nnb_buffer_desc desc = {
		.rank = RANK, .inputs = &role, .outputs = &role, .n_inputs = 1, .n_outputs = 1
	};

	memcpy(desc.dims, full_dims, sizeof(full_dims));
	expect(NONE, buffer_new(&c->buffer, &c->place, &c->model, 1, &desc, &why));
	initialise(&c->buffer, c->type, 9);
	run_with(c, &c->model, false, 0, INVALID_ARGUMENT);
	run_with(c, &c->model, true, 0, INVALID_ARGUMENT);
	expect_holds(&c->buffer, c->type, 1, 9, false);
	scene_again(c); /* now only the result's shape contradicts the request */
	put_in(&c->request, &c->request.out[0], &c->buffer);
	c->request.out[0].rank = 0;
	expect_run(&c->model, c->path, &c->request, GENERAL_FAILURE); /* M-22: the room is not too small */
	expect_uninitialised(&c->buffer, c->type, 1);
}

/* ---- what VTS has no rows for: M-20, M-22, M-10 ---- */

static void a_buffer_is_an_argument_as_a_whole(struct scene *c)
{
	const struct nnb_location wrong[] = {
		{ 1, 4, 0 }, { 1, 0, ROW * c->type->bytes }, { 1, 0, 4 }, { 1, 4, 4 }, { 1, UINT32_MAX, UINT32_MAX }
	};

	buffer_init(&c->buffer, &c->model, 1, 1);
	initialise(&c->buffer, c->type, 9);
	for (size_t i = 0; i < 2 * N_OF(wrong); i++) {
		scene_again(c);
		put_in(&c->request, argument(c, i % 2, 0), &c->buffer);
		argument(c, i % 2, 0)->location = wrong[i / 2];
		expect_run(&c->model, c->path, &c->request, INVALID_ARGUMENT);
	}
	expect_holds(&c->buffer, c->type, 1, 9, false);
}

/* M-10: one buffer takes outputs of different shapes in turn; an input must have the last one. */
static void each_output_may_be_of_another_shape(struct scene *c)
{
	static const uint32_t shapes[] = { 2, ROWS_MAX - 1, 1, 2 };

	buffer_init(&c->buffer, &c->model, 1, 1);
	for (uint32_t i = 0; i < N_OF(shapes); i++) {
		c->request.rows = shapes[i];
		run_with(c, &c->model, true, 0, NONE);
		expect_output(c, 1, 2);
		expect_holds(&c->buffer, c->type, shapes[i], 1, true);
		c->request.rows = shapes[i] + 1;
		run_with(c, &c->model, false, 0, INVALID_ARGUMENT);
		expect_holds(&c->buffer, c->type, shapes[i], 1, true);
		c->request.rows = shapes[i];
		run_with(c, &c->model, false, 0, NONE);
		expect_holds(&c->buffer, c->type, shapes[i], 1, true);
	}
}

/* M-22: the buffer has the shape of the result, also where the request states no shape. */
static void an_output_is_of_the_shape_that_comes_out(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 1);
	for (uint32_t rows = ROWS_MAX - 1; rows; rows--) {
		c->request.rows = rows;
		scene_again(c);
		put_in(&c->request, &c->request.out[0], &c->buffer);
		c->request.out[0].rank = 0;
		expect_run(&c->model, c->path, &c->request, NONE);
		expect_holds(&c->buffer, c->type, rows, 1, true);
	}
}

/* M-10: an input has the shape that was written last, also where the request states no shape. */
static void an_input_is_of_the_shape_that_it_has(struct scene *c)
{
	buffer_init(&c->buffer, &c->model, 1, 1);
	for (uint32_t rows = ROWS_MAX - 1; rows; rows--) {
		uint32_t dims[RANK] = { rows, 32, 32, 8 };

		expect(NONE, copy_in(&c->buffer, c->type, rows, dims, 9, &why));
		c->request.rows = rows;
		scene_again(c);
		put_in(&c->request, &c->request.in[0], &c->buffer);
		c->request.in[0].rank = 0;
		expect_run(&c->model, c->path, &c->request, NONE);
		expect_output(c, 0, 9);
		if (c->path == BY_FENCED) /* where the driver sees the contradiction only when it runs the model */
			continue;
		c->request.out[0].dims[0] = rows + 1; /* a wrong shape: the result has one row less */
		c->request.out[0].location.length += ROW * c->type->bytes;
		expect_run(&c->model, c->path, &c->request, INVALID_ARGUMENT);
	}
}

static const struct execution_row {
	const char *name, *rule;
	void (*story)(struct scene *c);
	bool dynamic;         /* the model leaves the first extent unknown, and requests state 2 */
	bool not_fenced;      /* not by a fenced call: there outputs are fully specified */
	bool not_of_integers; /* not of integers: their model always gives one row */
} execution_rows[] = {
	{ "InvalidToken", "M-8, M-20", invalid_token },
	{ "InvalidPreparedModel", "M-20", invalid_prepared_model },
	{ "InvalidIOIndex", "M-20", invalid_io_index },
	{ "InvalidIOType", "M-20", invalid_io_type },
	{ "UninitializedMemory", "M-20, M-22", uninitialized_memory },
	{ "SameRequestMultipleRoles", "M-20", same_request_multiple_roles },
	{ "SameRequestMultipleRoles, by two pools", "M-20", same_request_multiple_pools },
	{ "InvalidDimensions", "M-20, M-22", invalid_dimensions, true, true, true },
	{ "a buffer is an argument as a whole", "M-20", a_buffer_is_an_argument_as_a_whole },
	{ "each output may be of another shape", "M-10", each_output_may_be_of_another_shape, true, false, true },
	{ "an input is of the shape that it has", "M-10", an_input_is_of_the_shape_that_it_has, true, false, true },
	{ "an output is of the shape that comes out", "M-22", an_output_is_of_the_shape_that_comes_out, true, true,
	  true },
};

static void executing(void **state)
{
	const struct setting *s = *state;
	const struct execution_row *row = s->row;
	struct scene c;

	scene_init(&c, &service, s->type, s->path, row->dynamic, row->dynamic ? 2 : 1);
	row->story(&c);
	scene_fini(&c);
}

/* ---- */

static void add_allocations(void)
{
	for (size_t i = 0; i < N_OF(allocation_rows); i++)
		for (unsigned t = 0; t < N_TYPES; t++) {
			const struct allocation_row *row = &allocation_rows[i];

			if ((row->quant_only && t != QUANTS) || (row->not_of_integers && t == INTS))
				continue;
			add_test(allocating, NULL, tear_down, (void *)(uintptr_t)setting(row, t, 0, 0),
			         "%s: allocate, %s, %s: %s", row->rule, row->name, types[t].name,
			         row->legal ? "NONE" : "INVALID_ARGUMENT");
		}
	for (unsigned t = 0; t < INTS; t++)
		add_test(conflict_rank_with_scalar_role, NULL, NULL, (void *)(uintptr_t)setting(NULL, t, 0, 0),
		         "M-5: allocate, ConflictRankWithScalarRole, ADD of %s: INVALID_ARGUMENT", types[t].name);
}

static void add_copies(void)
{
	for (size_t i = 0; i < N_OF(copy_rows); i++)
		for (unsigned t = 0; t < N_TYPES; t++)
			for (unsigned kind = 0; kind < N_COPY_KINDS; kind++)
				add_test(copying, NULL, tear_down,
				         (void *)(uintptr_t)setting(&copy_rows[i], t, kind, 0), "%s: copy, %s, %s, %s",
				         copy_rows[i].rule, copy_rows[i].name, types[t].name,
				         nnb_memory_kind_name(copy_kinds[kind]));
}

static void add_executions(void)
{
	for (size_t i = 0; i < N_OF(execution_rows); i++)
		for (unsigned t = 0; t < N_TYPES; t++)
			for (unsigned path = 0; path < N_PATHS; path++) {
				const struct execution_row *row = &execution_rows[i];

				if ((row->not_fenced && path == BY_FENCED) || (row->not_of_integers && t == INTS))
					continue;
				add_test(executing, NULL, tear_down, (void *)(uintptr_t)setting(row, t, 0, path),
				         "%s: execute %s, %s, %s", row->rule, path_names[path], row->name,
				         types[t].name);
			}
}

static int start_service(void **state)
{
	(void)state;
	service_init(&service);
	service_start(&service, OPTIONS(NULL));
	return 0;
}

static int stop_service(void **state)
{
	(void)state;
	service_fini(&service);
	return 0;
}

int main(void)
{
	add_allocations();
	add_copies();
	add_executions();
	return _cmocka_run_group_tests("memory domains", tests, n_tests, start_service, stop_service);
}
