/* known.c -- keeps the causes of the last cases, and finds the ones that come again. */
#include "watch/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void forget_cause(struct bsv_known_cause *k)
{
	free(k->cause.condition);
	free(k->cause.finding);
	free(k->cause.app);
	free(k->cause.culprit);
	*k = (struct bsv_known_cause){ .until = 0 };
}

void bsv_known_fini(struct bsv_known *k)
{
	for (size_t i = 0; i < BSV_KNOWN_MOST; i++)
		forget_cause(&k->causes[i]);
	k->n_causes = k->n_events = 0;
}

static size_t cause_place(const struct bsv_known *k, const struct bsv_case_cause *cause, int64_t now)
{

	for (size_t i = 0; k->cooldown && i < BSV_KNOWN_MOST; i++)
		if (k->causes[i].until > now && bsv_case_cause_same(&k->causes[i].cause, cause))
			return i;
	return BSV_KNOWN_MOST;
}

static const struct bsv_known_cause *find_cause(const struct bsv_known *k, const struct bsv_case_cause *cause,
                                                int64_t now)
{
	size_t place = cause_place(k, cause, now);

	return place < BSV_KNOWN_MOST ? &k->causes[place] : NULL;
}

/* That too little was recorded of some misses is nothing new beside a cause that is known. */
static bool is_unknown_cause(const struct bsv_case_cause *cause)
{
	return cause->finding && !strcmp(cause->finding, "unknown");
}

size_t bsv_known_find_new(const struct bsv_known *k, const struct bsv_case *c)
{
	bool says = false;
	size_t i = 0;

	for (size_t j = 0; j < c->n_causes; j++)
		says |= !is_unknown_cause(&c->causes[j]);
	while (i < c->n_causes &&
	       (find_cause(k, &c->causes[i], c->caught) || (says && is_unknown_cause(&c->causes[i]))))
		i++;
	return i;
}

const char *bsv_known_case(const struct bsv_known *k, const struct bsv_case *c)
{
	const struct bsv_known_cause *found = NULL;

	for (size_t i = 0; !found && i < c->n_causes; i++)
		found = find_cause(k, &c->causes[i], c->caught);
	return found ? found->name : NULL;
}

void bsv_known_add(struct bsv_known *k, const struct bsv_case *c)
{
	for (size_t i = 0; k->cooldown && i < c->n_causes; i++) {
		const struct bsv_case_cause *cause = &c->causes[i];
		struct bsv_known_cause *to = &k->causes[k->n_causes % BSV_KNOWN_MOST];

		if (find_cause(k, cause, c->caught))
			continue;
		k->n_causes++;
		forget_cause(to);
		*to = (struct bsv_known_cause){ .cause = { .condition = copy_text(cause->condition),
			                                   .finding = copy_text(cause->finding),
			                                   .app = copy_text(cause->app),
			                                   .has_user = cause->has_user,
			                                   .user = cause->user,
			                                   .culprit = copy_text(cause->culprit) },
			                        .until = c->caught + k->cooldown };
		strcpy(to->name, c->name);
	}
}

void bsv_known_forget_removed(struct bsv_known *k, const struct bsv_store *store, const struct bsv_case *c)
{
	char path[PATH_MAX + BSV_CASE_NAME];
	size_t place;

	for (size_t i = 0; i < c->n_causes; i++) {
		place = cause_place(k, &c->causes[i], c->caught);
		if (place == BSV_KNOWN_MOST)
			continue;
		snprintf(path, sizeof(path), "%s/%s", store->directory, k->causes[place].name);
		if (access(path, F_OK) && errno == ENOENT)
			forget_cause(&k->causes[place]);
	}
}

void bsv_known_read(struct bsv_known *k, const struct bsv_store *store, int64_t now)
{
	struct bsv_case c;
	char **names;
	size_t n;

	if (!k->cooldown || bsv_store_list(store->directory, false, &names, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		if (bsv_case_read(&c, names[i], NULL) < 0)
			continue;
		if (c.caught <= now && now - c.caught < k->cooldown)
			bsv_known_add(k, &c);
		bsv_case_fini(&c);
	}
	bsv_store_list_free(names, n);
}

bool bsv_known_event_seen(const struct bsv_known *k, unsigned condition, uint64_t key, int64_t now)
{
	for (size_t i = 0; k->cooldown && i < BSV_SEEN_MOST; i++)
		if (k->events[i].until > now && k->events[i].condition == condition && k->events[i].key == key)
			return true;
	return false;
}

void bsv_known_event_add(struct bsv_known *k, unsigned condition, uint64_t key, int64_t now)
{
	if (k->cooldown && !bsv_known_event_seen(k, condition, key, now))
		k->events[k->n_events++ % BSV_SEEN_MOST] =
			(struct bsv_known_event){ .key = key, .condition = condition, .until = now + k->cooldown };
}
