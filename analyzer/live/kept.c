/*
 * kept.c -- keeps records in chunks, of which the oldest is dropped; and the objects that dropped
 * records announced, in a table.
 */
#include "live/kept.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "decode/catalogue.h"
#include "fold/list.h"
#include "importer.h"

enum { CHUNK = 1 << 18, WORLD_MAX = 1 << 14, INSTANCE_SHIFT = 20 };

/* Records, one behind the other. */
struct chunk {
	struct chunk *next;
	size_t bytes;
	uint64_t data[CHUNK / 8];
};

/* An object, by the kind and the number of the record that announced it. */
struct thing {
	struct bsa_entry entry;
	struct bsa_link link; /* the oldest first */
	uint64_t record[];
};

struct bsa_kept {
	struct chunk *first, *last; /* NULL: nothing is kept */
	size_t n, most;             /* chunks */
	struct bsa_table world;
	struct bsa_link things;
	struct {
		struct bsa_event event;
		struct bsa_loss loss;
	} lost; /* the loss that ends last of those that were dropped; size 0: no loss was dropped */
};

struct bsa_kept *bsa_kept_new(size_t bytes)
{
	struct bsa_kept *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->most = bytes / CHUNK + 2;
	bsa_list_init(&k->things);
	return bsa_table_init(&k->world) ? bsa_kept_free(k) : k;
}

static void thing_forget(struct bsa_kept *k, struct thing *t)
{
	bsa_table_remove(&k->world, &t->entry);
	bsa_list_remove(&t->link);
	free(t);
}

struct bsa_kept *bsa_kept_free(struct bsa_kept *k)
{
	struct bsa_link *l;

