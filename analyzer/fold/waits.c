/*
 * waits.c -- executions that are ready without a lane: the holders that they waited for, and the executions
 * chosen before them.
 */
#include "fold/waits.h"

#include "base/vector.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum {
	PAIRS_FEW = 4096,    /* always room for so many pairs; */
	PAIRS_MAX = 1 << 18, /* beyond that, up to this number, ... */
	WAITS_OF_A_PAIR = 4, /* ... one pair for each so many waits */
	DOUBTFUL_MAX = 64,   /* doubtful executions that are looked at, one by one */
	BYPASSED_MAX = 512   /* apps that wait at the same time: with more, bypasses are not counted */
};

/* ---- pairs of apps: one waited while the other held a lane ---- */

void bsa_pairs_fini(struct bsa_pairs *p)
{
	free(p->all);
	bsa_index_fini(&p->index);
	*p = (struct bsa_pairs){ 0 };
}

static uint64_t pair_key(uint32_t by, uint32_t app)
{
	return (uint64_t)by << 32 | app;
}

static struct bsa_interfered *find_pair(const struct bsa_pairs *p, uint32_t by, uint32_t app)
{
	uint64_t key = pair_key(by, app);
	size_t at;

	for (uint32_t i = bsa_index_find(&p->index, key, &at); i != BSA_INDEX_NONE;
	     i = bsa_index_next(&p->index, key, &at))
		if (p->all[i].by == by && p->all[i].app == app)
			return &p->all[i];
	return NULL;
}

/* NULL: no memory. */
static struct bsa_interfered *make_pair(struct bsa_pairs *p, uint32_t by, uint32_t app)
{
	if (!BSA_RESERVE(p->all, p->room, p->n + 1, 8) || !bsa_index_add(&p->index, pair_key(by, app), (uint32_t)p->n))
		return NULL;
	p->all[p->n] = (struct bsa_interfered){ .by = by, .app = app };
	return &p->all[p->n++];
}

/* With too many pairs, the time is added to the pair of @app with 0, which stands for any app. */
static int pairs_add(struct bsa_pairs *p, uint32_t by, uint32_t app, uint64_t ns)
{
	bool may_have_more = p->n < PAIRS_FEW || (p->n < PAIRS_MAX && p->n < p->waits / WAITS_OF_A_PAIR);
	struct bsa_interfered *pair;

	if (!by || !app)
		return 0;
	pair = find_pair(p, by, app);
	if (!pair && !may_have_more) {
		p->joined++;
		by = 0;
		pair = find_pair(p, by, app);
	}
	if (!pair)
		pair = make_pair(p, by, app);
	if (!pair)
		return -ENOMEM;
	pair->ns = ns > UINT64_MAX - pair->ns ? UINT64_MAX : pair->ns + ns;
	return 0;
}

void bsa_pairs_report(const struct bsa_pairs *p, const struct bsa_facts *facts)
{
	for (size_t i = 0; i < p->n; i++)
		facts->interfered(facts->ctx, &p->all[i]);
}

/* ---- the lists ---- */

static void list_doubtful(struct bsa_device *d, struct bsa_scheduled *x)
{
	assert(!x->prev && !x->next);
	x->doubtful = true;
	x->next = d->doubtful;
	if (x->next)
		x->next->prev = x;
	d->doubtful = x;
}

/* Whether it has an estimate that can be added up. */
static bool is_estimated(const struct bsa_scheduled *x)
{
	return x->listed_ns <= BSA_ESTIMATE_MAX;
}

