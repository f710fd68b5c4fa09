/*
 * stress_buffers.c -- apps whose state lies in the driver's buffers, with several threads each, by every path: the
 * threads allocate, copy, free while others execute, try each other's tokens, misuse their own, miss deadlines, and
 * are killed. Meant for the sanitizers. NNB_SOAK_SECONDS sets the length.
 *
 * A state names its app and its number, and every execution adds one to the rest. So the test knows, to the last bit,
 * what each state must be: the state of a thread's own buffers exactly; the state of shared buffers is one that some
 * thread of the app wrote. Every call ends with a status that the rules allow, no thread waits for ever, and at the
 * end the service holds nothing.
 */
#include <semaphore.h>
#include <sys/socket.h>

#include "fault/stress_apps.h"
#include "nnb/fence.h"
#include "qos_app.h"

enum { APPS = 4, THREADS = 3, SHARED = 2, N = 4096, STATE_BYTES = 4 * N, CHAIN = 3, LIFE = 60 };
enum { WHO, WHICH, COUNT };                  /* elements of a state; all elements from COUNT on are equal */
enum { STEP, X, OUT, Y, PARTS = Y + CHAIN }; /* parts of a thread's pool, a state each; STEP holds the summand */
enum { TOKENS_SHOWN = 8, NOTHING = -1 };
#define LIMIT "buffers=7" /* an app asks for more */

static const struct stress {
	const char *policy, *preempt, *deadline, *more;
} rows[] = {
	{ "fair", "save", "abort", NULL },
	{ "edf", "restart", "abort", NULL },
	{ "priority", "save", "refuse", "--plain-bursts" },
};

/* ---- what all processes see ---- */

enum deed {
	STEPPED,
	CHAINED,
	MISSED,
	COPIED,
	READ_SHARED,
	WROTE_SHARED,
	MET,
	STOLEN,
	REPLAYED,
	MISUSED,
	REFUSED,
	FELL_BACK,
	FREED_UNDER_WAY,
	N_DEEDS
};

static const char *const deed_names[N_DEEDS] = {
	[STEPPED] = "stepped",
	[CHAINED] = "chained",
	[MISSED] = "missed a deadline",
	[COPIED] = "copied",
	[READ_SHARED] = "read what is shared",
	[WROTE_SHARED] = "wrote what is shared",
	[MET] = "met another",
	[STOLEN] = "tried another's token",
	[REPLAYED] = "tried an old token",
	[MISUSED] = "misused",
	[REFUSED] = "was refused a buffer",
	[FELL_BACK] = "fell back",
	[FREED_UNDER_WAY] = "freed under way",
};

struct board {
	atomic_ullong deeds[N_DEEDS];
	atomic_ullong tokens[APPS][TOKENS_SHOWN]; /* tokens published by each app; their buffers may be freed by now */
};

/* ---- in an app ---- */

/* A buffer that all threads of the app use. A thread that frees it holds the lock exclusively. */
struct shared {
	pthread_rwlock_t lock;
	struct nnb_remote_buffer *buffer; /* NULL: no buffer now */
	float which;
};

struct crew {
	struct board *board;
	unsigned seat;
	float who;
	struct nnb_client *client;
	struct nnb_remote *models[2]; /* the same model twice; buffers are for the first */
	struct shared shared[SHARED];
	atomic_uint counts, whiches; /* the next numbers for states in shared buffers */
	atomic_bool enough;
};

struct worker {
	struct crew *crew;
	uint64_t seed;
	_Atomic uint64_t since; /* start of the current step */
	struct nnb_pool *io, *copy;
	struct nnb_burst *burst;
	struct nnb_remote_buffer *state[2];
	unsigned at;               /* index of the buffer that holds the state */
	float who, which, held[2]; /* held: the count in each buffer, or NOTHING */
	enum path path;            /* path of the last execution */
	struct nnb_reason why;
	pthread_t thread;
};

static void deed_count(const struct worker *w, enum deed deed)
{
	atomic_fetch_add(&w->crew->board->deeds[deed], 1);
}

static void trouble(const struct worker *w, const char *what, enum nnb_status status)
{
	fprintf(stderr, "app %d: %s: %s (%s); the last execution was %s\n", (int)getpid(), what,
	        nnb_status_name(status), w->why.text, path_names[w->path]);
	_exit(3);
}

static void expect(const struct worker *w, enum nnb_status status, enum nnb_status want, const char *what)
{
	if (status != want)
		trouble(w, what, status);
}

