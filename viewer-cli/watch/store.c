/*
 * store.c -- makes and lists the cases of a directory, and chooses those to remove when they are
 * too many or too large.
 *
 * CRASH  A case is made under the name NAME.half, and renamed when it is whole. The lock is the
 *        kernel's (flock), and ends with its process. Removing a case begins with its case.json,
 *        without which it is none: what is left of one then is removed by the next watcher.
 */
#include "watch/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/scoped.h"
#include "base/text.h"
#include "base/vector.h"
#include "record/owner.h"
#include "record/packets.h"

#define LOCK ".burstscope-watch"

/* ---- the directory ---- */

int bsv_store_open(struct bsv_store *ret, const char *directory, struct bsa_err *err)
{
	char path[PATH_MAX + sizeof(LOCK)], pid[32] = "";
	ssize_t n;

	*ret = (struct bsv_store){ .lock = -1 };
	if (mkdir(directory, 0750) && errno != EEXIST)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be made: %s", directory, strerror(errno));
	if (!realpath(directory, ret->directory)) /* LTTng wants no dots */
		return bsa_fail(err, BSA_E_ENV, "%s: %s", directory, strerror(errno));
	if (strlen(ret->directory) > PATH_MAX - 512)
		return bsa_fail(err, BSA_E_USAGE, "%.40s...: its name is too long", directory);
	/* another user who can write there could replace a case by a link to a file of this user */
	if (bsv_check_owner(ret->directory, ret->directory, err) < 0)
		return BSA_E_ENV;

	snprintf(path, sizeof(path), "%s/" LOCK, ret->directory);
	/* a user who can read a file can lock it, and keep every watch away from the directory */
	ret->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ret->lock >= 0 && fchmod(ret->lock, 0600)) {
		close(ret->lock);
		ret->lock = -1;
	}
	if (ret->lock < 0)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", ret->directory, strerror(errno));
	if (flock(ret->lock, LOCK_EX | LOCK_NB)) {
		n = read(ret->lock, pid, sizeof(pid) - 1);
		pid[n > 0 ? strspn(pid, "0123456789") : 0] = 0;
		close(ret->lock);
		return bsa_fail(
			err, BSA_E_ENV,
			"%s: another burstscope watch (pid %s) keeps its cases there; give -o another directory",
			ret->directory, *pid ? pid : "unknown");
	}
	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(ret->lock, 0) || pwrite(ret->lock, pid, (size_t)n, 0) < 0)
		errno = 0; /* the store is locked, only the owner's process id is unknown */
	ret->is_open = true;
	return 0;
}

void bsv_store_close(struct bsv_store *s)
{
	if (s->is_open)
		close(s->lock);
	s->is_open = false;
}

/* ---- one case ---- */

int bsv_store_begin(const struct bsv_store *s, struct bsv_case *c, char path[PATH_MAX], struct bsa_err *err)
{
	char stamp[32], whole[PATH_MAX];
	int64_t at = c->caught;
	struct tm tm;

	for (int i = 0; i < 1000; i++, at += 1000000) {
		time_t seconds = (time_t)(at / 1000000000);

		strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", gmtime_r(&seconds, &tm));
		snprintf(c->name, sizeof(c->name), "%s-%03d", stamp, (int)(at / 1000000 % 1000));
		snprintf(whole, sizeof(whole), "%.*s/%s", PATH_MAX - 512, s->directory, c->name);
		if (!access(whole, F_OK))
			continue;
		snprintf(path, PATH_MAX, "%.*s%s", PATH_MAX - 256, whole, BSV_CASE_HALF);
		if (!mkdir(path, 0750))
			return 0;
		if (errno != EEXIST)
			break;
	}
	return bsa_fail(err, BSA_E_ENV, "%s: no directory can be made there: %s", s->directory, strerror(errno));
}