void bsa_waits_add(struct bsa_device *d, struct bsa_scheduled *x)
{
	struct bsa_tenant *t = x->tenant;
	struct bsa_scheduled *before;
	struct bsa_level *level;

	x->pending = 0;
	d->n_waiting++;
	if (!x->counted && bsa_device_unsure(d, d->now, d->now)) { /* @x was found waiting: its wait began earlier */
		list_doubtful(d, x);
		return;
	}
	level = &t->levels[x->level];
	assert(!x->prev && !x->next && x->level < BSA_LEVELS);
	x->doubtful = false;
	x->prev = before = level->tail;
	if (x->prev)
		x->prev->next = x;
	else
		level->head = x;
	level->tail = x;
	if (before && before->ready_since > x->ready_since) {
		/*
		 * Move @x from the tail to before those that became ready later: these waited when the
		 * recording began, and were listed first.
		 */
		level->tail = before;
		before->next = NULL;
		while (before && before->ready_since > x->ready_since)
			before = before->prev;
		x->prev = before;
		x->next = before ? before->next : level->head;
		x->next->prev = x;
		*(before ? &before->next : &level->head) = x;
	}
	/* How much of the estimate of an execution that has had a lane is left is unknown, unless it begins anew. */
	x->listed_ns = x->state == BSA_SCHEDULED_STOPPED && !x->begins_anew ? BSA_NEVER : x->estimate_ns;
	if (is_estimated(x)) {
		t->queued = (struct bsa_queued){ t->queued.ns + x->listed_ns, t->queued.n_estimated + 1 };
		d->queued = (struct bsa_queued){ d->queued.ns + x->listed_ns, d->queued.n_estimated + 1 };
	}
	if (!t->n_waiting++) {
		assert(d->n_waiting_tenants < d->table.n);
		t->waits_place = (uint32_t)d->n_waiting_tenants;
		d->waiting[d->n_waiting_tenants++] = t;
	}
}

/* Take @x from its level. Its bypasses are in @x->pending afterwards. */
static void unlist_certain(struct bsa_device *d, struct bsa_scheduled *x)
{
	struct bsa_tenant *t = x->tenant;
	struct bsa_level *level = &t->levels[x->level];
	const struct bsa_scheduled *up = x->prev, *down = x;
	uint32_t n, above = 0, below = 0;

	/* How often @x was bypassed, summed up from the end of the level that is nearer. */
	while (up && down) {
		above += up->pending;
		up = up->prev;
		below += down->pending;
		down = down->next;
	}
	n = up ? below : level->total - above;

	assert(t->n_waiting && level->total >= (x->prev ? 0 : x->pending));
	assert(x->prev ? x->prev->next == x : level->head == x);
	assert(x->next ? x->next->prev == x : level->tail == x);
	if (x->prev) {
		x->prev->pending += x->pending;
		x->prev->next = x->next;
	} else {
		level->total -= x->pending;
		level->head = x->next;
	}
	if (x->next)
		x->next->prev = x->prev;
	else
		level->tail = x->prev;
	x->prev = x->next = NULL;
	x->pending = n;
	if (is_estimated(x)) {
		t->queued = (struct bsa_queued){ t->queued.ns - x->listed_ns, t->queued.n_estimated - 1 };
		d->queued = (struct bsa_queued){ d->queued.ns - x->listed_ns, d->queued.n_estimated - 1 };
	}
	if (!--t->n_waiting) {
		struct bsa_tenant *last;

		assert(d->n_waiting_tenants && d->waiting[t->waits_place] == t);
		last = d->waiting[--d->n_waiting_tenants];
		d->waiting[t->waits_place] = last;
		last->waits_place = t->waits_place;
	}
}

void bsa_waits_remove(struct bsa_device *d, struct bsa_scheduled *x)
{
	assert(d->n_waiting);
	d->n_waiting--;
	x->bypassed_more |= x->ready_since < d->bypassed_more;
	if (!x->doubtful) {
		unlist_certain(d, x);
	} else {
		assert(x->prev ? x->prev->next == x : d->doubtful == x);
		if (x->prev)
			x->prev->next = x->next;
		else
			d->doubtful = x->next;
		if (x->next)
			x->next->prev = x->prev;
		x->prev = x->next = NULL;
	}
	x->doubtful = false;
	x->bypassed += x->pending;
}

static void doubt_level(struct bsa_device *d, struct bsa_level *level)
{
	struct bsa_scheduled *next;

	for (struct bsa_scheduled *x = level->head; x; x = next) {
		next = x->next;
		if (x->counted)
			continue;
		unlist_certain(d, x);
		list_doubtful(d, x);
	}
}

void bsa_waits_doubt(struct bsa_device *d)
{
	/* Backwards, because a tenant without a waiting execution left is replaced by the last one. */
	for (size_t i = d->n_waiting_tenants; i-- > 0;) {
		struct bsa_tenant *t = d->waiting[i];

		for (int p = 0; p < BSA_LEVELS; p++)
			doubt_level(d, &t->levels[p]);
	}
}