	if (!k)
		return NULL;
	for (struct chunk *c = k->first, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	while ((l = bsa_list_first(&k->things)))
		thing_forget(k, BSA_LINKED(l, struct thing, link));
	bsa_table_fini(&k->world);
	free(k);
	return NULL;
}

/* ---- what there is ---- */

static uint64_t thing_key(enum bsa_kind kind, uint32_t number)
{
	return (uint64_t)kind << 32 | number;
}

static int thing_learn(struct bsa_kept *k, const struct bsa_event *e, uint32_t number)
{
	struct thing *t = bsa_table_find(&k->world, thing_key(e->kind, number));

	if (!t && k->world.n == WORLD_MAX)
		thing_forget(k, BSA_LINKED(bsa_list_first(&k->things), struct thing, link));
	if (!t) {
		t = calloc(1, sizeof(*t) + e->size);
		if (!t)
			return -ENOMEM;
		bsa_table_add(&k->world, &t->entry, thing_key(e->kind, number));
		bsa_list_add(&k->things, &t->link);
	}
	memcpy(t->record, e, e->size); /* all records of a kind have one size */
	return 0;
}

static int thing_end(struct bsa_kept *k, enum bsa_kind kind, uint32_t number)
{
	struct thing *t = bsa_table_find(&k->world, thing_key(kind, number));

	if (t)
		thing_forget(k, t);
	return 0;
}

/* The connection that a thing belongs to; 0: no connection. */
static uint32_t connection_of(const struct bsa_event *e)
{
	switch ((enum bsa_kind)e->kind) {
	case BSA_client_connect:
		return BSA_OF(e, client_connect)->conn;
	case BSA_model_prepare:
		return BSA_OF(e, model_prepare)->conn;
	case BSA_stream_open:
		return BSA_OF(e, stream_open)->conn;
	case BSA_buffer_allocate:
		return BSA_OF(e, buffer_allocate)->conn;
	default:
		return 0;
	}
}

/* All that belongs to the connections whose numbers, less their last @bits bits, are @numbers. */
static int connections_end(struct bsa_kept *k, uint32_t numbers, unsigned bits)
{
	for (struct bsa_link *l = k->things.next, *next; l != &k->things; l = next) {
		struct thing *t = BSA_LINKED(l, struct thing, link);
		uint32_t connection = connection_of((const struct bsa_event *)t->record);

		next = l->next;
		if (connection && connection >> bits == numbers)
			thing_forget(k, t);
	}
	return 0;
}

/* The record @e falls out. 0 or -ENOMEM. */
static int world_learn(struct bsa_kept *k, const struct bsa_event *e)
{
	const struct thing *t;
	uint32_t instance;

	switch ((enum bsa_kind)e->kind) {
	case BSA_service_state:
		instance = BSA_OF(e, service_state)->instance;
		t = bsa_table_find(&k->world, thing_key(BSA_service_state, instance));
		/* Where another service has taken the number, nothing is left of the first one. */
		if (t &&
		    BSA_OF((const struct bsa_event *)t->record, service_state)->pid != BSA_OF(e, service_state)->pid)
			connections_end(k, instance, INSTANCE_SHIFT);
		return thing_learn(k, e, instance);
	case BSA_client_connect:
		return thing_learn(k, e, BSA_OF(e, client_connect)->conn);
	case BSA_client_disconnect:
		return connections_end(k, BSA_OF(e, client_disconnect)->conn, 0);
	case BSA_model_prepare:
		return BSA_OF(e, model_prepare)->status ? 0 : thing_learn(k, e, BSA_OF(e, model_prepare)->model);
	case BSA_model_release:
		return thing_end(k, BSA_model_prepare, BSA_OF(e, model_release)->model);
	case BSA_stream_open:
		return thing_learn(k, e, BSA_OF(e, stream_open)->stream);
	case BSA_stream_close:
		return thing_end(k, BSA_stream_open, BSA_OF(e, stream_close)->stream);
	case BSA_buffer_allocate:
		return BSA_OF(e, buffer_allocate)->status ? 0 : thing_learn(k, e, BSA_OF(e, buffer_allocate)->buffer);
	case BSA_buffer_free:
		return thing_end(k, BSA_buffer_allocate, BSA_OF(e, buffer_free)->buffer);
	case BSA_loss:
		if (k->lost.event.size && k->lost.loss.ended >= BSA_OF(e, loss)->ended)
			return 0;
		k->lost.event = *e;
		k->lost.loss = *BSA_OF(e, loss);
		return 0;
	default:
		return 0;
	}
}

/* ---- records ---- */

static const struct bsa_event *record_at(const struct chunk *c, size_t at)
{
	return (const struct bsa_event *)((const char *)c->data + at);
}

int bsa_kept_add(struct bsa_kept *k, const struct bsa_event *e)
{
	if (!k->first || k->last->bytes + e->size > CHUNK) {
		struct chunk *oldest = k->n == k->most ? k->first : NULL, *c;
		int r = 0;

		if (oldest) {
			for (size_t at = 0; !r && at < oldest->bytes; at += record_at(oldest, at)->size)
				r = world_learn(k, record_at(oldest, at));
			k->first = oldest->next;
			free(oldest);
			k->n--;
		}
		c = r ? NULL : malloc(sizeof(*c));
		if (!c)
			return -ENOMEM;
		c->next = NULL;
		c->bytes = 0;
		if (k->first)
			k->last->next = c;
		else
			k->first = c;
		k->last = c;
		k->n++;
	}
	memcpy((char *)k->last->data + k->last->bytes, e, e->size);
	k->last->bytes += e->size;
	return 0;
}

/* ---- a database of them ---- */

/* One pass over what is kept. */
struct pass {
	const struct bsa_kept *k;
	struct bsa_importer *importer;
	uint32_t *numbers;           /* by trace number of the records: the importer's number. Owned */
	struct bsa_decoded *decoded; /* by the importer's number. Owned */
	size_t n_numbers;
	uint32_t n;
	uint64_t record[BSA_RECORD_MAX / 8];
};

static void pass_fini(struct pass *p)
{
	p->importer = bsa_importer_free(p->importer);
	free(p->numbers);
	free(p->decoded);
}

/* The record @e as one of @at. */
static int record_import(struct pass *p, const struct bsa_event *e, uint64_t at, struct bsa_err *err)
{
	struct bsa_event *to = (struct bsa_event *)p->record;
	struct bsa_decoded *d;

	assert(e->trace && e->trace <= p->n_numbers);
	memcpy(to, e, e->size);
	to->at = at;
	to->trace = p->numbers[e->trace - 1];
	d = &p->decoded[to->trace - 1];
	if (e->kind != BSA_loss) {
		d->began = at < d->began ? at : d->began;
		d->ended = d->ended == BSA_NEVER || at > d->ended ? at : d->ended;
		d->events++;
	} else {
		d->lost_events += BSA_OF(e, loss)->events == BSA_NEVER ? 0 : BSA_OF(e, loss)->events;
		d->lost_packets += BSA_OF(e, loss)->packets == BSA_NEVER ? 0 : BSA_OF(e, loss)->packets;
	}
	return bsa_importer_event(p->importer, to, err);
}

/* Import the record of an object that existed before, with the time @at. */
static int thing_import(struct pass *p, const struct thing *t, uint64_t at, struct bsa_err *err)
{
	uint64_t copy[BSA_RECORD_MAX / 8];
	struct bsa_event *e = (struct bsa_event *)copy;

	memcpy(copy, t->record, ((const struct bsa_event *)t->record)->size);
#define SAID_AGAIN(kind)                                                  \
	case BSA_##kind: {                                                \
		struct bsa_##kind *fields = (struct bsa_##kind *)(e + 1); \
		fields->since = fields->since ? fields->since : e->at;    \
		break;                                                    \
	}
	switch ((enum bsa_kind)e->kind) {
		SAID_AGAIN(service_state)
		SAID_AGAIN(client_connect)
		SAID_AGAIN(model_prepare)
		SAID_AGAIN(stream_open)
		SAID_AGAIN(buffer_allocate)
	default:
		break;
	}
#undef SAID_AGAIN
	return record_import(p, e, at, err);
}

