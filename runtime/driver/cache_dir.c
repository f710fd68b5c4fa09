/*
 * cache_dir.c -- cache entries as files of a directory, and the key to seal them with.
 *
 * CRASH     A file is written under another name and renamed when it is complete, the model's last. A crash leaves a
 *           file that is never read, or a new data file with an old model, which is refused.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "driver/device.h"

int nnb_cache_key_file(const char *path, uint8_t ret[NNB_KEY_BYTES])
{
	char made[PATH_MAX];
	int fd, r;

	for (int attempt = 0; attempt < 2; attempt++) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0) {
			r = pread(fd, ret, NNB_KEY_BYTES, 0) == NNB_KEY_BYTES ? 0 : -EIO;
			close(fd);
			return r;
		}
		if (errno != ENOENT)
			return -errno;
		/* Whole or not at all: written aside, then linked, which fails where another was quicker. */
		if (snprintf(made, sizeof(made), "%s.XXXXXX", path) >= (int)sizeof(made))
			return -ENAMETOOLONG;
		fd = mkostemp(made, O_CLOEXEC);
		if (fd < 0)
			return -errno;
		r = getrandom(ret, NNB_KEY_BYTES, 0) == NNB_KEY_BYTES && write(fd, ret, NNB_KEY_BYTES) == NNB_KEY_BYTES
		            ? 0
		            : -EIO;
		if (!r && link(made, path) < 0 && errno != EEXIST)
			r = -errno;
		unlink(made);
		close(fd);
		if (r)
			return r;
	}
	return -EIO;
}

struct entry {
	char model[PATH_MAX], data[PATH_MAX];
	int model_fd, data_fd;
	struct nnb_cache cache;
};

static void entry_close(struct entry *e)
{
	if (e->model_fd >= 0)
		close(e->model_fd);
	if (e->data_fd >= 0)
		close(e->data_fd);
}

/*
 * Open DIR/TOKEN-HOW.model and .data with @suffix: an entry is good for one preference and one priority. Not all
 * may be there: then load finds out.
 */
static int entry_open(struct entry *e, const char *dir, const uint8_t token[NNB_TOKEN_BYTES],
                      const struct nnb_prepare *how, const char *suffix, int flags)
{
	char hex[2 * NNB_TOKEN_BYTES + 1];

	for (int i = 0; i < NNB_TOKEN_BYTES; i++)
		sprintf(hex + 2 * i, "%02x", token[i]);
	if (snprintf(e->model, PATH_MAX, "%s/%s-%u-%u.model%s", dir, hex, how->preference, how->priority, suffix) >=
	            PATH_MAX ||
	    snprintf(e->data, PATH_MAX, "%s/%s-%u-%u.data%s", dir, hex, how->preference, how->priority, suffix) >=
	            PATH_MAX)
		return -ENAMETOOLONG;
	e->model_fd = open(e->model, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	e->data_fd = open(e->data, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	e->cache = (struct nnb_cache){
		.model_files = &e->model_fd, .data_files = &e->data_fd, .n_model_files = 1, .n_data_files = 1
	};
	memcpy(e->cache.token, token, NNB_TOKEN_BYTES);
	return 0;
}

/* Save beside, then put in place, the model last: what others see is one entry or none. */
static void entry_save(const struct nnb_prepared *p, const char *dir, const uint8_t token[NNB_TOKEN_BYTES])
{
	char suffix[32], model[PATH_MAX], data[PATH_MAX];
	struct entry e;
	bool saved;

	snprintf(suffix, sizeof(suffix), ".%ld.%p", (long)getpid(), (const void *)&e);
	if (entry_open(&e, dir, token, nnb_prepared_how(p), suffix, O_RDWR | O_CREAT | O_EXCL))
		return;
	snprintf(model, sizeof(model), "%.*s", (int)(strlen(e.model) - strlen(suffix)), e.model);
	snprintf(data, sizeof(data), "%.*s", (int)(strlen(e.data) - strlen(suffix)), e.data);
	saved = nnb__cache_save(p, &e.cache, NULL) == NNB_STATUS_NONE && rename(e.data, data) == 0 &&
	        rename(e.model, model) == 0;
	if (!saved) {
		if (e.model_fd >= 0)
			unlink(e.model);
		if (e.data_fd >= 0)
			unlink(e.data);
	}
	entry_close(&e);
}

enum nnb_status nnb_prepare_cached(struct nnb_device *d, const struct nnb_model *model, const struct nnb_prepare *how,
                                   const char *dir, const uint8_t token[NNB_TOKEN_BYTES], struct nnb_prepared **ret,
                                   bool *from_cache, struct nnb_reason *reason)
{
	enum nnb_status status = NNB_STATUS_GENERAL_FAILURE;
	struct nnb_prepared *p = NULL;
	const struct nnb_prepare *saved;
	struct entry e;

	*from_cache = false;
	if (!entry_open(&e, dir, token, how, "", O_RDONLY)) {
		status = nnb_prepare_from_cache(d, how->deadline_ns, &e.cache, &p, NULL);
		entry_close(&e);
	}
	saved = status ? how : nnb_prepared_how(p);
	if (saved->preference != how->preference || saved->priority != how->priority) {
		/* another process has replaced the entry */
		p = nnb_prepared_unref(p);
		status = NNB_STATUS_GENERAL_FAILURE;
	}
	if (status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT) {
		nnb_because(reason, "the deadline passed while the model was read from the cache");
		return status;
	}
	if (status) {
		status = nnb_prepare(d, model, how, NULL, &p, reason);
		if (status)
			return status;
		entry_save(p, dir, token);
	} else {
		*from_cache = true;
	}
	*ret = p;
	return NNB_STATUS_NONE;
}