uint64_t bsa_waits_oldest(const struct bsa_device *d)
{
	uint64_t oldest = BSA_NEVER;

	for (size_t i = 0; i < d->n_waiting_tenants; i++)
		for (int p = 0; p < BSA_LEVELS; p++) {
			const struct bsa_scheduled *x = d->waiting[i]->levels[p].head;

			oldest = x && x->ready_since < oldest ? x->ready_since : oldest;
		}
	for (const struct bsa_scheduled *x = d->doubtful; x; x = x->next)
		oldest = x->ready_since < oldest ? x->ready_since : oldest;
	return oldest;
}

/* ---- which execution was chosen ---- */

/* The last execution that was ready before @at. The search goes on from both ends. */
static struct bsa_scheduled *last_before(const struct bsa_level *level, uint64_t at)
{
	struct bsa_scheduled *down = level->head, *up = level->tail;

	if (!down || down->ready_since >= at)
		return NULL;
	for (;;) {
		if (up->ready_since < at)
			return up;
		up = up->prev;
		if (down->next->ready_since >= at)
			return down;
		down = down->next;
	}
}

void bsa_waits_bypass(struct bsa_device *d, const struct bsa_scheduled *x)
{
	if (d->n_waiting_tenants > BYPASSED_MAX) {
		d->bypassed_more = d->now;
		return;
	}
	for (size_t i = 0; i < d->n_waiting_tenants && x->tenant->app; i++) {
		struct bsa_tenant *t = d->waiting[i];
		bool same = t == x->tenant;

		if (!t->app || (same && x->level == BSA_LEVEL_UNKNOWN))
			continue;
		for (int p = same ? x->level : 0; p < BSA_LEVELS - same; p++) {
			struct bsa_scheduled *last = last_before(&t->levels[p], x->ready_since);

			if (!last)
				continue;
			last->pending++;
			t->levels[p].total++;
		}
	}
}

static const struct bsa_leaver *nth_leaver(const struct bsa_device *d, uint64_t n)
{
	return &d->leavers[n % BSA_LEAVERS];
}

void bsa_waits_note_leaver(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t given)
{
	if (d->n_waiting > 1)
		d->leavers[d->n_leavers++ % BSA_LEAVERS] = (struct bsa_leaver){ .id = x->id,
			                                                        .ready_since = x->ready_since,
			                                                        .at = d->now,
			                                                        .given = given,
			                                                        .app = x->tenant->app,
			                                                        .level = x->level,
			                                                        .doubtful = x->doubtful };
}

bool bsa_waits_had_others(const struct bsa_device *d, uint64_t at)
{
	return d->n_waiting > 1 || (d->n_leavers && nth_leaver(d, d->n_leavers - 1)->at > at);
}

/* Those of the app of the chosen one, with another priority, that could have been chosen and have left since. */
struct left {
	const struct bsa_leaver *all[BSA_LEAVERS]; /* those ready longest first */
	unsigned n;
	bool uncertain; /* more may have been ready, or fewer */
};

static void add_left(struct left *left, const struct bsa_leaver *l)
{
	unsigned i = left->n++;

	for (; i && left->all[i - 1]->ready_since > l->ready_since; i--)
		left->all[i] = left->all[i - 1];
	left->all[i] = l;
}

/*
 * Those that left after @at, and could have been chosen then instead of @x. An execution that was given another lane by
 * then could not.
 */
static void find_left(const struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, struct left *ret)
{
	uint64_t kept = d->n_leavers < BSA_LEAVERS ? d->n_leavers : BSA_LEAVERS;

	ret->n = 0;
	ret->uncertain = false;
	for (uint64_t i = 1; i <= kept; i++) {
		const struct bsa_leaver *l = nth_leaver(d, d->n_leavers - i);

		if (l->at <= at)
			return;
		if (l->app != x->tenant->app || l->level == x->level || l->ready_since > at)
			continue;
		ret->uncertain |= l->doubtful || !l->given || l->level == BSA_LEVEL_UNKNOWN;
		if (!l->doubtful && l->given > at && l->level != BSA_LEVEL_UNKNOWN)
			add_left(ret, l);
	}
	ret->uncertain |= d->n_leavers > kept;
}

