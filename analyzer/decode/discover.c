/*
 * discover.c -- searches a directory for traces. It enters each directory once, however many links
 * lead there, so links cannot loop.
 */
#include "discover.h"

#include <dirent.h>
#include <errno.h>
#include <search.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/vector.h"

enum { DEPTH_MAX = 32 };

struct visit {
	dev_t dev;
	ino_t ino;
	size_t given; /* index of the path below which it was found */
};

struct search {
	struct bsa_places *places;
	const char *const *paths;
	size_t given;
	void *visits; /* tsearch's */
	struct bsa_err *err;
};

static int by_inode(const void *a, const void *b)
{
	const struct visit *l = a, *r = b;

	if (l->dev != r->dev)
		return l->dev < r->dev ? -1 : 1;
	return (l->ino > r->ino) - (l->ino < r->ino);
}

static int search_no_memory(struct search *s)
{
	return bsa_fail(s->err, BSA_E_ENV, "there is no memory left to look for traces");
}

/* 1: the directory is new; 0: the same path led to it before. */
static int enter_directory(struct search *s, const char *path, const struct stat *st)
{
	struct visit *visit = malloc(sizeof(*visit)), **found;

	if (!visit)
		return search_no_memory(s);
	*visit = (struct visit){ .dev = st->st_dev, .ino = st->st_ino, .given = s->given };
	found = tsearch(visit, &s->visits, by_inode);
	if (!found) {
		free(visit);
		return search_no_memory(s);
	}
	if (*found == visit)
		return 1;
	free(visit);
	if ((*found)->given == s->given)
		return 0;
	return bsa_fail(s->err, BSA_E_INPUT, "%s is given twice: %s leads there, too", path, s->paths[(*found)->given]);
}

static int search_look_at(struct search *s, const char *path, unsigned depth);

static int look_below(struct search *s, const char *path, unsigned depth)
{
	struct dirent **names = NULL;
	int n = scandir(path, &names, NULL, alphasort), r = 0;

	if (n < 0)
		return bsa_fail(s->err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char *below = NULL;

		if (r == 0 && strcmp(name, ".") && strcmp(name, "..") &&
		    (names[i]->d_type == DT_DIR || names[i]->d_type == DT_LNK || names[i]->d_type == DT_UNKNOWN))
			r = asprintf(&below, "%s/%s", path, name) < 0 ? search_no_memory(s)
			                                              : search_look_at(s, below, depth);
		free(below);
		free(names[i]);
	}
	free(names);
	return r;
}

/* @depth 0: a path of the user, which must be a directory. */
static int search_look_at(struct search *s, const char *path, unsigned depth)
{
	struct bsa_places *places = s->places;
	char *metadata = NULL;
	struct stat st;
	int r, failed;

	if (stat(path, &st)) /* below the user's path there may be links that lead nowhere */
		return depth && (errno == ENOENT || errno == ELOOP)
		               ? 0
		               : bsa_fail(s->err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return depth ? 0 : bsa_fail(s->err, BSA_E_INPUT, "%s is no directory, so it is no trace", path);
	r = enter_directory(s, path, &st);
	if (r <= 0)
		return r;

	/* A directory with a regular file named metadata is a trace. */
	if (asprintf(&metadata, "%s/metadata", path) < 0)
		return search_no_memory(s);
	failed = stat(metadata, &st) ? errno : 0;
	free(metadata);
	if (failed && failed != ENOENT && failed != ENOTDIR && failed != ELOOP)
		return bsa_fail(s->err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(failed));
	if (!failed && S_ISREG(st.st_mode)) {
		if (!BSA_RESERVE(places->paths, places->room, places->n + 1, 4))
			return search_no_memory(s);
		places->paths[places->n] = strdup(path);
		if (!places->paths[places->n])
			return search_no_memory(s);
		places->n++;
		return 0;
	}
	if (depth == DEPTH_MAX)
		return bsa_fail(s->err, BSA_E_INPUT, "%s: directories are nested more than %d deep", path, DEPTH_MAX);
	return look_below(s, path, depth + 1);
}

int bsa_discover(struct bsa_places *ret, const char *const *paths, size_t n_paths, struct bsa_err *err)
{
	struct bsa_places places = { 0 };
	struct search s = { .places = &places, .paths = paths, .err = err };
	int r = 0;

	for (; r == 0 && s.given < n_paths; s.given++) {
		size_t before = places.n;

		r = search_look_at(&s, paths[s.given], 0);
		if (r == 0 && places.n == before)
			r = bsa_fail(err, BSA_E_INPUT,
			             "%s: there is no trace: no directory there has a file named metadata",
			             paths[s.given]);
	}
	tdestroy(s.visits, free);
	if (r) {
		bsa_places_fini(&places);
		return r;
	}
	*ret = places;
	return 0;
}

void bsa_places_fini(struct bsa_places *places)
{
	for (size_t i = 0; i < places->n; i++)
		free(places->paths[i]);
	free(places->paths);
	*places = (struct bsa_places){ 0 };
}
