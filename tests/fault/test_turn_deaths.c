/*
 * test_turn_deaths.c -- apps that die while they wait for a lane, hold one or were preempted, and a service
 * that is stopped meanwhile: the lane goes on to the others, and the service holds nothing of the dead.
 */
#include "qos_app.h"

enum { OTHER_APP, VICTIM_APP };
enum { OTHER = 20, VICTIM = 10, WAITING = 8 }; /* tags; executions of the victim */

static void begin(struct turns *f)
{
	turns_start(f, OPTIONS("--app-identity", "pid", "--lanes", "1", "--policy", "priority", "--preempt", f->row));
	turns_add_app(f);
}

static void send_order(struct turns *f, unsigned app, uint32_t priority, enum path path, uint32_t tag)
{
	app_send_order(&f->apps[app],
	               &(struct order){ .what = ORDER_EXECUTE, .model = priority, .path = path, .tag = tag });
}

/* Add a victim, whose first execution is on the lane before operation @op. */
static void victim_takes_the_lane(struct turns *f, uint32_t priority, unsigned path, unsigned op)
{
	turns_add_app(f);
	gate_hold(&f->s, op);
	send_order(f, VICTIM_APP, priority, (enum path)path, VICTIM);
	gate_has_seen(&f->s, 1);
}

/* The other app's execution waits behind the victim's. */
static void other_waits(struct turns *f, uint32_t priority)
{
	send_order(f, OTHER_APP, priority, BY_BURST, OTHER);
	await_waiting(f->watch, 1);
}

/* All go on, and the other app's execution must be right. */
static void other_ends(struct turns *f)
{
	gate_open(&f->s);
	app_expect_right(&f->apps[OTHER_APP], OTHER);
}

static void an_app_dies_while_it_waits(void **state)
{
	struct turns *f = *state;

	begin(f);
	for (int i = 0; i < 3; i++) {
		turns_add_app(f);
		gate_hold(&f->s, 0);
		send_order(f, OTHER_APP, MEDIUM, BY_BURST, OTHER);
		gate_has_seen(&f->s, 1);
		for (uint32_t k = 0; k < WAITING; k++) {
			send_order(f, VICTIM_APP, LOW, (enum path)(k % N_PATHS), VICTIM + k);
			await_waiting(f->watch, k + 1);
		}
		send_order(f, OTHER_APP, LOW, BY_SYNC, OTHER + 1);
		await_waiting(f->watch, WAITING + 1);
		turns_kill_app(f);
		await_waiting(f->watch, 1); /* at once, before the lane's holder goes on */
		gate_open(&f->s);
		for (int k = 0; k < 2; k++)
			assert_true(app_read_outcome(&f->apps[OTHER_APP]).right);
		turns_expect_notes(f, false, "20:0 20:1 20:2 20:3 21:0 21:1 21:2 21:3");
	}
}

static void an_app_dies_while_it_has_the_lane(void **state)
{
	struct turns *f = *state;

	begin(f);
	for (unsigned path = 0; path < N_PATHS; path++) {
		victim_takes_the_lane(f, MEDIUM, path, 1);
		other_waits(f, LOW);
		turns_kill_app(f);
		other_ends(f);
		if (strncmp(gate_notes(&f->s, false), "10:0 10:1 ", 10) != 0)
			fail_msg("operations ran as '%s'", gate_notes(&f->s, false));
	}
}

/* When the service has noticed the death, a run of the app ends at its next checkpoint. */
static void runs_of_a_dead_app_end_at_a_checkpoint(void **state)
{
	struct turns *f = *state;

	begin(f);
	for (unsigned path = 0; path < N_PATHS; path++) {
		victim_takes_the_lane(f, MEDIUM, path, 1);
		for (uint32_t k = 0; k < N_PATHS; k++) /* these executions end when the service has noticed the death */
			send_order(f, VICTIM_APP, LOW, (enum path)k, VICTIM + 1);
		await_waiting(f->watch, N_PATHS);
		turns_kill_app(f);
		await_waiting(f->watch, 0);
		other_waits(f, LOW);
		other_ends(f);
		turns_expect_notes(f, false, "10:0 10:1 20:0 20:1 20:2 20:3");
	}
}

static void an_app_dies_while_it_is_preempted(void **state)
{
	struct turns *f = *state;

	begin(f);
	for (unsigned path = 0; path < N_PATHS; path++) {
		victim_takes_the_lane(f, LOW, path, 0);
		other_waits(f, HIGH);
		gate_release_one(&f->s);
		gate_has_seen(&f->s, 2);
		await_waiting(f->watch, 1); /* now the victim runs */
		turns_kill_app(f);
		await_waiting(f->watch, 0);
		other_ends(f);
		turns_expect_notes(f, false, "10:0 20:0 20:1 20:2 20:3");
	}
}

/*
 * All waiting executions are cancelled while one thread is still on the lane; it stops at its next checkpoint,
 * and no other begins.
 */
static void a_stopped_service_cancels_waiting_executions(void **state)
{
	struct turns *f = *state;

	begin(f);
	victim_takes_the_lane(f, LOW, BY_SYNC, 1);
	for (uint32_t k = 0; k < WAITING; k++) {
		send_order(f, OTHER_APP, k % N_PRIORITIES, (enum path)(k % N_PATHS), OTHER + k);
		await_waiting(f->watch, k + 1);
	}
	kill(f->s.pid, SIGTERM);
	for (uint32_t k = 0; k <= WAITING; k++) {
		struct outcome o = app_read_outcome(k < WAITING ? &f->apps[OTHER_APP] : &f->apps[VICTIM_APP]);

		if (o.status != NNB_STATUS_DEAD_OBJECT && o.status != NNB_STATUS_GENERAL_FAILURE)
			fail_msg("%u: %s", o.tag, nnb_status_name(o.status));
	}
	gate_open(&f->s);
	assert_int_equal(service_reap(&f->s), 0);
	turns_expect_notes(f, false, "10:0 10:1");
}

#define TEST(run, row, ...) add_test(run, turns_set_up, turns_tear_down, (void *)(uintptr_t)(row), __VA_ARGS__)

int main(int argc, char **argv)
{
	static const char *const modes[] = { "none", "restart", "save" };

	if (argc == 5 && !strcmp(argv[1], "--scene"))
		app_scene(argv[3], argv[4]);
	for (size_t i = 0; i < N_OF(modes); i++) {
		TEST(an_app_dies_while_it_waits, modes[i], "an app dies while it waits (%s)", modes[i]);
		TEST(an_app_dies_while_it_has_the_lane, modes[i], "an app dies while it has the lane (%s)", modes[i]);
		TEST(runs_of_a_dead_app_end_at_a_checkpoint, modes[i], "runs of a dead app end at a checkpoint (%s)",
		     modes[i]);
		if (i)
			TEST(an_app_dies_while_it_is_preempted, modes[i], "an app dies while it is preempted (%s)",
			     modes[i]);
		TEST(a_stopped_service_cancels_waiting_executions, modes[i],
		     "a stopped service cancels waiting executions (%s)", modes[i]);
	}
	return _cmocka_run_group_tests("turns: deaths", tests, n_tests, NULL, NULL);
}