/* Of level @p, the one that was ready longest at @at, after leaving out @others of them. 0: none. */
static uint64_t first_passed_over(const struct bsa_scheduled *x, int p, uint64_t at, const struct left *left,
                                  unsigned *others)
{
	const struct bsa_scheduled *over = x->tenant->levels[p].head;
	unsigned i = 0;

	for (;;) {
		bool waits = over && over->ready_since <= at;

		while (i < left->n && left->all[i]->level != p)
			i++;
		if (!waits && i == left->n)
			return 0;
		if (i < left->n && (!waits || left->all[i]->ready_since <= over->ready_since)) {
			if (!*others)
				return left->all[i]->id;
			i++;
		} else {
			if (!*others)
				return over->id;
			over = over->next;
		}
		--*others;
	}
}

void bsa_waits_choose(struct bsa_device *d, const struct bsa_scheduled *x, uint64_t at, unsigned others)
{
	struct bsa_chosen chosen = { .at = at, .chosen = x->id, .app = x->tenant->app };
	struct left left;

	if (x->level == BSA_LEVEL_UNKNOWN || !x->tenant->app)
		return;
	find_left(d, x, at, &left);
	d->left->untold += left.uncertain;
	for (int p = BSA_LEVEL_UNKNOWN - 1; p >= 0; p--) {
		chosen.passed_over = p == x->level ? 0 : first_passed_over(x, p, at, &left, &others);
		if (!chosen.passed_over)
			continue;
		chosen.honoured = p < x->level;
		d->facts->chosen(d->facts->ctx, &chosen);
		return;
	}
}

static bool is_rival(const struct bsa_scheduled *x, unsigned level)
{
	return level != x->level || level == BSA_LEVEL_UNKNOWN;
}

bool bsa_waits_have_rival(const struct bsa_scheduled *x)
{
	for (unsigned p = 0; p < BSA_LEVELS; p++)
		if (x->tenant->levels[p].head && is_rival(x, p))
			return true;
	return false;
}

bool bsa_waits_may_have_rival(const struct bsa_device *d, const struct bsa_scheduled *x)
{
	unsigned n = 0;

	for (const struct bsa_scheduled *y = d->doubtful; y; y = y->next)
		if (n++ == DOUBTFUL_MAX || (y->app == x->app && is_rival(x, y->level)))
			return true;
	return false;
}

/* ---- the holders of the lane during a wait ---- */

uint8_t bsa_waits_cause(const struct bsa_tenant *t, uint8_t level, const struct bsa_stretch *s)
{
	if (!t->app || !s->tenant->app)
		return BSA_CAUSE_UNKNOWN;
	if (s->tenant != t)
		return s->hogging ? BSA_HOGGED : BSA_CROWDED_OUT;
	if (level == BSA_LEVEL_UNKNOWN || s->level == BSA_LEVEL_UNKNOWN)
		return BSA_CAUSE_UNKNOWN;
	return s->level < level ? BSA_INVERSION : BSA_QUEUED_BEHIND;
}

/* A wait that is being reported. */
struct telling {
	struct bsa_device *d;
	struct bsa_scheduled *x;
	struct bsa_pairs *pairs;
	struct bsa_tenant *blamed; /* list of the tenants that held the lane during the wait */
	uint64_t at;
	unsigned number;
	uint8_t kind;
	const struct bsa_lane *entered; /* the lane that ended the wait; NULL if the wait ended without a lane */
};

static void report_wait(struct bsa_device *d, struct bsa_scheduled *x, const struct bsa_wait *wait)
{
	if (wait->cause >= BSA_QUEUED_BEHIND && wait->cause <= BSA_HANDOVER)
		x->waited[wait->cause - BSA_QUEUED_BEHIND] += wait->ended - wait->began;
	d->facts->wait(d->facts->ctx, wait);
}

