/* mend.c -- checks the stream files of a trace, and makes a copy of its directory where some of it is unusable. */
#include "mend.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"
#include "metadata.h"
#include "packets.h"

static int mend_no_memory(struct bsa_err *err)
{
	return bsa_fail(err, BSA_E_ENV, "there is no memory left to open traces");
}

static char *path_join(const char *directory, const char *name)
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
	           !stat(index, &st) && S_ISREG(st.st_mode) && st.st_size >= bytes;

	free(index);
	return has;
}

static bool has_packets(const char *path, const char *name)
{
	enum { INDEX_HEADER = 16 };

	return has_index(path, name, INDEX_HEADER + 1);
}

/* As babeltrace2 sees it: all files are streams, but hidden ones, the metadata, and those that were always empty. */
static bool is_stream(const char *path, const char *name)
{
	struct stat st;

	if (name[0] == '.' || !strcmp(name, "metadata") || stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	return st.st_size > 0 || has_packets(path, name);
}

static struct bsa_stretch *stretches_of(const struct bsa_packets *packets, size_t *ret_n)
{
	struct bsa_stretch *list = calloc(packets->n + 1, sizeof(*list)), *last = NULL, *less;
	size_t n = 0;

	for (size_t i = 0; list && i < packets->n; i++) {
		const struct bsa_packet *p = &packets->list[i];
		uint64_t ended = p->ended ? p->ended : p->began;
		bool empty = p->began == p->ended && p->content_bits == packets->empty;

		if (last && !empty && !last->empty && p->began <= last->ended && p->began >= last->began) {
			last->ended = ended > last->ended ? ended : last->ended;
			last->last_number = p->number;
			continue;
		}
		last = &list[n++];
		*last = (struct bsa_stretch){ p->began, ended, p->number, p->number, empty };
	}
	*ret_n = n;
	less = list ? reallocarray(list, n + 1, sizeof(*list)) : NULL;
	return less ? less : list;
}

static struct bsa_span *spans_of(const struct bsa_packets *packets)
{
	struct bsa_span *list = calloc(packets->n + 1, sizeof(*list));

	for (size_t i = 0; list && i < packets->n; i++) {
		const struct bsa_packet *p = &packets->list[i];

		list[i] = (struct bsa_span){ p->began, p->ended ? p->ended : UINT64_MAX };
	}
	return list;
}

static int add_file(struct bsa_files *files, const char *path, const struct bsa_packets *packets)
{
	bool fits = BSA_RESERVE(files->list, files->room, files->n + 1, 4);
	struct bsa_file *added;
	char *own = strdup(path);
	size_t n = 0;
	struct bsa_stretch *stretches = stretches_of(packets, &n);
	struct bsa_span *spans = spans_of(packets);

	if (!fits || !own || !stretches || !spans) {
		free(own);
		free(stretches);
		free(spans);
		return -ENOMEM;
	}
	added = &files->list[files->n++];
	*added = (struct bsa_file){ .path = own,
		                    .stretches = stretches,
		                    .n_stretches = n,
		                    .spans = spans,
		                    .doubtful_began = packets->doubtful_began,
		                    .doubtful_ended = packets->doubtful_ended,
		                    .directory = files->directories,
		                    .cpu = packets->cpu,
		                    .stream_class = packets->stream_class,
		                    .stream = packets->stream,
		                    .bytes = packets->bytes,
		                    .packets = packets->n,
		                    .known = packets->known,
		                    .cut = packets->cut };
	if (packets->n) {
		added->first = packets->list[0];
		added->last = packets->list[packets->n - 1];
	}
	files->cut |= packets->cut;
	files->uneven |= packets->uneven || packets->repeated || packets->doubtful;
	files->repeated += packets->repeated;
	files->doubtful += packets->doubtful;
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

/*
 * The stream of each index file that has packets must exist: no other file shows what was lost with a missing stream.
 */
static int check_index(const char *directory, struct bsa_err *err)
{
	char *path = path_join(directory, "index");
	DIR *dir = path ? opendir(path) : NULL;
	struct dirent *entry;
	int r = path ? 0 : mend_no_memory(err);

	while (r == 0 && dir && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);
		char name[NAME_MAX + 1], *stream;
		struct stat st;
		bool must_exist;

		if (n <= 4 || n > NAME_MAX || strcmp(entry->d_name + n - 4, ".idx"))
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(n - 4), entry->d_name);
		stream = path_join(directory, name);
		must_exist = stream && has_packets(stream, name);
		if (!stream)
			r = mend_no_memory(err);
		else if (must_exist && stat(stream, &st))
			r = bsa_fail(err, BSA_E_INPUT,
			             "%s is missing: its index is there, so this is not all of the trace", stream);
		else if (must_exist && !S_ISREG(st.st_mode))
			r = bsa_fail(err, BSA_E_INPUT, "%s is no regular file, as each stream is", stream);
		free(stream);
	}
	if (dir)
		closedir(dir);
	free(path);
	return r;
}