static bool chance(struct worker *w, unsigned of)
{
	return next_random(&w->seed) % of == 0;
}

/* ---- states ---- */

static float *part(const struct worker *w, unsigned which)
{
	return (float *)nnb_pool_data(w->io) + (size_t)which * N;
}

static void write_state(float *s, float who, float which, float count)
{
	s[WHO] = who;
	s[WHICH] = which;
	for (int i = COUNT; i < N; i++)
		s[i] = count;
}

static bool is_state(const float *s, float who, float which, float count)
{
	bool is = s[WHO] == who && s[WHICH] == which;

	for (int i = COUNT; i < N; i++)
		is &= s[i] == count;
	return is;
}

static void expect_state(const struct worker *w, const float *s, float who, float which, float count, const char *what)
{
	if (is_state(s, who, which, count))
		return;
	fprintf(stderr, "app %d: %s: it is %g %g %g ... %g, not %g %g %g\n", (int)getpid(), what, (double)s[WHO],
	        (double)s[WHICH], (double)s[COUNT], (double)s[N - 1], (double)who, (double)which, (double)count);
	trouble(w, "a state is wrong", NNB_STATUS_NONE);
}

/* A shared buffer must hold one whole state that a thread of this app wrote. */
static void expect_some_state(const struct worker *w, const float *s, float which, const char *what)
{
	if (s[COUNT] < 1 || s[COUNT] > (float)atomic_load(&w->crew->counts) + 2)
		trouble(w, "no thread has written this state", NNB_STATUS_NONE);
	expect_state(w, s, w->crew->who, which, s[COUNT], what);
}

static float next_count(struct worker *w)
{
	/* an execution adds one, and so does the next reader */
	return (float)(atomic_fetch_add(&w->crew->counts, 1) + 1);
}

/* state + step, twice: two operations, so that there is a checkpoint between them. */
static struct nnb_model *counting_model(void)
{
	uint32_t state, step, none, out, y;
	struct nnb_model *m;

	must(!nnb_model_new(&m, "counts", NNB_HAL_1_0));
	state = float_tensor(m, N);
	step = float_tensor(m, N);
	none = int_scalar(m, NNB_FUSED_NONE);
	out = float_tensor(m, N);
	y = float_tensor(m, N);
	must(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ state, step, none }, 3, &out, 1) >= 0);
	must(nnb_model_operation(m, NNB_ADD, (uint32_t[]){ state, step, none }, 3, &y, 1) >= 0);
	must(!nnb_model_finish(m, (uint32_t[]){ state, step }, 2, (uint32_t[]){ out, y }, 2));
	return m;
}

/* ---- executions ---- */

/* The place of an input or output: a part of the pool, a buffer, or anything that has a token. */
struct place {
	unsigned part;
	const struct nnb_remote_buffer *buffer;
	struct nnb_pool *token;
};

#define IN_PART(p) ((struct place){ .part = (p) })
#define IN_BUFFER(b) ((struct place){ .buffer = (b) })
#define IN_TOKEN(t) ((struct place){ .token = (t) })

struct shot {
	enum path path;
	enum nnb_status status;
	struct nnb_pool *pools[3];
	struct nnb_argument in[2], out[2];
	struct nnb_call call;
	float *y;
	sem_t told;
	struct nnb_fenced *fenced;
	int fence;
};

static struct nnb_argument in_part(unsigned which)
{
	return (struct nnb_argument){ .location = { 0, which * STATE_BYTES, STATE_BYTES } };
}

static struct nnb_argument put(struct shot *s, struct place at)
{
	uint32_t k = s->call.n_pools;

	if (!at.buffer && !at.token)
		return in_part(at.part);
	s->pools[s->call.n_pools++] = at.token ? at.token : nnb_remote_buffer_pool(at.buffer);
	return at.token ? (struct nnb_argument){ .location = { k, 0, 0 } } : nnb_remote_buffer_argument(at.buffer, k);
}

static void aim(struct worker *w, struct shot *s, struct place from, struct place to, unsigned y)
{
	*s = (struct shot){ .path = (enum path)(next_random(&w->seed) % N_PATHS), .pools = { w->io }, .y = part(w, y) };
	s->call = (struct nnb_call){
		.inputs = s->in, .outputs = s->out, .pools = s->pools, .n_inputs = 2, .n_outputs = 2, .n_pools = 1
	};
	s->in[0] = put(s, from);
	s->in[1] = in_part(STEP);
	s->out[0] = put(s, to);
	s->out[1] = in_part(y);
	write_state(s->y, -1, -1, -1);
	w->why.text[0] = '\0';
}