static int report_part(struct telling *w, const struct bsa_stretch *s)
{
	struct bsa_wait part = { .execution = w->x->id,
		                 .began = s->began,
		                 .ended = s->ended,
		                 .kind = w->kind,
		                 .lane = (uint8_t)w->number,
		                 .occupancy = s->occupancy,
		                 .open = w->x->open,
		                 .app = w->x->tenant->app,
		                 .instance = w->d->instance,
		                 .level = w->x->level };

	if (s->occupancy == BSA_UNKNOWN)
		part.cause = BSA_CAUSE_UNKNOWN;
	else if (s->occupancy == BSA_IDLE)
		part.cause = BSA_HANDOVER;
	else
		part.cause = w->kind == BSA_WAIT_PREEMPTED ? BSA_CAUSE_PREEMPTED
		                                           : bsa_waits_cause(w->x->tenant, w->x->level, s);
	if (s->occupancy == BSA_HELD) {
		part.blocker = s->id;
		part.blocker_app = s->tenant->app;
		if (!s->tenant->blamed_ns) {
			s->tenant->blamed = w->blamed;
			w->blamed = s->tenant;
		}
		s->tenant->blamed_ns += s->ended - s->began;
	}
	report_wait(w->d, w->x, &part);
	if (s->occupancy != BSA_HELD)
		return 0;
	return pairs_add(w->pairs, s->tenant->app, w->x->tenant->app, s->ended - s->began);
}

/* Whether an execution of the same app, with lower priority, was on a lane while @x waited. */
static bool may_be_inverted(const struct bsa_scheduled *x)
{
	const struct bsa_tenant *t = x->tenant;

	if (x->level == BSA_LEVEL_UNKNOWN || !t->app)
		return false;
	for (int p = 0; p < x->level; p++)
		if (t->on[p] || t->last_on[p] > x->ready_since)
			return true;
	return false;
}

/*
 * Since when the lane that @x entered was free for it, or may have been: the hand-over to @x took the rest of
 * the wait, whatever had the other lanes meanwhile.
 */
static uint64_t free_since(const struct telling *w)
{
	struct bsa_lane_walk walk;
	struct bsa_stretch s;
	uint64_t ret = w->x->ready_since;

	if (!w->entered)
		return w->at;
	walk = bsa_lane_walk(w->d, w->entered, w->x->ready_since, w->at);
	while (bsa_lane_next(&walk, &s))
		if (s.occupancy == BSA_HELD)
			ret = s.ended;
	return ret;
}

/*
 * Stretches are cut at @until here, not by the walk, because what is known of the present holder depends on
 * the end of the walk.
 */
static void report_inversions_on(const struct telling *w, unsigned number, uint64_t until)
{
	struct bsa_lane_walk walk = bsa_lane_walk(w->d, &w->d->lanes[number], w->x->ready_since, w->at);
	struct bsa_stretch s;

	while (bsa_lane_next(&walk, &s) && s.began < until) {
		uint64_t ended = s.ended < until ? s.ended : until;
		struct bsa_inverted inverted = { .victim = w->x->id,
			                         .holder = s.id,
			                         .began = s.began,
			                         .dur = ended - s.began,
			                         .step = s.step_ns,
			                         .lane = (uint8_t)number };

		inverted.open |= s.began == w->x->ready_since ? w->x->open & BSA_OPEN_START : 0;
		inverted.open |= ended == w->at ? w->x->open & BSA_OPEN_END : 0;
		if (s.occupancy == BSA_HELD && s.tenant == w->x->tenant && s.level < w->x->level &&
		    inverted.dur > s.step_ns)
			w->d->facts->inverted(w->d->facts->ctx, &inverted);
	}
	bsa_lane_report_may_be_gone(w->d, &w->d->lanes[number], until);
}

static void report_starved(const struct telling *w)
{
	const struct bsa_scheduled *x = w->x;
	struct bsa_starved starved = { .execution = x->id,
		                       .began = x->ready_since,
		                       .gap = w->at - x->ready_since,
		                       .app = x->tenant->app,
		                       .bypassed = x->pending,
		                       .model = x->model,
		                       .open = x->open };

	for (const struct bsa_tenant *t = w->blamed; t; t = t->blamed) {
		if (t->blamed_ns < starved.top_culprit_ns ||
		    (t->blamed_ns == starved.top_culprit_ns && t->app > starved.top_culprit_app))
			continue;
		starved.top_culprit_ns = t->blamed_ns;
		starved.top_culprit_app = t->app;
	}
	w->d->facts->starved(w->d->facts->ctx, &starved);
}

