/*
 * test_turn_deaths.c -- apps that die while they wait for a lane, hold one or were preempted, and a service
 * that is stopped meanwhile: the lane goes on to the others, and the service holds nothing of the dead.
 */
#include "qos_app.h"

enum { OTHER = 20, VICTIM = 10, WAITING = 8 };

struct fixture {
	struct service s;
	struct nnb_client *watch;
	struct app victim, other;
	bool has_victim, has_other;
	const void *row;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->row = *state;
	service_init(&f->s);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	gate_open(&f->s);
	if (f->has_victim)
		app_end(&f->victim);
	if (f->has_other)
		app_end(&f->other);
	nnb_client_close(f->watch);
	if (f->s.pid)
		service_settles(&f->s);
	service_fini(&f->s);
	free(f);
	return 0;
}

static void begin(struct fixture *f, const char *preempt)
{
	service_start(&f->s,
	              OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "priority", "--preempt", preempt));
	f->watch = app_open(&f->s);
	app_start(&f->other, &f->s, 0);
	f->has_other = true;
	for (uint32_t i = 0; i < N_PRIORITIES; i++)
		app_has(&f->other, i, i, N_OPS);
}

static void another_victim(struct fixture *f)
{
	app_start(&f->victim, &f->s, 0);
	f->has_victim = true;
	for (uint32_t i = 0; i < N_PRIORITIES; i++)
		app_has(&f->victim, i, i, N_OPS);
}

static void victim_dies(struct fixture *f)
{
	app_kill(&f->victim);
	f->has_victim = false;
}

static void tell(struct app *a, uint32_t priority, enum path path, uint32_t tag)
{
	app_is_told(a, &(struct order){ .what = ORDER_EXECUTE, .model = priority, .path = path, .tag = tag });
}

static void expect_notes(struct fixture *f, const char *wanted)
{
	const char *is = gate_notes(&f->s, false);

	if (strcmp(is, wanted) != 0)
		fail_msg("what ran was '%s', not '%s'", is, wanted);
}

static void an_app_dies_while_it_waits(void **state)
{
	struct fixture *f = *state;

	begin(f, f->row);
	for (int i = 0; i < 3; i++) {
		another_victim(f);
		gate_hold(&f->s, 0);
		tell(&f->other, MEDIUM, BY_BURST, OTHER);
		gate_has_seen(&f->s, 1);
		for (uint32_t k = 0; k < WAITING; k++) {
			tell(&f->victim, LOW, (enum path)(k % N_PATHS), VICTIM + k);
			await_waiting(f->watch, k + 1);
		}
		tell(&f->other, LOW, BY_SYNC, OTHER + 1);
		await_waiting(f->watch, WAITING + 1);
		victim_dies(f);
		await_waiting(f->watch, 1); /* at once, before the lane's holder goes on */
		gate_open(&f->s);
		for (int k = 0; k < 2; k++)
			assert_true(app_tells(&f->other).right);
		expect_notes(f, "20:0 20:1 20:2 20:3 21:0 21:1 21:2 21:3");
	}
}

static void an_app_dies_while_it_has_the_lane(void **state)
{
	struct fixture *f = *state;

	begin(f, f->row);
	for (unsigned path = 0; path < N_PATHS; path++) {
		another_victim(f);
		gate_hold(&f->s, 1);
		tell(&f->victim, MEDIUM, (enum path)path, VICTIM);
		gate_has_seen(&f->s, 1);
		tell(&f->other, LOW, BY_BURST, OTHER);
		await_waiting(f->watch, 1);
		victim_dies(f);
		gate_open(&f->s);
		app_tells_right(&f->other, OTHER);
		if (strncmp(gate_notes(&f->s, false), "10:0 10:1 ", 10) != 0)
			fail_msg("what ran was '%s'", gate_notes(&f->s, false));
	}
}