/* By name, so that of two files that contradict each other it is always the same one that is believed. */
static int for_streams(const char *directory, each *one, void *data, struct bsa_err *err)
{
	enum bsa_headers headers = headers_of(directory);
	struct dirent **names = NULL;
	int n = scandir(directory, &names, NULL, alphasort), r;

	if (n < 0)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", directory, strerror(errno));
	r = check_index(directory, err);
	for (int i = 0; i < n; i++) {
		char *path = r ? NULL : path_join(directory, names[i]->d_name);

		if (r == 0 && !path)
			r = mend_no_memory(err);
		else if (r == 0 && is_stream(path, names[i]->d_name))
			r = one(path, names[i]->d_name, headers, data, err);
		free(path);
		free(names[i]);
	}
	free(names);
	return r;
}

/* Whether all that one has of the stream comes before all that the other one has. */
static bool are_apart(const struct bsa_packet *last, const struct bsa_packet *first)
{
	return last->number < first->number && last->began <= first->began && last->ended <= first->ended;
}

/* Snapshots overlap, but not each with all others: more pairs would only take time. */
enum { COMPARED_MAX = 100000 };

/*
 * The packets of a stream file, without what files of that stream have that were looked at before: the first
 * @n. 0; -errno, E2BIG being that there are too many of them.
 */
static int read_stream(struct bsa_packets *ret, const char *path, enum bsa_headers headers, struct bsa_files *files,
                       size_t n)
{
	struct bsa_packets packets;
	int r = bsa_packets_read(&packets, path, headers);

	if (r)
		return r;
	for (size_t i = 0; r == 0 && i < n && packets.n; i++) {
		const struct bsa_file *file = &files->list[i];
		struct bsa_packets other;

		/*
		 * Whether what one file has of a stream bears on what the other one has: of babeltrace2's
		 * only within a directory, for it numbers the packets of each anew.
		 */
		if (!file->packets || file->stream_class != packets.stream_class || file->stream != packets.stream ||
		    (file->directory != files->directories && headers != BSA_HEADERS_LTTNG) ||
		    are_apart(&file->last, &packets.list[0]) || are_apart(&packets.list[packets.n - 1], &file->first))
			continue;
		r = ++files->compared > COMPARED_MAX ? -E2BIG : bsa_packets_read(&other, file->path, headers);
		if (r)
			break;
		r = bsa_packets_leave_out(&packets, path, &other, file->path, file->directory != files->directories);
		bsa_packets_fini(&other);
	}
	if (r)
		bsa_packets_fini(&packets);
	else
		*ret = packets;
	return r;
}

static int not_read(const char *path, int r, struct bsa_err *err)
{
	if (r == -ENOMEM)
		return mend_no_memory(err);
	if (r == -E2BIG)
		return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: too many files have packets of its stream", path);
	return bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", path, strerror(-r));
}

static int mend_look_at(const char *path, const char *name, enum bsa_headers headers, void *data, struct bsa_err *err)
{
	struct bsa_files *files = data;
	struct bsa_packets packets;
	enum bsa_index is = BSA_INDEX_NONE;
	uint64_t ended = 0;
	char *index = NULL;
	int r = read_stream(&packets, path, headers, files, files->n);

	if (r)
		return not_read(path, r, err);

	/*
	 * LTTng's index of the file may show that the file is incomplete. An index that contradicts the file
	 * is ignored. Of a file that is cut or uneven, an index of our own is written.
	 */
	if (packets.known &&
	    asprintf(&index, "%.*sindex/%s.idx", (int)(strlen(path) - strlen(name)), path, name) >= 0) {
		is = bsa_packets_compare_index(&packets, index, &ended);
		free(index);
	}
	if (!packets.cut && !packets.uneven && is != BSA_INDEX_NONE && is != BSA_INDEX_SAME) {
		packets.cut = is == BSA_INDEX_AHEAD;
		if (is == BSA_INDEX_AHEAD && ended > packets.ended)
			packets.ended = ended;
		files->wrong_indices += is == BSA_INDEX_WRONG;
		packets.uneven = true;
	}

	files->unindexed += packets.known && is == BSA_INDEX_NONE;
	files->stray |= packets.stray;
	files->cut |= packets.stray && has_index(path, name, 0);
	if (!packets.stray)
		r = add_file(files, path, &packets);
	bsa_packets_fini(&packets);
	return r ? not_read(path, r, err) : 0;
}