static void on_done(void *arg, const struct nnb_result *result)
{
	struct shot *s = arg;

	s->status = result->status;
	sem_post(&s->told);
}

static void by_burst(struct worker *w, struct shot *s)
{
	struct nnb_answer answer = { 0 };

	s->status = nnb_burst_execute(w->burst, &s->call, &answer, &w->why);
	if (answer.fallback)
		trouble(w, "a burst falls back", s->status);
}

/* @model: one of the crew's. A burst is always for the first. */
static void launch(struct worker *w, struct shot *s, unsigned model, const int *wait_for)
{
	struct nnb_fenced_how how = { .wait_for = wait_for, .n_wait_for = wait_for ? 1 : 0 };
	struct nnb_remote *remote = w->crew->models[model];

	w->path = s->path;
	switch (s->path) {
	case BY_ASYNC:
		sem_init(&s->told, 0, 0);
		nnb_remote_execute_async(remote, &s->call, on_done, s, &w->why);
		break;
	case BY_FENCED:
		s->status = nnb_remote_execute_fenced(remote, &s->call, &how, &s->fenced, &s->fence, &w->why);
		break;
	case BY_BURST:
		by_burst(w, s);
		break;
	default:
		s->status = nnb_remote_execute(remote, &s->call, NULL, &w->why);
	}
}

static void land_fenced(struct worker *w, struct shot *s)
{
	int state;

	do
		state = nnb_fence_wait(&s->fence, 1, 0);
	while (state == -EINTR);
	s->status = nnb_fenced_info(s->fenced, NULL, NULL, &w->why);
	if ((state == NNB_FENCE_SIGNALLED) != !s->status)
		trouble(w, "the fence has another status", s->status);
	nnb_fenced_free(s->fenced);
	close(s->fence);
}

/* Whether the execution still runs although the app has freed the buffer. */
static bool is_under_way(const struct shot *s)
{
	return s->path == BY_ASYNC || (s->path == BY_FENCED && s->fenced);
}

static enum nnb_status land(struct worker *w, struct shot *s)
{
	if (s->path == BY_ASYNC) {
		while (sem_wait(&s->told))
			;
		sem_destroy(&s->told);
	} else if (s->path == BY_FENCED && s->fenced) {
		land_fenced(w, s);
	}
	return s->status;
}

static enum nnb_status shoot(struct worker *w, struct shot *s)
{
	launch(w, s, 0, NULL);
	return land(w, s);
}

/* ---- buffers ---- */

static void show_token(struct worker *w, const struct nnb_remote_buffer *b)
{
	const int32_t *ints = nnb_pool_memory(nnb_remote_buffer_pool(b))->ints;
	unsigned long long token = (uint32_t)ints[0] | (unsigned long long)(uint32_t)ints[1] << 32;

	atomic_store(&w->crew->board->tokens[w->crew->seat][next_random(&w->seed) % TOKENS_SHOWN], token);
}

/* NULL: the app has as many buffers as its limit allows. */
static struct nnb_remote_buffer *allocate(struct worker *w, bool fall_back)
{
	const struct nnb_buffer_role role = { .model = 0, .index = 0, .frequency = 1 };
	const struct nnb_buffer_desc desc = { .inputs = &role, .outputs = &role, .n_inputs = 1, .n_outputs = 1 };
	struct nnb_remote_buffer *b = NULL;
	enum nnb_status status =
		nnb_remote_buffer_new(&b, w->crew->client, w->crew->models, 1, &desc, fall_back, &w->why);

	if (!fall_back && status == NNB_STATUS_RESOURCE_EXHAUSTED_TRANSIENT) {
		deed_count(w, REFUSED);
		return NULL;
	}
	expect(w, status, NNB_STATUS_NONE, "allocating");
	if (nnb_remote_buffer_fell_back(b))
		deed_count(w, FELL_BACK);
	else
		show_token(w, b);
	return b;
}

static enum nnb_status copy_from(struct worker *w, struct nnb_remote_buffer *b, float who, float which, float count)
{
	const uint32_t dims[] = { N };

	write_state(nnb_pool_data(w->copy), who, which, count);
	return nnb_remote_buffer_copy_from(b, nnb_pool_memory(w->copy), chance(w, 2), dims, &w->why);
}

