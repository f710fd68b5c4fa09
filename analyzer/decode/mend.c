/* mend.c -- see mend.h. */
#include "mend.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "metadata.h"
#include "packets.h"

static int no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
}

static char *join(const char *directory, const char *name)
{
	char *path = NULL;

	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

/* LTTng has it in its index, so it was a stream. */
static bool has_index(const char *path, const char *name, off_t bytes)
{
	char *index = NULL;
	struct stat st;
	bool has = asprintf(&index, "%.*sindex/%s.idx", (int)(strlen(path) - strlen(name)), path, name) >= 0 &&
	           !stat(index, &st) && st.st_size >= bytes;

	free(index);
	return has;
}

static bool has_packets(const char *path, const char *name)
{
	enum { INDEX_HEADER = 16 };

	return has_index(path, name, INDEX_HEADER + 1);
}

/* LTTng opened it, and has not written a packet of it: it does so when the session is stopped at the latest. */
static bool is_unwritten(const char *path, const char *name)
{
	struct stat st;

	return name[0] != '.' && !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size && has_index(path, name, 0) &&
	       !has_packets(path, name);
}

/* As babeltrace2 sees it: all files are streams, but hidden ones, the metadata, and those that were always empty. */
static bool is_stream(const char *path, const char *name)
{
	struct stat st;

	if (name[0] == '.' || !strcmp(name, "metadata") || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	return st.st_size > 0 || has_packets(path, name);
}

static bool is_empty(const struct bsa_packets *packets, const struct bsa_packet *p)
{
	return p->began == p->ended && p->content_bits == packets->empty;
}

static bool continues(const struct bsa_stretch *stretch, const struct bsa_packet *p, bool empty)
{
	return !empty && !stretch->empty && p->began <= stretch->ended && p->began >= stretch->began;
}

static struct bsa_stretch *stretches_of(const struct bsa_packets *packets, size_t *ret_n)
{
	struct bsa_stretch *list = calloc(packets->n + 1, sizeof(*list)), *less;
	size_t n = 0;

	for (size_t i = 0; list && i < packets->n; i++) {
		const struct bsa_packet *p = &packets->list[i];
		uint64_t ended = p->ended ? p->ended : p->began;
		bool empty = is_empty(packets, p);

		if (n && continues(&list[n - 1], p, empty))
			list[n - 1].ended = ended > list[n - 1].ended ? ended : list[n - 1].ended;
		else
			list[n++] = (struct bsa_stretch){ p->began, ended, p->number, empty };
	}
	*ret_n = n;
	less = list ? reallocarray(list, n + 1, sizeof(*list)) : NULL;
	return less ? less : list;
}

static int add_file(struct bsa_files *files, const char *path, const struct bsa_packets *packets)
{
	struct bsa_file *list = reallocarray(files->list, files->n + 1, sizeof(*list));
	char *own = strdup(path);
	size_t n = 0;
	struct bsa_stretch *stretches = stretches_of(packets, &n);

	if (list)
		files->list = list;
	if (!list || !own || !stretches) {
		free(own);
		free(stretches);
		return -ENOMEM;
	}
	list[files->n++] = (struct bsa_file){ .path = own,
		                              .stretches = stretches,
		                              .n_stretches = n,
		                              .cpu = packets->cpu,
		                              .stream_class = packets->stream_class,
		                              .stream = packets->stream,
		                              .bytes = packets->bytes,
		                              .packets = packets->n,
		                              .known = packets->known,
		                              .cut = packets->cut };
	files->cut |= packets->cut;
	if (packets->ended > files->ended)
		files->ended = packets->ended;
	return 0;
}

typedef int each(const char *path, const char *name, enum bsa_headers headers, void *data, struct bsa_err *err);

static enum bsa_headers headers_of(const char *directory)
{
	char *text = bsa_metadata_text(directory);
	enum bsa_headers headers = bsa_packets_headers(text ? text : "");

	free(text);
	return headers;
}

/* @entry of index/ has packets, so the stream that it is about has to be there: nothing else would say what was lost with it. */
static int check_indexed(const char *directory, const char *entry, struct bsa_err *err)
{
	size_t n = strlen(entry);
	char name[NAME_MAX + 1];
	struct stat st;
	char *path;
	int r = 0;

	if (n <= 4 || n > NAME_MAX || strcmp(entry + n - 4, ".idx"))
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(n - 4), entry);
	path = join(directory, name);
	if (!path)
		return no_memory(err);
	if (has_packets(path, name)) {
		if (stat(path, &st))
			r = bsa_fail(err, BSA_E_INPUT,
			             "%s is missing: its index is there, so this is not all of the trace", path);
		else if (!S_ISREG(st.st_mode))
			r = bsa_fail(err, BSA_E_INPUT, "%s is no regular file, as each stream is", path);
	}
	free(path);
	return r;
}

static int check_index(const char *directory, struct bsa_err *err)
{
	char *path = join(directory, "index");
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;
	int r = path ? 0 : no_memory(err);

	while (r == 0 && dir && (entry = readdir(dir)))
		r = check_indexed(directory, entry->d_name, err);
	if (dir)
		closedir(dir);
	free(path);
	return r;
}

static int for_streams(const char *directory, each *one, void *data, struct bsa_err *err)
{
	enum bsa_headers headers = headers_of(directory);
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int r;

	if (!dir)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", directory, strerror(errno));
	r = check_index(directory, err);
	while (r == 0 && (entry = readdir(dir))) {
		char *path = join(directory, entry->d_name);

		if (!path)
			r = no_memory(err);
		else if (is_stream(path, entry->d_name))
			r = one(path, entry->d_name, headers, data, err);
		free(path);
	}
	closedir(dir);
	return r;
}

static int count_unwritten(const char *directory, struct bsa_files *files, struct bsa_err *err)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", directory, strerror(errno));
	while (r == 0 && (entry = readdir(dir))) {
		char *path = join(directory, entry->d_name);

		if (!path)
			r = no_memory(err);
		else
			files->unwritten += is_unwritten(path, entry->d_name);
		free(path);
	}
	closedir(dir);
	return r;
}