int bsv_store_finish(const struct bsv_store *s, char path[PATH_MAX], struct bsa_err *err)
{
	size_t length = strlen(path) - strlen(BSV_CASE_HALF);
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%.*s", (int)length, path);
	if (rename(path, whole))
		return bsa_fail(err, BSA_E_ENV, "%s: %s cannot be renamed: %s", s->directory, path, strerror(errno));
	strcpy(path, whole);
	return 0;
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void bsv_store_list_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* As bsv_store_begin names them: nothing else in the directory is looked at, or ever removed. */
static bool is_case(const char *name, bool half)
{
	static const char form[] = "dddddddd-dddddd-ddd";

	for (const char *f = form; *f; f++, name++)
		if (*f == 'd' ? *name < '0' || *name > '9' : *name != *f)
			return false;
	return !strcmp(name, half ? BSV_CASE_HALF : "");
}

int bsv_store_list(const char *directory, bool half, char ***ret, size_t *ret_n, struct bsa_err *err)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	char **names = NULL;
	size_t n = 0;

	if (!d)
		return bsa_fail(err, BSA_E_INPUT, "cannot read %s: %s", directory, strerror(errno));
	while ((entry = readdir(d))) {
		if (!is_case(entry->d_name, half))
			continue;
		if (!bsv_array_grow(&names, n, sizeof(*names)))
			break;
		names[n] = bsv_text("%s/%s", directory, entry->d_name);
		if (!names[n])
			break;
		n++;
	}
	closedir(d);
	if (entry) {
		bsv_store_list_free(names, n);
		return bsv_no_memory(err);
	}
	if (n)
		qsort(names, n, sizeof(*names), by_name);
	*ret = names;
	*ret_n = n;
	return 0;
}

/* ---- the case to remove ---- */

/* The bytes of the cases of one user, or of one app of a user. */
struct share {
	uint64_t n, bytes;
};

/* An app that a case is about. The kernel reports the user; the app chooses its name. */
struct owner {
	int64_t user; /* below 0: unknown */
	char *app;    /* NULL: unknown */
	struct share *of_user, *of_app;
	struct share user_share, app_share; /* used by all owners of that user, and of that app */
};

struct kept {
	char *path;
	struct owner owners[BSV_CASE_CAUSES];
	size_t n_owners; /* at least 1 */
	uint64_t bytes;
	bool removed;
};

static bool is_of_one_app(const struct owner *a, const struct owner *b)
{
	return a->user == b->user && (a->app && b->app ? !strcmp(a->app, b->app) : a->app == b->app);
}

/* @app is taken. */
static void kept_add_owner(struct kept *k, int64_t user, char *app)
{
	struct owner owner = { .user = user, .app = app };

	for (size_t i = 0; i < k->n_owners; i++)
		if (is_of_one_app(&k->owners[i], &owner)) {
			free(app);
			return;
		}
	k->owners[k->n_owners++] = owner;
}

static void kept_read(struct kept *ret, char *path)
{
	struct bsv_case c;

	*ret = (struct kept){ .path = path, .bytes = bsv_directory_bytes(path) };
	if (bsv_case_read(&c, path, NULL) >= 0) {
		for (size_t i = 0; i < c.n_causes; i++) {
			kept_add_owner(ret, c.causes[i].has_user ? (int64_t)c.causes[i].user : -1, c.causes[i].app);
			c.causes[i].app = NULL;
		}
		bsv_case_fini(&c);
	}
	if (!ret->n_owners)
		kept_add_owner(ret, -1, NULL);
}

/* @o is an owner of the last of the @n cases. */
static void owner_find_shares(struct owner *o, struct kept *each, size_t n)
{
	o->of_user = &o->user_share;
	o->of_app = &o->app_share;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < each[i].n_owners && &each[i].owners[j] != o; j++) {
			if (each[i].owners[j].user != o->user)
				continue;
			o->of_user = each[i].owners[j].of_user;
			if (!is_of_one_app(&each[i].owners[j], o))
				continue;
			o->of_app = each[i].owners[j].of_app;
			return;
		}
}

static void share_change(struct share *s, uint64_t bytes, bool add)
{
	s->n += add ? 1 : -UINT64_C(1);
	s->bytes += add ? bytes : -bytes;
}