static enum nnb_status copy_to(struct worker *w, struct nnb_remote_buffer *b)
{
	write_state(nnb_pool_data(w->copy), -1, -1, -1);
	return nnb_remote_buffer_copy_to(b, nnb_pool_memory(w->copy), &w->why);
}

/* ---- what a thread has alone: what must be is known exactly ---- */

static void begin_state(struct worker *w)
{
	for (int i = 0; i < 2; i++) {
		w->state[i] = allocate(w, chance(w, 4));
		if (!w->state[i])
			w->state[i] = allocate(w, true);
	}
	w->at = 0;
	w->which++;
	w->held[0] = (float)(next_random(&w->seed) % 1000);
	w->held[1] = NOTHING;
	expect(w, copy_from(w, w->state[0], w->who, w->which, w->held[0]), NNB_STATUS_NONE, "a state to begin with");
}

static void moves_on(struct worker *w)
{
	w->held[!w->at] = w->held[w->at] + 1;
	w->at = !w->at;
}

static uint64_t some_deadline(struct worker *w)
{
	uint64_t now = now_ns();

	switch (next_random(&w->seed) % 8) {
	case 0:
		return now;
	case 1:
		return now + next_random(&w->seed) % (300 * 1000);
	case 2:
		return now + next_random(&w->seed) % (3 * MS);
	case 3:
		return UNLIMITED;
	default:
		return 0;
	}
}

/* Section 11: the buffer must be uninitialised. A burst that has not seen the buffer before leaves it unchanged. */
static void expect_nothing(struct worker *w, unsigned i, bool may_be_unseen)
{
	enum nnb_status status = copy_to(w, w->state[i]);

	if (!status && may_be_unseen && w->held[i] != NOTHING) {
		expect_state(w, nnb_pool_data(w->copy), w->who, w->which, w->held[i], "the output of what never was");
		return;
	}
	expect(w, status, NNB_STATUS_GENERAL_FAILURE, "the output of a failed step");
	w->held[i] = NOTHING;
}

static void expect_miss(struct worker *w, const struct shot *s)
{
	uint64_t deadline = s->call.terms.deadline_ns;

	if (s->status != NNB_STATUS_MISSED_DEADLINE_TRANSIENT && s->status != NNB_STATUS_MISSED_DEADLINE_PERSISTENT)
		trouble(w, "a step", s->status);
	if (!deadline || deadline == UNLIMITED)
		trouble(w, "misses a deadline that it does not have", s->status);
	if (!nnb_remote_buffer_fell_back(w->state[!w->at]))
		expect_nothing(w, !w->at, s->path == BY_BURST);
	deed_count(w, MISSED);
}

static void steps(struct worker *w)
{
	struct shot s;

	aim(w, &s, IN_BUFFER(w->state[w->at]), IN_BUFFER(w->state[!w->at]), Y);
	s.call.terms.deadline_ns = some_deadline(w);
	if (shoot(w, &s)) {
		expect_miss(w, &s);
		return;
	}
	expect_state(w, s.y, w->who, w->which, w->held[w->at] + 1, "a step");
	moves_on(w);
	deed_count(w, STEPPED);
}

/* Each execution waits for the one before it, and its input does not exist when it is launched. */
static void chains(struct worker *w)
{
	struct shot s[CHAIN];

	for (unsigned i = 0; i < CHAIN; i++, moves_on(w)) {
		aim(w, &s[i], IN_BUFFER(w->state[w->at]), IN_BUFFER(w->state[!w->at]), Y + i);
		s[i].path = BY_FENCED;
		launch(w, &s[i], 0, i ? &s[i - 1].fence : NULL);
		expect(w, s[i].status, NNB_STATUS_NONE, "launching one behind another");
	}
	for (unsigned i = 0; i < CHAIN; i++) { /* the last first, so that all others are over, too */
		struct shot *last = &s[CHAIN - 1 - i];

		expect(w, land(w, last), NNB_STATUS_NONE, "one behind another");
		expect_state(w, last->y, w->who, w->which, w->held[w->at] - (float)i, "one behind another");
	}
	deed_count(w, CHAINED);
}