/* LTTng's index of the file has more packets than the file: it is cut, though between two of them. */
static void compare_with_index(struct bsa_packets *packets, const char *path, const char *name)
{
	struct bsa_index_end end;
	char *index = NULL;

	if (asprintf(&index, "%.*sindex/%s.idx", (int)(strlen(path) - strlen(name)), path, name) < 0)
		return;
	if (packets->known && !packets->cut && bsa_packets_index_end(&end, index) && end.n > packets->n) {
		packets->cut = true;
		if (end.ended > packets->ended)
			packets->ended = end.ended;
	}
	free(index);
}

static int look_at(const char *path, const char *name, enum bsa_headers headers, void *data, struct bsa_err *err)
{
	struct bsa_files *files = data;
	struct bsa_packets packets;
	int r = bsa_packets_read(&packets, path, headers);

	if (r == 0) {
		compare_with_index(&packets, path, name);
		files->stray |= packets.stray;
		files->cut |= packets.stray && has_index(path, name, 0);
		if (!packets.stray)
			r = add_file(files, path, &packets);
		bsa_packets_fini(&packets);
	}
	if (r == -ENOMEM)
		return no_memory(err);
	return r ? bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(-r)) : 0;
}

void bsa_files_fini(struct bsa_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->list[i].path);
		free(files->list[i].stretches);
	}
	free(files->list);
	*files = (struct bsa_files){ 0 };
}

/* ---- a copy ---- */

static int not_copied(const char *what, struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "%s cannot be made, to read a trace that is not whole: %s", what,
	                strerror(errno));
}

static int link_to(const char *path, const char *directory, const char *name, struct bsa_err *err)
{
	char *target = realpath(path, NULL), *link = join(directory, name);
	int r = 0;

	if (!target || !link || symlink(target, link))
		r = not_copied(link ? link : name, err);
	free(target);
	free(link);
	return r;
}

static int write_index(const struct bsa_packets *packets, const char *directory, const char *name, struct bsa_err *err)
{
	char *path = NULL;
	int r;

	if (asprintf(&path, "%s/index/%s.idx", directory, name) < 0)
		return no_memory(err);
	r = bsa_packets_write_index(packets, path);
	errno = -r;
	if (r)
		r = not_copied(path, err);
	free(path);
	return r;
}

/* A file whose first packet's header is cut, or none, says nothing. */
static int copy_stream(const char *path, const char *name, enum bsa_headers headers, void *data, struct bsa_err *err)
{
	const char *directory = data;
	struct bsa_packets packets;
	int r = bsa_packets_read(&packets, path, headers);

	if (r)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(-r));
	if (packets.n)
		r = link_to(path, directory, name, err);
	if (r == 0 && packets.n)
		r = write_index(&packets, directory, name, err);
	bsa_packets_fini(&packets);
	return r;
}

static int copy(char **directory, const char *scratch, struct bsa_err *err)
{
	char *made = join(scratch, "trace-XXXXXX"), *index = NULL, *metadata = join(*directory, "metadata");
	int r = 0;

	if (!made || !metadata)
		r = no_memory(err);
	else if (!mkdtemp(made) || !(index = join(made, "index")) || mkdir(index, 0700))
		r = not_copied(made, err);
	if (r == 0)
		r = link_to(metadata, made, "metadata", err);
	if (r == 0)
		r = for_streams(*directory, copy_stream, made, err);
	free(index);
	free(metadata);
	if (r) {
		free(made);
		return r;
	}
	free(*directory);
	*directory = made;
	return 0;
}

int bsa_mend(char **directory, struct bsa_files *files, struct bsa_scratch *scratch, struct bsa_err *err)
{
	bool cut = files->cut, stray = files->stray;
	int r;

	files->cut = files->stray = false;
	files->by_lttng = headers_of(*directory) == BSA_HEADERS_LTTNG;
	r = for_streams(*directory, look_at, files, err);
	if (r == 0)
		r = count_unwritten(*directory, files, err);
	if (r == 0 && (files->cut || files->stray))
		r = bsa_scratch_make(scratch, err);
	if (r == 0 && (files->cut || files->stray))
		r = copy(directory, scratch->path, err);
	files->cut |= cut;
	files->stray |= stray;
	return r;
}