/* Count @k for its users and apps, or not any more. A case of several apps of a user counts for that user once. */
static void kept_count(struct kept *k, bool add)
{
	for (size_t i = 0; i < k->n_owners; i++) {
		bool is_first_of_user = true;

		for (size_t j = 0; j < i; j++)
			is_first_of_user = is_first_of_user && k->owners[j].user != k->owners[i].user;
		if (is_first_of_user)
			share_change(k->owners[i].of_user, k->bytes, add);
		share_change(k->owners[i].of_app, k->bytes, add);
	}
}

static uint64_t share_size(const struct share *s, bool by_bytes)
{
	return by_bytes ? s->bytes : s->n;
}

struct rank {
	bool spared;              /* a user of the store has no more than an equal share */
	uint64_t of_user, of_app; /* bytes of its user with the most, and of that user's app with the fewest */
};

static bool rank_goes_first(const struct rank *a, const struct rank *b)
{
	if (a->spared != b->spared)
		return b->spared;
	return a->of_user > b->of_user || (a->of_user == b->of_user && a->of_app > b->of_app);
}

/*
 * Take the user with the most cases, of that user the app with the most, and of that app the oldest
 * case: an app that fires one condition after another, under any number of names, has cases of its
 * own user removed. A case is spared as long as there are others, if another one of its users has
 * few: otherwise the app that misses most would take the only record of another one with it. Never
 * the last of the @n, the newest. NULL: no other is left.
 */
static struct kept *kept_to_remove(struct kept *each, size_t n, bool by_bytes)
{
	struct rank first = { false, 0, 0 };
	uint64_t users = 0, equal = 0; /* bytes of each user if all had as much, of the cases that are left */
	struct kept *ret = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!each[i].removed)
			equal += by_bytes ? each[i].bytes : 1;
		for (size_t j = 0; j < each[i].n_owners; j++)
			users += each[i].owners[j].of_user == &each[i].owners[j].user_share &&
			         each[i].owners[j].user_share.n;
	}
	if (users)
		equal /= users;

	for (size_t i = 0; i + 1 < n; i++) {
		struct rank rank = { false, 0, 0 };

		for (size_t j = 0; j < each[i].n_owners; j++) {
			uint64_t user = share_size(each[i].owners[j].of_user, by_bytes),
				 app = share_size(each[i].owners[j].of_app, by_bytes);

			rank.spared = rank.spared || user <= equal;
			if (user > rank.of_user || (user == rank.of_user && app < rank.of_app)) {
				rank.of_user = user;
				rank.of_app = app;
			}
		}
		if (!each[i].removed && (!ret || rank_goes_first(&rank, &first))) {
			ret = &each[i];
			first = rank;
		}
	}
	return ret;
}

unsigned bsv_store_prune(const struct bsv_store *s, size_t keep, uint64_t bytes)
{
	char path[PATH_MAX];
	struct kept *each, *next;
	unsigned removed = 0;
	uint64_t all = 0;
	char **names;
	size_t n;

	if (bsv_store_list(s->directory, false, &names, &n, NULL) < 0)
		return 0;
	each = calloc(n + 1, sizeof(*each));
	for (size_t i = 0; each && i < n; i++) {
		kept_read(&each[i], names[i]);
		for (size_t j = 0; j < each[i].n_owners; j++)
			owner_find_shares(&each[i].owners[j], each, i + 1);
		kept_count(&each[i], true);
		all += each[i].bytes;
	}
	while (each && (n - removed > keep || (bytes && all > bytes)) &&
	       (next = kept_to_remove(each, n, n - removed <= keep))) {
		if (snprintf(path, sizeof(path), "%s/case.json", next->path) < (int)sizeof(path))
			unlink(path);
		bsv_remove_tree(next->path);
		next->removed = true;
		kept_count(next, false);
		all -= next->bytes;
		removed++;
	}
	for (size_t i = 0; each && i < n; i++)
		for (size_t j = 0; j < each[i].n_owners; j++)
			free(each[i].owners[j].app);
	free(each);
	bsv_store_list_free(names, n);
	return removed;
}