static void copies(struct worker *w)
{
	struct nnb_remote_buffer *b = w->state[w->at];

	if (chance(w, 2)) {
		w->held[w->at] = (float)(next_random(&w->seed) % 1000);
		expect(w, copy_from(w, b, w->who, w->which, w->held[w->at]), NNB_STATUS_NONE, "copying in");
	}
	expect(w, nnb_remote_buffer_copy_from(b, nnb_pool_memory(w->io), 0, NULL, &w->why), NNB_STATUS_INVALID_ARGUMENT,
	       "copying in too much"); /* M-31 */
	expect(w, nnb_remote_buffer_copy_to(b, nnb_pool_memory(w->io), &w->why), NNB_STATUS_INVALID_ARGUMENT,
	       "copying out too much"); /* M-32 */
	expect(w, copy_to(w, b), NNB_STATUS_NONE, "copying out");
	expect_state(w, nnb_pool_data(w->copy), w->who, w->which, w->held[w->at], "copying out");
	deed_count(w, COPIED);
}

/* M-8: a token is invalid once its buffer is freed, also for an app that knows it or has a slot for it. */
static void expect_gone(struct worker *w, struct nnb_pool *token)
{
	struct shot s;

	aim(w, &s, IN_TOKEN(token), IN_PART(OUT), Y + 1);
	expect(w, shoot(w, &s), NNB_STATUS_INVALID_ARGUMENT, "an old token");
	deed_count(w, REPLAYED);
}

static struct nnb_pool *token_of(const struct nnb_remote_buffer *b)
{
	struct nnb_pool *pool;

	must(!nnb_pool_from(&pool, nnb_pool_memory(nnb_remote_buffer_pool(b))));
	return pool;
}

/* A launched execution ends well even if the buffer is freed before it begins. */
static void frees_before_it_begins(struct worker *w)
{
	bool kept = !nnb_remote_buffer_fell_back(w->state[w->at]);
	struct nnb_pool *token = token_of(w->state[w->at]);
	struct shot s;
	int fence;

	must(!nnb_fence_new(&fence));
	aim(w, &s, IN_BUFFER(w->state[w->at]), IN_BUFFER(w->state[!w->at]), Y);
	launch(w, &s, 0, &fence);
	if (is_under_way(&s))
		deed_count(w, FREED_UNDER_WAY);
	for (unsigned i = 0, first = (unsigned)chance(w, 2); i < 2; i++)
		nnb_remote_buffer_free(w->state[i ^ first]);
	if (kept)
		expect_gone(w, token);
	nnb_fence_signal(fence, false);
	expect(w, land(w, &s), NNB_STATUS_NONE, "a step of what was freed");
	expect_state(w, s.y, w->who, w->which, w->held[w->at] + 1, "a step of what was freed");
	close(fence);
	nnb_pool_free(token);
	begin_state(w);
}

/* ---- shared buffers: another execution may be using them ---- */

/* Returns false if another execution uses the buffer; then nothing has changed. */
static bool may_share(struct worker *w, enum nnb_status status, const char *what)
{
	if (status == NNB_STATUS_GENERAL_FAILURE)
		deed_count(w, MET);
	else
		expect(w, status, NNB_STATUS_NONE, what);
	return !status;
}

/* This thread lets others free the buffer before its execution ends. */
static bool releases_early(struct worker *w, struct shared *sh, const struct shot *s)
{
	bool early = is_under_way(s) && chance(w, 2);

	if (early)
		pthread_rwlock_unlock(&sh->lock);
	return early;
}

static void reads_shared(struct worker *w, struct shared *sh)
{
	float which = sh->which;
	struct shot s;
	bool early;

	aim(w, &s, IN_BUFFER(sh->buffer), IN_PART(OUT), Y);
	launch(w, &s, 0, NULL);
	early = releases_early(w, sh, &s);
	if (may_share(w, land(w, &s), "reading what is shared")) {
		expect_some_state(w, s.y, which, "reading what is shared");
		expect_state(w, part(w, OUT), w->crew->who, which, s.y[COUNT], "reading it once");
		deed_count(w, READ_SHARED);
	}
	if (!early)
		pthread_rwlock_unlock(&sh->lock);
}

static void writes_shared(struct worker *w, struct shared *sh)
{
	float which = sh->which, count = next_count(w);
	struct shot s;
	bool early;

	write_state(part(w, X), w->crew->who, which, count);
	aim(w, &s, IN_PART(X), IN_BUFFER(sh->buffer), Y);
	launch(w, &s, 0, NULL);
	early = releases_early(w, sh, &s);
	if (may_share(w, land(w, &s), "writing what is shared")) {
		expect_state(w, s.y, w->crew->who, which, count + 1, "writing what is shared");
		deed_count(w, WROTE_SHARED);
	}
	if (!early)
		pthread_rwlock_unlock(&sh->lock);
}

