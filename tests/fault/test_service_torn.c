/*
 * test_service_torn.c -- an app truncates files under the executions of a real nnburstd that has few mappings
 * left: the service lives, uses no mapping for a tear, and serves the other app.
 *
 * The attack is an EMBEDDING_LOOKUP of one number in every other page of a file that ends before them: each
 * number is a tear.
 */
#include "service_helpers.h"

#include "nnb/memory.h"

enum {
	ROOM = 1500,               /* mappings that the service has left */
	PAGES = 4096,              /* pages of the file: every other one is torn */
	ROUNDS = 20,               /* how often the file is truncated */
	SERVICE_MAY_TAKE = 300,    /* mappings: those of the tearer's connection, and the reserve of tear.c */
	NUMBERS_IN_PAGE = 4096 / 4 /* numbers this far apart lie in different pages, for any page size here */
};

/* ---- the tearer ---- */

/* y[i] = x[2 * i * NUMBERS_IN_PAGE] */
static struct nnb_model *sparse_model(void)
{
	static int32_t rows[PAGES / 2];
	struct nnb_model *m;
	uint32_t lookups, x, y;

	for (int32_t i = 0; i < PAGES / 2; i++)
		rows[i] = 2 * i * NUMBERS_IN_PAGE;
	must(nnb_model_new(&m, "sparse", NNB_HAL_1_0) == 0);
	lookups = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_INT32, .rank = 1, .dims = { PAGES / 2 } });
	must(nnb_model_value(m, lookups, rows, sizeof(rows)) == 0);
	x = operand(m, &(struct nnb_operand){
			       .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { PAGES * NUMBERS_IN_PAGE, 1 } });
	y = operand(m, &(struct nnb_operand){ .type = NNB_TENSOR_FLOAT32, .rank = 2, .dims = { PAGES / 2, 1 } });
	must(nnb_model_operation(m, NNB_EMBEDDING_LOOKUP, (uint32_t[]){ lookups, x }, 2, &y, 1) >= 0);
	must(nnb_model_finish(m, &x, 1, &y, 1) == 0);
	return m;
}

struct tearer {
	struct nnb_client *client;
	struct nnb_remote *remote;
	struct nnb_burst *burst;
	int fd;
	struct nnb_pool *pools[2]; /* the file, and the output */
	struct nnb_argument in, out;
	struct nnb_output_shape shape;
	struct nnb_call call;
};

static const uint32_t file_bytes = PAGES * NUMBERS_IN_PAGE * 4;

static void tearer_init(struct tearer *t, const char *socket_path)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_model *model = sparse_model();
	struct nnb_memory file;

	*t = (struct tearer){ .fd = memfd_create("torn", MFD_CLOEXEC),
		              .in.location = { 0, 0, file_bytes },
		              .out.location = { 1, 0, PAGES / 2 * 4 } };
	must(nnb_client_open(&t->client, &config, NULL) == 0);
	must(nnb_remote_prepare(t->client, model, &ordinary, NULL, &t->remote, NULL) == NNB_STATUS_NONE);
	must(nnb_remote_burst(t->remote, NULL, &t->burst, NULL) == NNB_STATUS_NONE);
	must(ftruncate(t->fd, file_bytes) == 0);
	must(nnb_memory_mmap_fd(&file, t->fd, file_bytes, PROT_READ, 0) == 0);
	must(nnb_pool_from(&t->pools[0], &file) == 0);
	must(nnb_pool_new(&t->pools[1], PAGES / 2 * 4) == 0);
	nnb_memory_close(&file);
	nnb_model_free(model);
	t->call = (struct nnb_call){
		.inputs = &t->in, .outputs = &t->out, .pools = t->pools, .n_inputs = 1, .n_outputs = 1, .n_pools = 2
	};
}

static enum nnb_status tearer_execute(struct tearer *t, bool burst)
{
	struct nnb_answer answer = { .shapes = &t->shape };

	return burst ? nnb_burst_execute(t->burst, &t->call, &answer, NULL)
	             : nnb_remote_execute(t->remote, &t->call, &answer, NULL);
}

/* The burst has mapped its pool, so the file may be short when executions begin. */
static void tear_again_and_again(const char *socket_path)
{
	struct tearer t;

	tearer_init(&t, socket_path);
	for (int i = 0; i < ROUNDS; i++) {
		must(ftruncate(t.fd, file_bytes) == 0);
		must(tearer_execute(&t, true) == NNB_STATUS_NONE);
		must(ftruncate(t.fd, 0) == 0);
		must(tearer_execute(&t, true) == NNB_STATUS_GENERAL_FAILURE);
		scene_report('t');
	}
	scene_report('.');
	scene_stay();
}

/* ---- the service and its other app ---- */

enum { N = 64 };

static int set_up(void **state)
{
	struct one_app *f = calloc(1, sizeof(*f));
	char room[16];

	assert_non_null(f);
	snprintf(room, sizeof(room), "%d", ROOM);
	setenv("NNB_GATE_ROOM", room, 1);
	service_init(&f->s);
	service_start(&f->s, OPTIONS("--app-identity", "pid"));
	unsetenv("NNB_GATE_ROOM");
	one_app_open(f, N);
	f->burst = app_burst(f->remote);
	*state = f;
	return 0;
}

static unsigned mappings(const struct service *s)
{
	char path[64], line[512];
	unsigned n = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)s->pid);
	maps = fopen(path, "re");
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		n++;
	fclose(maps);
	return n;
}

/* Execute by call and by burst, and make everything that takes new mappings: a connection, a model, a burst. */
static void expect_good(struct one_app *f)
{
	struct nnb_client *client = app_open(&f->s);
	struct nnb_remote *remote = app_prepare(client, f->adds);
	struct nnb_burst *burst = app_burst(remote);

	expect_burst(f->burst, &f->io, NNB_ADD);
	expect_sync(f->remote, &f->io, NNB_ADD);
	expect_burst(burst, &f->io, NNB_ADD);
	nnb_burst_free(burst);
	nnb_remote_release(remote);
	nnb_client_close(client);
}

static void a_tear_costs_the_service_no_mapping(void **state)
{
	struct one_app *f = *state;
	struct child c;
	unsigned before, after;

	expect_good(f);
	before = mappings(&f->s);
	child_start(&c, "tears", &f->s, "");
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(child_read(&c), 't');
		expect_good(f);
		after = mappings(&f->s);
		if (after > before + SERVICE_MAY_TAKE)
			fail_msg("%u mappings, and %u before", after, before);
	}
	assert_int_equal(child_read(&c), '.');
	child_kill(&c);
	expect_good(f);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		tear_again_and_again(argv[3]);
		return 0;
	}
	add_test(a_tear_costs_the_service_no_mapping, set_up, one_app_tear_down, NULL,
	         "a tear costs the service no mapping");
	return _cmocka_run_group_tests("service: torn files", tests, n_tests, NULL, NULL);
}
