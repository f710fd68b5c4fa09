/* list.h -- lists through their members, which can be taken out of the middle. */
#ifndef BSA_FOLD_LIST_H
#define BSA_FOLD_LIST_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

/* A member, or the list itself; of a member that is in no list both are NULL. */
struct bsa_link {
	struct bsa_link *prev, *next;
};

#define BSA_LINKED(link, type, member) ((type *)(void *)((char *)(link)-offsetof(type, member)))

static inline void bsa_list_init(struct bsa_link *list)
{
	list->prev = list->next = list;
}

/* The first member, or NULL. */
static inline struct bsa_link *bsa_list_first(const struct bsa_link *list)
{
	return list->next == list ? NULL : list->next;
}

/* At the end; @link is in no list. */
static inline void bsa_list_add(struct bsa_link *list, struct bsa_link *link)
{
	assert(!link->next);
	link->prev = list->prev;
	link->next = list;
	list->prev->next = link;
	list->prev = link;
}

/* Remove @link from its list; without effect if it is in no list. */
static inline void bsa_list_remove(struct bsa_link *link)
{
	if (!link->next)
		return;
	assert(link->prev->next == link && link->next->prev == link);
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = NULL;
}

#endif