static void copies_shared(struct worker *w, struct shared *sh)
{
	if (chance(w, 2)) {
		if (may_share(w, copy_from(w, sh->buffer, w->crew->who, sh->which, next_count(w)), "copying in"))
			deed_count(w, WROTE_SHARED);
	} else if (may_share(w, copy_to(w, sh->buffer), "copying out what is shared")) {
		expect_some_state(w, nnb_pool_data(w->copy), sh->which, "copying out what is shared");
		deed_count(w, READ_SHARED);
	}
	pthread_rwlock_unlock(&sh->lock);
}

/* Write the buffer before other threads can see it: from then on, an uninitialised buffer means one in use. */
static void replaces_shared(struct worker *w, struct shared *sh)
{
	pthread_rwlock_wrlock(&sh->lock);
	sh->buffer = nnb_remote_buffer_free(sh->buffer);
	sh->which = (float)(atomic_fetch_add(&w->crew->whiches, 1) + 1);
	sh->buffer = allocate(w, false);
	if (sh->buffer) {
		expect(w, copy_to(w, sh->buffer), NNB_STATUS_GENERAL_FAILURE, "a new buffer holds something");
		expect(w, copy_from(w, sh->buffer, w->crew->who, sh->which, next_count(w)), NNB_STATUS_NONE,
		       "copying into a new buffer");
	}
	pthread_rwlock_unlock(&sh->lock);
}

static void shares(struct worker *w)
{
	struct shared *sh = &w->crew->shared[next_random(&w->seed) % SHARED];

	pthread_rwlock_rdlock(&sh->lock);
	if (!sh->buffer || chance(w, 32)) {
		pthread_rwlock_unlock(&sh->lock);
		replaces_shared(w, sh);
	} else if (chance(w, 3)) {
		copies_shared(w, sh);
	} else if (chance(w, 2)) {
		writes_shared(w, sh);
	} else {
		reads_shared(w, sh);
	}
}

/* ---- what must be refused, and has no effect ---- */

static struct nnb_pool *token_pool(uint64_t token)
{
	struct nnb_memory memory;
	struct nnb_pool *pool;

	nnb_memory_token(&memory, token);
	must(!nnb_pool_from(&pool, &memory));
	return pool;
}

/* M-21: with a token of another app, alive or not, or an arbitrary number. */
static void steals(struct worker *w)
{
	unsigned seat = (w->crew->seat + 1 + (unsigned)(next_random(&w->seed) % (APPS - 1))) % APPS;
	uint64_t token = atomic_load(&w->crew->board->tokens[seat][next_random(&w->seed) % TOKENS_SHOWN]);
	struct nnb_pool *pool = token_pool(token && !chance(w, 4) ? token : next_random(&w->seed));
	struct shot s;

	write_state(part(w, X), w->who, w->which, w->held[w->at]);
	for (int i = 0; i < 2; i++) {
		if (i)
			aim(w, &s, IN_TOKEN(pool), IN_PART(OUT), Y);
		else
			aim(w, &s, IN_PART(X), IN_TOKEN(pool), Y);
		expect(w, shoot(w, &s), NNB_STATUS_INVALID_ARGUMENT, "another's token");
	}
	nnb_pool_free(pool);
	if (token)
		deed_count(w, STOLEN);
}

/* The same pool, and so the same slot: first its token is valid, then not. */
static void replays(struct worker *w)
{
	struct nnb_remote_buffer *b = allocate(w, false);
	struct nnb_pool *token;
	struct shot s;

	if (!b)
		return;
	token = token_of(b);
	expect(w, copy_from(w, b, w->who, w->which, w->held[w->at]), NNB_STATUS_NONE, "copying into a new buffer");
	aim(w, &s, IN_TOKEN(token), IN_PART(OUT), Y);
	expect(w, shoot(w, &s), NNB_STATUS_NONE, "its own token");
	expect_state(w, s.y, w->who, w->which, w->held[w->at] + 1, "its own token");
	nnb_remote_buffer_free(b);
	expect_gone(w, token);
	expect_gone(w, token);
	nnb_pool_free(token);
}