/* When the service has noticed the death, a run of the app ends at its next checkpoint. */
static void what_an_app_leaves_behind_goes_no_further_than_a_checkpoint(void **state)
{
	struct fixture *f = *state;

	begin(f, f->row);
	for (unsigned path = 0; path < N_PATHS; path++) {
		another_victim(f);
		gate_hold(&f->s, 1);
		tell(&f->victim, MEDIUM, (enum path)path, VICTIM);
		gate_has_seen(&f->s, 1);
		for (uint32_t k = 0; k < N_PATHS; k++) /* these executions end when the service has noticed the death */
			tell(&f->victim, LOW, (enum path)k, VICTIM + 1);
		await_waiting(f->watch, N_PATHS);
		victim_dies(f);
		await_waiting(f->watch, 0);
		tell(&f->other, LOW, BY_BURST, OTHER);
		await_waiting(f->watch, 1);
		gate_open(&f->s);
		app_tells_right(&f->other, OTHER);
		expect_notes(f, "10:0 10:1 20:0 20:1 20:2 20:3");
	}
}

static void an_app_dies_while_it_is_preempted(void **state)
{
	struct fixture *f = *state;

	begin(f, f->row);
	for (unsigned path = 0; path < N_PATHS; path++) {
		another_victim(f);
		gate_hold(&f->s, 0);
		tell(&f->victim, LOW, (enum path)path, VICTIM);
		gate_has_seen(&f->s, 1);
		tell(&f->other, HIGH, BY_BURST, OTHER);
		await_waiting(f->watch, 1);
		gate_let_one(&f->s);
		gate_has_seen(&f->s, 2);
		await_waiting(f->watch, 1); /* now the victim runs */
		victim_dies(f);
		await_waiting(f->watch, 0);
		gate_open(&f->s);
		app_tells_right(&f->other, OTHER);
		expect_notes(f, "10:0 20:0 20:1 20:2 20:3");
	}
}

/*
 * All waiting executions are cancelled while one thread is still on the lane; it stops at its next checkpoint,
 * and no other begins.
 */
static void a_service_that_is_stopped_lets_go_of_those_who_wait(void **state)
{
	struct fixture *f = *state;

	begin(f, f->row);
	another_victim(f);
	gate_hold(&f->s, 1);
	tell(&f->victim, LOW, BY_SYNC, VICTIM);
	gate_has_seen(&f->s, 1);
	for (uint32_t k = 0; k < WAITING; k++) {
		tell(&f->other, k % N_PRIORITIES, (enum path)(k % N_PATHS), OTHER + k);
		await_waiting(f->watch, k + 1);
	}
	kill(f->s.pid, SIGTERM);
	for (uint32_t k = 0; k <= WAITING; k++) {
		struct outcome o = app_tells(k < WAITING ? &f->other : &f->victim);

		if (o.status != NNB_STATUS_DEAD_OBJECT && o.status != NNB_STATUS_GENERAL_FAILURE)
			fail_msg("%u: %s", o.tag, nnb_status_name(o.status));
	}
	gate_open(&f->s);
	assert_int_equal(service_reap(&f->s), 0);
	expect_notes(f, "10:0 10:1");
}

#define TEST(run, row, ...) add_test(run, set_up, tear_down, (void *)(uintptr_t)(row), __VA_ARGS__)

int main(int argc, char **argv)
{
	static const char *const modes[] = { "none", "restart", "save" };

	if (argc == 5 && !strcmp(argv[1], "--scene"))
		app_scene(argv[3], argv[4]);
	for (size_t i = 0; i < N_OF(modes); i++) {
		TEST(an_app_dies_while_it_waits, modes[i], "an app dies while it waits (%s)", modes[i]);
		TEST(an_app_dies_while_it_has_the_lane, modes[i], "an app dies while it has the lane (%s)", modes[i]);
		TEST(what_an_app_leaves_behind_goes_no_further_than_a_checkpoint, modes[i],
		     "what an app leaves behind goes no further than a checkpoint (%s)", modes[i]);
		if (i)
			TEST(an_app_dies_while_it_is_preempted, modes[i], "an app dies while it is preempted (%s)",
			     modes[i]);
		TEST(a_service_that_is_stopped_lets_go_of_those_who_wait, modes[i],
		     "a service that is stopped lets go of those who wait (%s)", modes[i]);
	}
	return _cmocka_run_group_tests("turns: deaths", tests, n_tests, NULL, NULL);
}
