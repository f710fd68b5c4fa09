/*
 * store.c -- see store.h.
 *
 * CRASH  A case is made under the name NAME.half, and renamed when it is whole. The lock is the kernel's (flock), and ends with its process.
 *        Removing a case begins with its case.json, without which it is none: what is left of one then is removed by the next watcher.
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
#include "base/template.h"
#include "record/packets.h"

#define LOCK ".burstscope-watch"

/* ---- the directory ---- */

static int lock_it(struct bsv_store *s, struct bsa_err *err)
{
	char path[PATH_MAX + sizeof(LOCK)], pid[32] = "";
	ssize_t n;

	snprintf(path, sizeof(path), "%s/" LOCK, s->directory);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (s->lock < 0)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", s->directory, strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB)) {
		n = read(s->lock, pid, sizeof(pid) - 1);
		pid[n > 0 ? strspn(pid, "0123456789") : 0] = 0;
		close(s->lock);
		return bsa_fail(
			err, BSA_E_ENV,
			"%s: another burstscope watch (pid %s) keeps its cases there; give -o another directory",
			s->directory, *pid ? pid : "unknown");
	}
	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (ftruncate(s->lock, 0) || pwrite(s->lock, pid, (size_t)n, 0) < 0)
		errno = 0; /* the store is locked, only the owner's process id is unknown */
	s->is_open = true;
	return 0;
}

/* Another user who can write there could replace a case by a link to a file of this user. */
static int check_owner(const char *directory, struct bsa_err *err)
{
	struct stat st;

	if (stat(directory, &st))
		return bsa_fail(err, BSA_E_ENV, "%s: %s", directory, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return bsa_fail(err, BSA_E_ENV, "%s is not a directory", directory);
	if (st.st_uid != geteuid())
		return bsa_fail(err, BSA_E_ENV,
		                "%s belongs to another user, who could replace what is written there; give -o a "
		                "directory of your own",
		                directory);
	if (st.st_mode & S_IWOTH)
		return bsa_fail(err, BSA_E_ENV,
		                "%s can be written by all users, who could replace what is written there; give -o "
		                "another directory",
		                directory);
	return 0;
}

int bsv_store_open(struct bsv_store *ret, const char *directory, struct bsa_err *err)
{
	*ret = (struct bsv_store){ .lock = -1 };
	if (mkdir(directory, 0750) && errno != EEXIST)
		return bsa_fail(err, BSA_E_ENV, "%s cannot be made: %s", directory, strerror(errno));
	if (!realpath(directory, ret->directory)) /* LTTng wants no dots */
		return bsa_fail(err, BSA_E_ENV, "%s: %s", directory, strerror(errno));
	if (strlen(ret->directory) > PATH_MAX - 512)
		return bsa_fail(err, BSA_E_USAGE, "%.40s...: its name is too long", directory);
	if (check_owner(ret->directory, err) < 0)
		return BSA_E_ENV;
	return lock_it(ret, err);
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
	char **names = NULL, **longer;
	size_t n = 0;

	if (!d)
		return bsa_fail(err, errno == EACCES ? BSA_E_ENV : BSA_E_INPUT, "%s: %s", directory, strerror(errno));
	while ((entry = readdir(d))) {
		if (!is_case(entry->d_name, half))
			continue;
		longer = reallocarray(names, n + 1, sizeof(*names));
		if (!longer)
			break;
		names = longer;
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

static void remove_case(const char *path)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s/case.json", path) < (int)sizeof(file))
		unlink(file);
	bsv_remove_tree(path);
}

/* ---- the case to remove ---- */

/* Cases of one user, or of one app of a user. */
struct share {
	uint64_t n, bytes;
};

/* The app that a case is about. The user is the kernel's word, the name is the app's own. */
struct kept {
	char *path, *app; /* NULL: the app is unknown */
	int64_t user;     /* below 0: unknown */
	uint64_t bytes;
	struct share *of_user, *of_app; /* of the first case of the user, and of the app */
	struct share user_has, app_has;
	bool removed;
};

static void kept_read(struct kept *ret, char *path)
{
	struct bsv_case c;

	*ret = (struct kept){ .path = path, .user = -1, .bytes = bsv_directory_bytes(path) };
	if (bsv_case_read(&c, path, NULL) < 0)
		return;
	if (c.n_causes) {
		ret->user = c.causes[0].has_user ? (int64_t)c.causes[0].user : -1;
		ret->app = c.causes[0].app;
		c.causes[0].app = NULL;
	}
	bsv_case_fini(&c);
}

static bool is_of_one_app(const struct kept *a, const struct kept *b)
{
	return a->user == b->user && (a->app && b->app ? !strcmp(a->app, b->app) : a->app == b->app);
}

static void share_add(struct share *s, uint64_t bytes)
{
	s->n++;
	s->bytes += bytes;
}

/* Count the case at @i for its user and its app. */
static void kept_count(struct kept *each, size_t i)
{
	each[i].of_user = &each[i].user_has;
	each[i].of_app = &each[i].app_has;
	for (size_t j = i; j-- > 0;) {
		if (each[j].user == each[i].user)
			each[i].of_user = each[j].of_user;
		if (is_of_one_app(&each[j], &each[i])) {
			each[i].of_app = each[j].of_app;
			break;
		}
	}
	share_add(each[i].of_user, each[i].bytes);
	share_add(each[i].of_app, each[i].bytes);
}

/* Whether to remove @a rather than @b, which is older. */
static bool goes_first(const struct kept *a, const struct kept *b, bool by_bytes)
{
	const struct share *mine = a->of_user == b->of_user ? a->of_app : a->of_user;
	const struct share *other = a->of_user == b->of_user ? b->of_app : b->of_user;

	return by_bytes ? mine->bytes > other->bytes : mine->n > other->n;
}

/*
 * The oldest case of the app with most of the user with most: an app that fires one condition after another, under any number of
 * names, has cases of its own user removed. Never the last of the @n, the newest. NULL: no other is left.
 */
static struct kept *kept_to_remove(struct kept *each, size_t n, bool by_bytes)
{
	struct kept *ret = NULL;

	for (size_t i = 0; i + 1 < n; i++)
		if (!each[i].removed && (!ret || goes_first(&each[i], ret, by_bytes)))
			ret = &each[i];
	return ret;
}

static void kept_remove(struct kept *k)
{
	remove_case(k->path);
	k->removed = true;
	k->of_user->n--;
	k->of_app->n--;
	k->of_user->bytes -= k->bytes;
	k->of_app->bytes -= k->bytes;
}

unsigned bsv_store_prune(const struct bsv_store *s, size_t keep, uint64_t bytes)
{
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
		kept_count(each, i);
		all += each[i].bytes;
	}
	while (each && (n - removed > keep || (bytes && all > bytes)) &&
	       (next = kept_to_remove(each, n, n - removed <= keep))) {
		kept_remove(next);
		all -= next->bytes;
		removed++;
	}
	for (size_t i = 0; each && i < n; i++)
		free(each[i].app);
	free(each);
	bsv_store_list_free(names, n);
	return removed;
}