/* M-20. The next step checks the state. */
static void misuses(struct worker *w)
{
	struct nnb_remote_buffer *b = w->state[w->at];
	unsigned how = (unsigned)(next_random(&w->seed) % 4), model = 0;
	struct shot s;

	if (nnb_remote_buffer_fell_back(b))
		return;
	aim(w, &s, IN_BUFFER(b), IN_PART(OUT), Y);
	if (how == 0) { /* an equal model */
		model = 1;
		s.path = s.path == BY_BURST ? BY_SYNC : s.path;
	} else if (how == 1) { /* another output than the buffer's role */
		s.out[1] = s.in[0];
		s.in[0] = in_part(X);
	} else if (how == 2) { /* not the whole buffer */
		s.in[0].location.length = STATE_BYTES / 2;
	} else { /* input and output */
		s.out[0] = s.in[0];
	}
	launch(w, &s, model, NULL);
	expect(w, land(w, &s), NNB_STATUS_INVALID_ARGUMENT, "a misuse");
	deed_count(w, MISUSED);
}

/* ---- an app's threads ---- */

static void does_something(struct worker *w)
{
	switch (next_random(&w->seed) % 16) {
	case 0:
		chains(w);
		break;
	case 1:
	case 2:
		copies(w);
		break;
	case 3:
		steals(w);
		break;
	case 4:
		replays(w);
		break;
	case 5:
		misuses(w);
		break;
	case 6:
		frees_before_it_begins(w);
		break;
	case 7:
	case 8:
	case 9:
	case 10:
		shares(w);
		break;
	default:
		steps(w);
	}
}

static void *works(void *arg)
{
	struct worker *w = arg;
	struct crew *c = w->crew;

	must(!nnb_pool_new(&w->io, (uint64_t)PARTS * STATE_BYTES) && !nnb_pool_new(&w->copy, STATE_BYTES));
	write_state(part(w, STEP), 0, 0, 1);
	begin_state(w);
	while (!atomic_load(&c->enough)) {
		expect(w, nnb_remote_burst(c->models[0], NULL, &w->burst, &w->why), NNB_STATUS_NONE, "a burst");
		for (int i = 0; i < LIFE && !atomic_load(&c->enough); i++) {
			atomic_store(&w->since, now_ns());
			does_something(w);
		}
		nnb_burst_free(w->burst);
	}
	for (int i = 0; i < 2; i++)
		nnb_remote_buffer_free(w->state[i]);
	nnb_pool_free(w->copy);
	nnb_pool_free(w->io);
	atomic_store(&w->since, UINT64_MAX);
	return NULL;
}

static void look_after(const struct worker *w)
{
	for (int i = 0; i < THREADS; i++)
		stress_app_check_wait(atomic_load(&w[i].since));
}

static void crew_init(struct crew *c, const char *socket_path)
{
	const struct nnb_client_config config = { .socket = socket_path };
	struct nnb_model *m = counting_model();

	if (nnb_client_open(&c->client, &config, NULL))
		_exit(2);
	for (int i = 0; i < 2; i++)
		if (nnb_remote_prepare(c->client, m, NULL, NULL, &c->models[i], NULL))
			_exit(6);
	nnb_model_free(m);
	for (int i = 0; i < SHARED; i++)
		pthread_rwlock_init(&c->shared[i].lock, NULL);
}

static void crew_fini(struct crew *c)
{
	for (int i = 0; i < 2; i++)
		nnb_remote_release(c->models[i]);
	for (int i = 0; i < SHARED; i++) { /* last: they need no model */
		nnb_remote_buffer_free(c->shared[i].buffer);
		pthread_rwlock_destroy(&c->shared[i].lock);
	}
	nnb_client_close(c->client);
}

/* Works until the test writes to @line. */
static void app(const char *socket_path, int line, int board, unsigned seat, unsigned number)
{
	struct crew c = { .seat = seat, .who = (float)((THREADS + 1) * number) };
	struct worker w[THREADS] = { 0 };

	c.board = mmap(NULL, sizeof(*c.board), PROT_READ | PROT_WRITE, MAP_SHARED, board, 0);
	must(c.board != MAP_FAILED);
	crew_init(&c, socket_path);
	scene_report('.');
	for (unsigned i = 0; i < THREADS; i++) {
		w[i].crew = &c;
		w[i].who = c.who + (float)(i + 1);
		w[i].seed = (uint64_t)number * THREADS + i + 1;
		atomic_store(&w[i].since, now_ns());
		must(!pthread_create(&w[i].thread, NULL, works, &w[i]));
	}
	while (!stress_app_is_called_off(line))
		look_after(w);
	atomic_store(&c.enough, true);
	alarm(WATCHDOG_S);
	for (int i = 0; i < THREADS; i++)
		pthread_join(w[i].thread, NULL);
	crew_fini(&c);
	_exit(0);
}