static int pass_run(struct pass *p, const struct bsa_trace *const *traces, size_t n_traces,
                    const struct bsa_importer_options *options, struct bsa_err *err)
{
	static const enum bsa_kind kinds[] = { BSA_service_state, BSA_client_connect, BSA_model_prepare,
		                               BSA_stream_open, BSA_buffer_allocate };
	uint64_t began = record_at(p->k->first, 0)->at;
	int r = bsa_importer_new(&p->importer, options, err);

	if (r < 0)
		return r;
	p->n_numbers = n_traces;
	p->numbers = calloc(n_traces + 1, sizeof(*p->numbers));
	p->decoded = calloc(n_traces + 1, sizeof(*p->decoded));
	if (!p->numbers || !p->decoded)
		return bsa_fail(err, BSA_E_ENV, "no memory");
	for (size_t i = 0; r >= 0 && i < n_traces; i++) {
		/*
		 * After a relay has gone and come back, the traces of a session are others, and may be the
		 * same ones: a database has each once.
		 */
		for (size_t j = 0; *traces[i]->uuid && !p->numbers[i] && j < i; j++)
			if (!strcmp(traces[i]->uuid, traces[j]->uuid))
				p->numbers[i] = p->numbers[j];
		if (p->numbers[i])
			continue;
		r = bsa_importer_trace(p->importer, traces[i], err);
		p->decoded[p->n] = (struct bsa_decoded){ .began = BSA_NEVER, .ended = BSA_NEVER };
		p->numbers[i] = ++p->n;
	}

	/*
	 * The world before the first record: services first, then their clients, and so on, in the order of
	 * their kinds.
	 */
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (const struct bsa_link *l = p->k->things.next; r >= 0 && l != &p->k->things; l = l->next) {
			const struct thing *t = BSA_LINKED(l, const struct thing, link);

			if (((const struct bsa_event *)t->record)->kind == kinds[i])
				r = thing_import(p, t, began, err);
		}
	if (r >= 0 && p->k->lost.event.size && p->k->lost.loss.ended > began)
		r = record_import(p, &p->k->lost.event, began, err);

	for (const struct chunk *c = p->k->first; r >= 0 && c; c = c->next)
		for (size_t at = 0; r >= 0 && at < c->bytes; at += record_at(c, at)->size)
			r = record_import(p, record_at(c, at), record_at(c, at)->at, err);
	for (uint32_t i = 0; r >= 0 && i < p->n; i++)
		r = bsa_importer_decoded(p->importer, i + 1, &p->decoded[i], err);
	return r;
}

int bsa_kept_import(const struct bsa_kept *k, const struct bsa_trace *const *traces, size_t n_traces,
                    const char *output, struct bsa_err *err)
{
	struct bsa_importer_options options = { .output = output };
	struct bsa_importer_users users;
	int r = k->first ? 0 : bsa_fail(err, BSA_E_INPUT, "nothing has been read yet");

	for (bool first = true, again = true; r >= 0 && again; first = false) {
		__attribute__((cleanup(pass_fini))) struct pass p = { .k = k };

		r = pass_run(&p, traces, n_traces, &options, err);
		again = r >= 0 && first;
		if (again) { /* as in import.c: what the first pass has found out */
			options.horizon_ns = bsa_importer_wants_horizon(p.importer);
			options.users = bsa_importer_wants_users(p.importer, &users) ? &users : NULL;
			again = options.horizon_ns || options.users;
		}
		if (r >= 0 && !again)
			r = bsa_importer_finish(p.importer, err);
	}
	return r;
}