void bsa_files_fini(struct bsa_files *files)
{
	for (size_t i = 0; i < files->n; i++) {
		free(files->list[i].path);
		free(files->list[i].stretches);
		free(files->list[i].spans);
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
	char *target = realpath(path, NULL), *link = path_join(directory, name);
	int r = 0;

	if (!target || !link || symlink(target, link))
		r = not_copied(link ? link : name, err);
	free(target);
	free(link);
	return r;
}

struct copy {
	const char *directory;
	struct bsa_files *files;
};

/* A file whose first packet header is cut or invalid names no stream. */
static int copy_stream(const char *path, const char *name, enum bsa_headers headers, void *data, struct bsa_err *err)
{
	const struct copy *c = data;
	const char *directory = c->directory;
	struct bsa_packets packets;
	char *index = NULL;
	size_t before = 0;
	int r;

	while (before < c->files->n && strcmp(c->files->list[before].path, path) != 0)
		before++;
	r = read_stream(&packets, path, headers, c->files, before);
	if (r)
		return not_read(path, r, err);
	if (packets.n)
		r = link_to(path, directory, name, err);
	if (r == 0 && packets.n) {
		if (asprintf(&index, "%s/index/%s.idx", directory, name) < 0)
			index = NULL;
		r = index ? bsa_packets_write_index(&packets, index) : -ENOMEM;
		errno = -r;
		if (r)
			r = index ? not_copied(index, err) : mend_no_memory(err);
		free(index);
	}
	bsa_packets_fini(&packets);
	return r;
}

static int copy_trace(char **directory, struct bsa_files *files, const char *scratch, struct bsa_err *err)
{
	char *made = path_join(scratch, "trace-XXXXXX"), *index = NULL, *metadata = path_join(*directory, "metadata");
	int r = 0;

	if (!made || !metadata)
		r = mend_no_memory(err);
	else if (!mkdtemp(made) || !(index = path_join(made, "index")) || mkdir(index, 0700))
		r = not_copied(made, err);
	if (r == 0)
		r = link_to(metadata, made, "metadata", err);
	if (r == 0)
		r = for_streams(*directory, copy_stream, &(struct copy){ made, files }, err);
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
	bool cut = files->cut, stray = files->stray, uneven = files->uneven;
	struct dirent *entry;
	DIR *dir = NULL;
	int r;

	files->cut = files->stray = files->uneven = false;
	files->by_lttng = headers_of(*directory) == BSA_HEADERS_LTTNG;
	r = for_streams(*directory, mend_look_at, files, err);

	/*
	 * Count the files that LTTng opened and has not written a packet of: it does so when the session is
	 * stopped at the latest.
	 */
	if (r == 0 && !(dir = opendir(*directory)))
		r = bsa_fail(err, BSA_E_INPUT, "%s cannot be read: %s", *directory, strerror(errno));
	while (r == 0 && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		char *path = path_join(*directory, name);
		struct stat st;

		if (!path)
			r = mend_no_memory(err);
		else
			files->unwritten += name[0] != '.' && !stat(path, &st) && S_ISREG(st.st_mode) && !st.st_size &&
			                    has_index(path, name, 0) && !has_packets(path, name);
		free(path);
	}
	if (dir)
		closedir(dir);

	if (r == 0 && (files->cut || files->stray || files->uneven))
		r = bsa_scratch_make(scratch, err);
	if (r == 0 && (files->cut || files->stray || files->uneven))
		r = copy_trace(directory, files, scratch->path, err);
	files->cut |= cut;
	files->stray |= stray;
	files->uneven |= uneven;
	files->directories++;
	return r;
}