/* ---- the test ---- */

struct crowd {
	struct stress_crowd apps;
	struct board *board;
};

static void crowd_init(struct crowd *c, const struct stress *how)
{
	service_init(&c->apps.s);
	service_start(&c->apps.s,
	              OPTIONS("--app-identity", "pid", "--lanes", "2", "--limit", LIMIT, "--policy", how->policy,
	                      "--preempt", how->preempt, "--deadline", how->deadline, how->more));
	c->apps.shared_fd = memfd_create("board", 0); /* apps inherit it; the service, which runs already, does not */
	assert_int_equal(ftruncate(c->apps.shared_fd, sizeof(*c->board)), 0);
	c->board = mmap(NULL, sizeof(*c->board), PROT_READ | PROT_WRITE, MAP_SHARED, c->apps.shared_fd, 0);
	assert_ptr_not_equal(c->board, MAP_FAILED);
}

static enum deed not_done_yet(const struct crowd *c)
{
	enum deed d = 0;

	while (d < N_DEEDS && atomic_load(&c->board->deeds[d]))
		d++;
	return d;
}

/* Run until the time is over and each step has been done. */
static void live(struct crowd *c)
{
	uint64_t end = now_ns() + stress_length_ns(N_OF(rows), 700 * MS);

	while (now_ns() < end || (not_done_yet(c) < N_DEEDS && now_ns() < end + PATIENCE))
		stress_crowd_step(&c->apps, 150 * MS);
}

static void nothing_is_held(const struct service *s)
{
	struct nnb_client *client = app_open(s);
	uint64_t end = now_ns() + PATIENCE;
	struct nnb_holdings h;

	do {
		poll_pause();
		h = app_counts(client).all;
	} while ((h.connections > 1 || h.buffers || h.bytes || h.models || h.bursts || h.pools) && now_ns() < end);
	if (h.connections > 1 || h.buffers || h.bytes || h.models || h.bursts || h.pools)
		fail_msg("the service holds %llu connections, %llu buffers, %llu bytes, %llu models, %llu bursts, %llu "
		         "pools",
		         (unsigned long long)h.connections, (unsigned long long)h.buffers, (unsigned long long)h.bytes,
		         (unsigned long long)h.models, (unsigned long long)h.bursts, (unsigned long long)h.pools);
	nnb_client_close(client);
	service_settles(s);
}

static void every_state_is_one_that_was_written_and_nothing_is_left(void **state)
{
	const struct stress *how = *state;
	struct crowd c = { .apps = { .n = APPS, .seed = (uint64_t)(how - rows) + 7 } };
	enum deed never;

	crowd_init(&c, how);
	for (unsigned i = 0; i < APPS; i++)
		stress_app_start(&c.apps, i);
	live(&c);
	for (unsigned i = 0; i < APPS; i++) {
		if (i % 2)
			stress_app_end(&c.apps, i, NULL, 0);
		else
			stress_app_kill(&c.apps, i);
	}
	nothing_is_held(&c.apps.s);
	print_message("%u apps, %u killed:", c.apps.started, c.apps.killed);
	for (enum deed d = 0; d < N_DEEDS; d++)
		print_message(" %s %llu;", deed_names[d], atomic_load(&c.board->deeds[d]));
	print_message("\n");
	never = not_done_yet(&c);
	munmap(c.board, sizeof(*c.board));
	close(c.apps.shared_fd);
	service_fini(&c.apps.s);
	if (never < N_DEEDS)
		fail_msg("no thread %s", deed_names[never]);
}

int main(int argc, char **argv)
{
	struct stress_argument a;

	if (argc == 5 && !strcmp(argv[1], "--scene")) {
		if (stress_app_read(&a, argv[4]))
			app(argv[3], a.line, a.shared_fd, a.seat, a.number);
		return 1;
	}
	for (size_t i = 0; i < N_OF(rows); i++)
		add_test(every_state_is_one_that_was_written_and_nothing_is_left, NULL, NULL,
		         (void *)(uintptr_t)&rows[i], "--policy %s --preempt %s --deadline %s %s", rows[i].policy,
		         rows[i].preempt, rows[i].deadline, rows[i].more ? rows[i].more : "");
	return _cmocka_run_group_tests("buffers: stress", tests, n_tests, NULL, NULL);
}