/* Whether the lane was idle during the whole wait: such a wait is not reported as a fact. */
static bool was_idle(const struct telling *w, const struct bsa_lane *l)
{
	struct bsa_lane_walk walk;
	struct bsa_stretch s;

	if (w->x->on_native || w->x->ready_since == w->at)
		return true;
	if (!l)
		return false;
	if (l->since <= w->x->ready_since)
		return bsa_lane_is_idle(w->d, l, w->at);
	walk = bsa_lane_walk(w->d, l, w->x->ready_since, w->at);
	return bsa_lane_next(&walk, &s) && s.occupancy == BSA_IDLE && s.ended == w->at;
}

int bsa_waits_report(struct bsa_device *d, struct bsa_pairs *pairs, struct bsa_scheduled *x, uint64_t at,
                     unsigned number, const struct bsa_lane *l, bool entered)
{
	struct telling w = { d, x, pairs, NULL, at, number, BSA_WAIT_QUEUE, entered ? l : NULL };
	struct bsa_possible_wait possible = {
		.execution = x->id, .began = BSA_NEVER, .ended = at, .app = x->tenant->app, .model = x->model
	};
	struct bsa_stretch s = { .began = x->ready_since, .ended = at, .occupancy = BSA_UNKNOWN };
	int r = 0;

	if (x->state == BSA_SCHEDULED_STOPPED)
		w.kind = BSA_WAIT_PREEMPTED;
	assert(at >= x->ready_since);
	pairs->waits++;
	x->ready_ns += at - x->ready_since;
	x->idle = w.kind == BSA_WAIT_QUEUE && !x->open && was_idle(&w, l);

	/*
	 * The recording began while @x waited, and at that very time the wait, or the recording, ended: no
	 * part of the wait was recorded, so no bsa_wait reports the wait.
	 */
	if (x->open & BSA_OPEN_START && x->ready_since == at)
		d->facts->possible_wait(d->facts->ctx, &possible);
	if (!x->idle && !l && s.began < s.ended)
		r = report_part(&w, &s);
	if (!x->idle && l) {
		struct bsa_lane_walk walk = bsa_lane_walk(d, l, x->ready_since, at);

		d->left->forgotten += walk.truncated;
		while (!r && bsa_lane_next(&walk, &s))
			r = report_part(&w, &s);
	}

	/* Facts of the whole wait. */
	if (may_be_inverted(x) && !x->on_native) {
		uint64_t until = free_since(&w);

		for (unsigned i = 0; i < d->lanes_room; i++)
			report_inversions_on(&w, i, until);
	}
	if (at - x->ready_since > d->starvation_ns)
		report_starved(&w);
	for (struct bsa_tenant *t = w.blamed; t; t = t->blamed)
		t->blamed_ns = 0;
	return r;
}

void bsa_waits_report_idle(struct bsa_device *d, struct bsa_scheduled *x, unsigned lane)
{
	struct bsa_wait wait = { .execution = x->id,
		                 .began = x->ready_since,
		                 .ended = x->slice_began,
		                 .kind = BSA_WAIT_QUEUE,
		                 .lane = (uint8_t)lane,
		                 .occupancy = BSA_IDLE,
		                 .cause = BSA_HANDOVER,
		                 .app = x->tenant->app,
		                 .instance = d->instance,
		                 .level = x->level };

	if (wait.began < wait.ended)
		report_wait(d, x, &wait);
}

void bsa_waits_report_stalled(struct bsa_device *d, struct bsa_scheduled *x, bool may_have_waited)
{
	struct bsa_wait wait = { .execution = x->id,
		                 .began = x->ready_since,
		                 .ended = d->now,
		                 .kind = BSA_WAIT_PREEMPTED,
		                 .lane = BSA_LANE_NONE,
		                 .occupancy = BSA_UNKNOWN,
		                 .cause = may_have_waited ? BSA_CAUSE_UNKNOWN
		                          : x->loses      ? BSA_MACHINE_BUSY
		                                          : BSA_CAUSE_STALLED,
		                 .open = x->open,
		                 .app = x->app,
		                 .instance = d->instance,
		                 .level = x->level };

	x->ready_ns += wait.ended - wait.began;
	if (!may_have_waited)
		*(x->loses ? &x->no_cpu : &x->stalled) += wait.ended - wait.began;
	if (wait.began < wait.ended)
		report_wait(d, x, &wait);
}
