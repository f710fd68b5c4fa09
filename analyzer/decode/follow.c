/*
 * follow.c -- reads new packets of the streams of growing traces, and merges their records.
 *
 * A directory that has a file `metadata` is a trace. Its other files are of the stream that their first
 * packet's header names; a stream reads one file at a time, and takes the one next whose first packet has the
 * lowest number beyond the last one read.
 *
 * Which directories, and which metadata, have changed inotify reports, because to read all of them at each
 * look takes longer than to decode what is new. Where it reports nothing (too many watches, a file system
 * that other hosts write to), they are read now and then: UNREAD_LOOKS, WATCHED_LOOKS.
 *
 * The recipe of a trace (recipe.h) is made of its metadata as bsa_look makes it of a whole trace: from a copy
 * of the metadata's whole packets beside one packet without events, in a scratch directory, so that
 * babeltrace2 agrees with it here, too.
 */
#include "follow_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "bsa/regular.h"
#include "ctf.h"
#include "look.h"

enum {
	DEPTH_MAX = 8,
	FILES_MAX = 1 << 16,
	HEADER_MAX = 88, /* bytes of a packet's header that any packet has */
	/* looks after which a directory is read again though its time is the same: that is a coarse one */
	UNREAD_LOOKS = 16,
	WATCHED_LOOKS = 64, /* likewise, though inotify, which watches it, reports nothing */
	STALL_LOOKS = 400,  /* looks after which a header that makes no sense is believed to stay so */
};

/* ---- a trace's recipe ---- */

/*
 * Positions of the sizes in a packet's header, by kind of bsa_packets_headers; and the size of a packet without
 * events.
 */
static const struct {
	size_t content, bytes, empty;
} headers[] = {
	[BSA_HEADERS_LTTNG] = { 48, 56, LTTNG_EMPTY },
	[BSA_HEADERS_SINK] = { 44, 36, 88 },
	[BSA_HEADERS_UNNUMBERED] = { 44, 36, 80 },
};

/* Room for one more in @list, of @n. NULL: no memory. */
static void *list_grow(void *list, size_t n, size_t each)
{
	return n & (n - 1) ? list : reallocarray(list, n ? 2 * n : 1, each);
}

/*
 * Whole packets of metadata only: what follows is being written. Returns how many bytes they are; text that
 * is in no packets is whole.
 */
static size_t whole_metadata(const uint8_t *bytes, size_t n)
{
	enum { PACKET_AT_BITS = 28, LEAST = 37 };
	const uint32_t magic = 0x75d11d57;
	size_t at = 0;

	if (n < sizeof(magic) || memcmp(bytes, &magic, sizeof(magic)) != 0)
		return n;

	while (n - at >= LEAST) {
		uint32_t bits;

		memcpy(&bits, bytes + at + PACKET_AT_BITS, sizeof(bits));
		if (bits % 8 || bits / 8 < LEAST || bits / 8 > n - at)
			break;
		at += bits / 8;
	}
	return at;
}

static bool write_file(const char *directory, const char *name, const void *bytes, size_t n)
{
	char *path = NULL;
	FILE *to = asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : fopen(path, "wxe");
	bool done = to && fwrite(bytes, 1, n, to) == n;

	if (to)
		done = !fclose(to) && done;
	free(path);
	return done;
}

/* Set the trace from what bsa_look reads of the copy. 0: not yet; 1; BSA_E_ENV. */
static int look_at_copy(struct bsa_follow *f, struct bsa_follow_trace *t, const char *copy, struct bsa_err *err)
{
	struct bsa_input input = { .info.path = strdup(t->path), .directories = calloc(1, sizeof(char *)) };
	struct bsa_recipe **recipes = reallocarray(t->recipes, t->n_recipes + 1, sizeof(struct bsa_recipe *));
	int r = 0;

	if (recipes)
		t->recipes = recipes;
	if (input.directories) {
		input.directories[0] = strdup(copy);
		input.n_directories = input.directories[0] != NULL;
	}
	if (!recipes || !input.info.path || !input.n_directories)
		r = bsa_follow_no_memory(err);
	else if (bsa_look(&input, f->source, NULL) > 0 && input.recipe) {
		t->recipes[t->n_recipes++] = input.recipe;
		input.recipe = NULL;
		if (t->input.info.path) { /* the trace's names are borrowed */
			t->input.info.compact |= input.info.compact;
			bsa_input_fini(&input);
			return 1;
		}
		t->input = input;
		return 1;
	}
	bsa_input_fini(&input);
	return r;
}

static int make_recipe(struct bsa_follow *f, struct bsa_follow_trace *t, const uint8_t *metadata, size_t n,
                       uint8_t *header, struct bsa_err *err)
{
	enum bsa_headers kind = BSA_HEADERS_LTTNG;
	char *copy = NULL, *text;
	uint64_t bits;
	int r = bsa_scratch_make(&f->scratch, err);

	if (r)
		return r;
	if (asprintf(&copy, "%s/%llu", f->scratch.path, (unsigned long long)f->serial++) < 0)
		return bsa_follow_no_memory(err);

	/* The kind of headers that belongs to this metadata. Packets of metadata have zeroes between their texts. */
	text = malloc(n + 1);
	for (size_t i = 0; text && i < n; i++)
		text[i] = metadata[i] ? (char)metadata[i] : ' ';
	if (text) {
		text[n] = 0;
		kind = bsa_packets_headers(text);
	}
	free(text);
	t->by_lttng = kind == BSA_HEADERS_LTTNG;

	/* Make a stream without events of the header that is there. */
	bits = headers[kind].empty * UINT64_C(8);
	memcpy(header + headers[kind].content, &bits, sizeof(bits));
	memcpy(header + headers[kind].bytes, &bits, sizeof(bits));
	if (mkdir(copy, 0700) || !write_file(copy, "metadata", metadata, n) ||
	    !write_file(copy, "s", header, headers[kind].empty))
		r = bsa_fail(err, BSA_E_ENV, "%s cannot be written: %s", copy, strerror(errno));
	else
		r = look_at_copy(f, t, copy, err);
	free(copy);
	return r;
}

/* Make a recipe if the metadata has grown. 1: there is a new one; 0; BSA_E_ENV. */
static int renew_recipe(struct bsa_follow *f, struct bsa_follow_trace *t, struct bsa_err *err)
{
	char *path = NULL;
	uint8_t header[HEADER_MAX], *bytes = NULL;
	struct stat st;
	size_t n = 0;
	ssize_t got;
	int fd = asprintf(&path, "%s/metadata", t->path) < 0 ? -ENOMEM : bsa_open_regular(path), r = 0;

	free(path);

	/* Any packet of the trace has the header that is needed; before there is a packet, the metadata is not read. */
	t->metadata_grown = true;
	for (size_t i = 0; t->metadata_grown && i < t->n_files; i++)
		t->metadata_grown = t->files[i].fd < 0 || pread(t->files[i].fd, header, HEADER_MAX, 0) != HEADER_MAX;
	if (fd >= 0 && !t->metadata_grown && !fstat(fd, &st) && (uint64_t)st.st_size > t->metadata_bytes) {
		bytes = malloc((size_t)st.st_size + 1);
		while (bytes && n < (size_t)st.st_size &&
		       (got = pread(fd, bytes + n, (size_t)st.st_size - n, (off_t)n)) > 0)
			n += (size_t)got;
		n = bytes ? whole_metadata(bytes, n) : 0;
		if (n > t->metadata_bytes)
			r = make_recipe(f, t, bytes, n, header, err);
		if (r > 0 || n)
			t->metadata_bytes = n;
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
	return r;
}

static const struct bsa_recipe *recipe_of(const struct bsa_follow_trace *t)
{
	return t->n_recipes ? t->recipes[t->n_recipes - 1] : NULL;
}

/* ---- files and streams ---- */

static void file_close(struct bsa_follow_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

static int see_file(struct bsa_follow_trace *t, int directory, const char *name, struct bsa_err *err)
{
	struct bsa_follow_file *files, *same;
	struct stat st;
	char *path = NULL;
	size_t i = t->n_files;
	int fd;

	if (!strcmp(name, "metadata") || fstatat(directory, name, &st, 0) || !S_ISREG(st.st_mode))
		return 0;

	/* A file in the list that was given up, or that is shorter than what was read of it, is being written anew. */
	while (i > 0 && strcmp(t->files[i - 1].name, name) != 0)
		i--;
	same = i ? &t->files[i - 1] : NULL;
	if (same && !same->given_up && same->dev == st.st_dev && same->ino == st.st_ino &&
	    (same->fd >= 0 || (uint64_t)st.st_size >= same->end))
		return 0;
	if (asprintf(&path, "%s/%s", t->path, name) < 0)
		return bsa_follow_no_memory(err);
	fd = bsa_open_regular(path);
	free(path);
	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}

	files = list_grow(t->files, t->n_files, sizeof(*files));
	if (files)
		t->files = files;
	if (!files || t->n_files == FILES_MAX || !(files[t->n_files].name = strdup(name))) {
		close(fd);
		return bsa_follow_no_memory(err);
	}
	name = files[t->n_files].name;
	files[t->n_files++] =
		(struct bsa_follow_file){ .name = (char *)name, .dev = st.st_dev, .ino = st.st_ino, .fd = fd };
	return 0;
}

/* ---- which directories have changed ---- */

static void watch_place(struct bsa_follow *f, struct bsa_follow_place *p)
{
	p->stirred = true;
	if (f->inotify >= 0 && p->watch < 0)
		p->watch = inotify_add_watch(f->inotify, p->path,
		                             IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MODIFY | IN_ONLYDIR);
}

/* True: what is appended to the file of this name is found by looking at the file. */
static bool is_followed(const struct bsa_follow_trace *t, const char *name)
{
	for (size_t i = t->n_files; i-- > 0;)
		if (t->files[i].fd >= 0 && !t->files[i].given_up && !strcmp(t->files[i].name, name))
			return true;
	return false;
}

static void hear_changes(struct bsa_follow *f)
{
	_Alignas(struct inotify_event) char bytes[1 << 14];
	const struct inotify_event *e;
	ssize_t n;

	while (f->inotify >= 0 && (n = read(f->inotify, bytes, sizeof(bytes))) > 0)
		for (ssize_t at = 0; at < n; at += (ssize_t)(sizeof(*e) + e->len)) {
			e = (const struct inotify_event *)(bytes + at);
			for (size_t i = 0; i < f->n_places; i++)
				if (f->places[i].watch == e->wd || e->mask & IN_Q_OVERFLOW) {
					struct bsa_follow_place *p = &f->places[i];
					struct bsa_follow_trace *t = p->is_trace ? &f->traces[p->trace] : NULL;

					if (e->mask & IN_IGNORED)
						p->watch = -1;
					if (t && e->len && !strcmp(e->name, "metadata"))
						t->metadata_grown = true;
					if (!(e->mask & IN_MODIFY) || (t && !is_followed(t, e->name)))
						p->stirred = true;
				}
		}
}

static int add_place(struct bsa_follow *f, const char *path, int depth, struct bsa_err *err)
{
	struct bsa_follow_place *places;

	for (size_t i = 0; i < f->n_places; i++)
		if (!strcmp(f->places[i].path, path))
			return 0;
	places = list_grow(f->places, f->n_places, sizeof(*places));
	if (places)
		f->places = places;
	if (!places || !(path = strdup(path)))
		return bsa_follow_no_memory(err);
	places[f->n_places] = (struct bsa_follow_place){ .path = (char *)path, .depth = depth, .watch = -1 };
	watch_place(f, &places[f->n_places++]);
	return 0;
}

static int add_trace(struct bsa_follow *f, size_t place, struct bsa_err *err)
{
	struct bsa_follow_trace *traces = list_grow(f->traces, f->n_traces, sizeof(*traces));
	struct bsa_follow_trace *t;

	if (!traces)
		return bsa_follow_no_memory(err);
	f->traces = traces;
	t = &traces[f->n_traces];
	*t = (struct bsa_follow_trace){ .path = strdup(f->places[place].path),
		                        .counts = calloc(1, sizeof(*t->counts)),
		                        .metadata_grown = true };
	f->n_traces++;
	if (!t->path || !t->counts)
		return bsa_follow_no_memory(err);
	bsa_counts_init(t->counts);
	f->places[place].is_trace = true;
	f->places[place].trace = f->n_traces - 1;
	return 0;
}

/* Read a directory: the directories in it, or the files of a trace. */
static int read_place(struct bsa_follow *f, size_t place, struct bsa_err *err)
{
	int fd = open(f->places[place].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;

	if (!d) { /* not yet, or not any more */
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (!f->places[place].is_trace && !fstatat(fd, "metadata", &st, 0) && S_ISREG(st.st_mode))
		r = add_trace(f, place, err);
	while (r == 0 && (e = readdir(d))) {
		char *path = NULL;

		if (f->places[place].is_trace) {
			r = see_file(&f->traces[f->places[place].trace], fd, e->d_name, err);
			continue;
		}
		if (e->d_name[0] == '.' || f->places[place].depth == DEPTH_MAX ||
		    fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			continue;
		if (asprintf(&path, "%s/%s", f->places[place].path, e->d_name) < 0) {
			r = bsa_follow_no_memory(err);
			break;
		}
		r = add_place(f, path, f->places[place].depth + 1, err);
		free(path);
	}
	closedir(d);
	return r;
}

static int see_place(struct bsa_follow *f, size_t place, struct bsa_err *err)
{
	struct bsa_follow_place *p = &f->places[place];
	struct stat st;

	if (p->watch >= 0) {
		if (f->now != BSA_NEVER && !p->stirred && ++p->unread < WATCHED_LOOKS)
			return 0;
		p->unread = 0;
		p->stirred = false;
	} else {
		/* Trace files may be overwritten, which does not change the time of a trace's directory. */
		if (!p->is_trace) {
			if (f->now != BSA_NEVER && ++p->unread < UNREAD_LOOKS &&
			    (stat(p->path, &st) ||
			     (st.st_mtim.tv_sec == p->changed.tv_sec && st.st_mtim.tv_nsec == p->changed.tv_nsec)))
				return 0;
			p->unread = 0;
			if (!stat(p->path, &st))
				p->changed = st.st_mtim;
		}
		watch_place(f, p); /* the directory may exist by now */
	}
	if (p->is_trace)
		f->traces[p->trace].metadata_grown = true;
	return read_place(f, place, err);
}

static struct bsa_follow_stream *stream_of(struct bsa_follow *f, size_t trace, const struct bsa_packet_head *head,
                                           struct bsa_err *err)
{
	struct bsa_follow_stream *streams;
	struct bsa_head *heap;

	for (size_t i = 0; i < f->n_streams; i++)
		if (f->streams[i].trace == trace && f->streams[i].class == head->stream->id &&
		    f->streams[i].instance == head->instance)
			return &f->streams[i];
	streams = list_grow(f->streams, f->n_streams, sizeof(*streams));
	if (streams)
		f->streams = streams;
	heap = streams ? reallocarray(f->ordered.merge.heap, f->n_streams + 1, sizeof(*heap)) : NULL;
	if (heap)
		f->ordered.merge.heap = heap;
	if (!heap) {
		bsa_follow_no_memory(err);
		return NULL;
	}
	streams[f->n_streams] = (struct bsa_follow_stream){
		.trace = trace,
		.class = head->stream->id,
		.instance = head->instance,
		.file = SIZE_MAX,
		.stuck_since = BSA_NEVER,
		.flow = bsa_flow_new((uint32_t)trace + 1, f->n_streams + 1, f->traces[trace].input.pid,
		                     f->traces[trace].counts),
	};
	if (!streams[f->n_streams].flow) {
		bsa_follow_no_memory(err);
		return NULL;
	}
	bsa_flow_recipe(streams[f->n_streams].flow, recipe_of(&f->traces[trace]), head->stream);
	return &streams[f->n_streams++];
}

/* The header @at of a file. 1; 0: not all of it is written yet; -1: these bytes are not a packet header. */
static int header_at(const struct bsa_follow_trace *t, const struct bsa_follow_file *file, uint64_t at,
                     struct bsa_packet_head *ret)
{
	uint8_t bytes[BSA_HEAD_MAX];
	ssize_t n = pread(file->fd, bytes, sizeof(bytes), (off_t)at);

	if (n <= 0)
		return 0;
	if (bsa_packet_head_read(ret, recipe_of(t), bytes, (size_t)n) && ret->bytes)
		return 1;
	return n < (ssize_t)sizeof(bytes) ? 0 : -1;
}

/* ---- what has grown ---- */

/* Note whether the stream can be read, and if not, since when: after the last record of what could be read. */
static void note_unreadable(struct bsa_follow *f, struct bsa_follow_stream *s)
{
	bool is = bsa_follow_is_unreadable(f, s), was = s->lost_until;

	if (is == was || (is && s->queued))
		return;
	s->lost_until = is ? bsa_flow_last(s->flow) : 0;
	if (is && !s->lost_until)
		s->lost_until = 1;
	f->n_unreadable += is ? 1 : (size_t)-1;
}

static void give_up(struct bsa_follow_file *file, uint64_t *count)
{
	++*count;
	file->given_up = true;
}

/* Take in all whole packets of the stream's file. If memory runs out, a false gap may be reported. */
static void grow_stream(struct bsa_follow *f, struct bsa_follow_stream *s, struct bsa_follow_file *file)
{
	const struct bsa_follow_trace *t = &f->traces[s->trace];
	struct bsa_packet_head head;
	struct stat st;
	int is;

	if (file->given_up)
		return;
	if (fstat(file->fd, &st) || (uint64_t)st.st_size < file->end) {
		bsa_flow_grow(s->flow, file->end);
		give_up(file, &f->followed.lost_hold);
		return;
	}
	while ((uint64_t)st.st_size > file->end && (is = header_at(t, file, file->end, &head)) != 0) {
		const bool fits = is > 0 && head.stream->id == s->class && head.instance == s->instance &&
		                  (!s->any || (head.began >= s->head.ended && head.number > s->head.number));

		if (!fits && ++file->stalled < STALL_LOOKS && f->now != BSA_NEVER)
			return;
		if (!fits) {
			give_up(file, &f->followed.broken);
			s->broken = true;
			return;
		}
		if (head.bytes > (uint64_t)st.st_size - file->end)
			return;
		file->stalled = 0;
		file->end += head.bytes;
		f->followed.bytes += head.bytes;
		/* that gap was reported as a loss; or this packet may be that of a stop, which came too late */
		f->followed.late += (head.began < f->gap.ended && head.ended > f->gap.began) ||
		                    (head.ended >= f->refuted.began && head.ended < f->refuted.ended);
		if (!s->any)
			s->first = head.number;
		if (!s->any && t->by_lttng && head.number) {
			struct bsa_follow_head *heads = list_grow(f->heads, f->n_heads, sizeof(*heads));

			if (heads) {
				f->heads = heads;
				heads[f->n_heads++] = (struct bsa_follow_head){ head.began, head.cpu, s->trace };
			} else {
				f->followed.broken++;
			}
		}
		if (bsa_follow_cover(f, s, &head, NULL))
			f->followed.broken++;
		s->head = head;
		s->any = true;
		bsa_flow_grow(s->flow, file->end);
	}
}

static void leave_file(struct bsa_follow_trace *t, struct bsa_follow_stream *s)
{
	struct bsa_follow_file *file = &t->files[s->file];

	file_close(file);
	s->file = SIZE_MAX;
}

static void advance_in_files(struct bsa_follow *f, struct bsa_follow_stream *s)
{
	struct bsa_follow_trace *t = &f->traces[s->trace];
	size_t next;

	while (!s->queued) {
		int r = s->file == SIZE_MAX ? 0 : bsa_flow_next(s->flow, &s->at);

		if (r == BSA_FLOW_UNKNOWN && f->now == BSA_NEVER) { /* no metadata will come any more */
			bsa_flow_break(s->flow);
			r = 0;
		}
		if (!r && s->file != SIZE_MAX && bsa_flow_broken(s->flow) && !s->broken) {
			s->broken = true;
			f->followed.broken++;
		}
		s->stuck = r == BSA_FLOW_UNKNOWN;
		s->queued = r == 1;
		if (!s->stuck)
			s->stuck_since = BSA_NEVER;
		else if (s->stuck_since == BSA_NEVER)
			s->stuck_since = f->now;
		if (r)
			return;
		if (s->file != SIZE_MAX && t->files[s->file].given_up)
			leave_file(t, s);

		/*
		 * The next file is the one whose first packet has the lowest number beyond the last packet
		 * that was read.
		 */
		next = SIZE_MAX;
		for (size_t i = 0; i < t->n_files; i++) {
			const struct bsa_follow_file *file = &t->files[i];

			if (!file->known || file->fd < 0 || i == s->file || &f->streams[file->stream] != s ||
			    (s->any && file->first <= s->head.number))
				continue;
			if (next == SIZE_MAX || file->first < t->files[next].first)
				next = i;
		}
		if (next == SIZE_MAX)
			return;
		if (s->file != SIZE_MAX) { /* packets written since the last call */
			uint64_t was = t->files[s->file].end;

			if (!bsa_flow_broken(s->flow))
				grow_stream(f, s, &t->files[s->file]);
			if (t->files[s->file].end > was)
				continue;
			leave_file(t, s);
		}
		s->file = next;
		s->broken = false;
		bsa_flow_file(s->flow, t->files[next].fd);
		grow_stream(f, s, &t->files[next]);
	}
}

/* The next record of a stream into the merge; at the end of one file on to the next one. */
static void advance_stream(struct bsa_follow *f, struct bsa_follow_stream *s)
{
	advance_in_files(f, s);
	note_unreadable(f, s);
}

/*
 * Records of one time come in the order that an import has them in: traces by their directories' names, and
 * in each of them streams by what babeltrace2 calls them, which are their class and number.
 */
static uint64_t stream_rank_of(const struct bsa_follow *f, const struct bsa_follow_stream *s)
{
	uint64_t before = 1;

	for (size_t i = 0; i < f->n_traces; i++)
		before += strcmp(f->traces[i].path, f->traces[s->trace].path) < 0;
	return before << 40 | (s->class & 0xff) << 32 | (s->instance & 0xffffffff);
}

/* ---- until when nothing earlier can come ---- */

static void set_until(struct bsa_follow *f)
{
	uint64_t settled = f->now > f->settle_ns ? f->now - f->settle_ns : 0, until = BSA_NEVER;
	bool has_unknown = false;
	struct stat st;

	if (f->now == BSA_NEVER) {
		f->ordered.until = BSA_NEVER;
		return;
	}
	for (size_t i = 0; i < f->n_traces; i++) {
		struct bsa_follow_trace *t = &f->traces[i];
		bool unread = false;

		for (size_t k = 0; k < t->n_files; k++)
			unread |= t->files[k].fd >= 0 && !t->files[k].known && !fstat(t->files[k].fd, &st) &&
			          st.st_size > 0;
		if (!unread || recipe_of(t)) {
			t->waits_since = 0;
			continue;
		}
		if (!t->waits_since)
			t->waits_since = f->now;
		/* Packets of the trace cannot be read yet, so records of any time since the last look may follow. */
		if (f->now - t->waits_since < STALL_NS)
			return;
	}
	for (size_t i = 0; i < f->n_streams; i++) {
		const struct bsa_follow_stream *s = &f->streams[i];
		uint64_t seen = s->any && s->head.ended > settled ? s->head.ended : settled;

		if (s->stuck && f->now - s->stuck_since < STALL_NS)
			return;
		if (seen < until)
			until = seen;
	}

	/*
	 * A file without a packet may get one that begins before the others' last ones: LTTng makes those of
	 * all cpus at once.
	 */
	for (size_t i = 0; i < f->n_traces; i++)
		for (size_t k = 0; k < f->traces[i].n_files; k++)
			has_unknown |= f->traces[i].files[k].fd >= 0 && !f->traces[i].files[k].known;
	if (until > settled && (!f->n_streams || has_unknown))
		until = settled;
	if (until > f->ordered.until)
		f->ordered.until = until;
}

static int look_at_trace(struct bsa_follow *f, size_t trace, struct bsa_err *err)
{
	struct bsa_follow_trace *t = &f->traces[trace];
	int r = t->metadata_grown ? renew_recipe(f, t, err) : 0;
	size_t kept;

	if (r > 0)
		for (size_t i = 0; i < f->n_streams; i++)
			if (f->streams[i].trace == trace) {
				const struct bsa_recipe_stream *s =
					bsa_recipe_stream(recipe_of(t), f->streams[i].class);

				if (!s)
					continue;
				bsa_flow_recipe(f->streams[i].flow, recipe_of(t), s);
				f->streams[i].head.stream = s;
			}
	if (r < 0 || !recipe_of(t))
		return r < 0 ? r : 0;
	r = 0;
	for (size_t i = 0; r == 0 && i < t->n_files; i++) {
		struct bsa_follow_file *file = &t->files[i];
		struct bsa_packet_head head;
		const struct bsa_follow_stream *s;

		if (file->known || file->fd < 0 || header_at(t, file, 0, &head) <= 0)
			continue;
		s = stream_of(f, trace, &head, err);
		if (!s) {
			r = BSA_E_ENV;
			break;
		}
		file->known = true;
		file->stream = (size_t)(s - f->streams);
		file->first = head.number;
	}
	/* Files that are done with, and of which a later one has the name, are not needed. */
	kept = 0;
	for (size_t i = 0; i < t->n_files; i++) {
		bool again = false;

		for (size_t k = i + 1; k < t->n_files && !again; k++)
			again = !strcmp(t->files[k].name, t->files[i].name);
		if (again && t->files[i].fd < 0) { /* no stream is at it: leave_file */
			free(t->files[i].name);
			continue;
		}
		for (size_t k = 0; k < f->n_streams; k++)
			if (f->streams[k].trace == trace && f->streams[k].file == i && kept < i)
				f->streams[k].file = kept;
		t->files[kept++] = t->files[i];
	}
	t->n_files = kept;
	return r;
}

int bsa_follow_look(struct bsa_follow *f, uint64_t now, struct bsa_err *err)
{
	int r = 0;

	f->now = now;
	hear_changes(f);
	for (size_t i = 0; r == 0 && i < f->n_places; i++)
		r = see_place(f, i, err);
	for (size_t i = 0; r == 0 && i < f->n_traces; i++)
		r = look_at_trace(f, i, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < f->n_streams; i++) {
		struct bsa_follow_stream *s = &f->streams[i];
		struct bsa_follow_trace *t = &f->traces[s->trace];

		if (s->file != SIZE_MAX && t->files[s->file].fd >= 0 && !bsa_flow_broken(s->flow))
			grow_stream(f, s, &t->files[s->file]);
		if (s->queued)
			continue;
		advance_stream(f, s);
		if (s->queued)
			bsa_merge_add(&f->ordered.merge,
			              (struct bsa_head){ .at = s->at, .rank = stream_rank_of(f, s), .who = i });
	}
	set_until(f);
	return 0;
}

/* ---- records ---- */

/* A bsa_step: past the stream's next record, by way of f->record. */
static int step_stream(void *follow, struct bsa_head *head, const struct bsa_event **ret, struct bsa_err *err)
{
	struct bsa_follow *f = follow;
	struct bsa_follow_stream *s = &f->streams[head->who];

	(void)err;
	bsa_flow_write(s->flow, (struct bsa_event *)f->record);
	*ret = (const struct bsa_event *)f->record;
	s->queued = false;
	advance_stream(f, s);
	head->at = s->at;
	return s->queued;
}

int bsa_follow_next(struct bsa_follow *f, const struct bsa_event **ret, struct bsa_err *err)
{
	if (!bsa_ties_count(f->ordered.ties) && bsa_follow_next_unseen(f)) {
		*ret = (const struct bsa_event *)f->record;
		return 1;
	}
	return bsa_ordered_next(&f->ordered, step_stream, f, ret, err);
}

uint64_t bsa_follow_until(const struct bsa_follow *f)
{
	return f->ordered.until;
}

int bsa_follow_changes(const struct bsa_follow *f)
{
	return f->inotify;
}

uint64_t bsa_follow_settles(const struct bsa_follow *f)
{
	const struct bsa_merge *merge = &f->ordered.merge;

	return merge->n ? merge->heap[0].at + f->settle_ns : BSA_NEVER;
}

/* ---- all of it ---- */

int bsa_follow_open(struct bsa_follow **ret, const struct bsa_follow_options *options, struct bsa_err *err)
{
	struct bsa_follow *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return bsa_follow_no_memory(err);
	f->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	f->ordered.ties = bsa_ties_new();
	r = f->ordered.ties ? 0 : bsa_follow_no_memory(err);
	if (r == 0) {
		f->settle_ns = options->settle_ns;
		f->first_began = BSA_NEVER;
		f->source = bsa_ctf_class("fs", err);
		r = f->source ? 0 : BSA_E_ENV;
	}
	if (r == 0)
		r = add_place(f, options->directory, 0, err);
	if (r) {
		bsa_follow_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

struct bsa_follow *bsa_follow_free(struct bsa_follow *f)
{
	if (!f)
		return NULL;
	for (size_t i = 0; i < f->n_streams; i++) {
		bsa_flow_free(f->streams[i].flow);
		free(f->streams[i].covers);
	}
	for (size_t i = 0; i < f->n_traces; i++) {
		struct bsa_follow_trace *t = &f->traces[i];

		for (size_t k = 0; k < t->n_files; k++) {
			file_close(&t->files[k]);
			free(t->files[k].name);
		}
		for (size_t k = 0; k < t->n_recipes; k++)
			bsa_recipe_free(t->recipes[k]);
		bsa_input_fini(&t->input);
		free(t->recipes);
		free(t->files);
		free(t->counts);
		free(t->path);
	}
	for (size_t i = 0; i < f->n_places; i++)
		free(f->places[i].path);
	free(f->places);
	free(f->traces);
	free(f->streams);
	free(f->ordered.merge.heap);
	free(f->covers);
	free(f->heads);
	bsa_ties_free(f->ordered.ties);
	bsa_scratch_remove(&f->scratch);
	if (f->inotify >= 0)
		close(f->inotify);
	bt_component_class_source_put_ref(f->source);
	free(f);
	return NULL;
}

const struct bsa_trace *bsa_follow_trace(const struct bsa_follow *f, size_t i)
{
	return i < f->n_traces ? &f->traces[i].input.info : NULL;
}

struct bsa_decoded bsa_follow_decoded(const struct bsa_follow *f, size_t i)
{
	struct bsa_decoded sum = { .began = BSA_NEVER, .ended = BSA_NEVER };

	bsa_counts_add(&sum, f->traces[i].counts);
	return sum;
}

struct bsa_followed bsa_follow_followed(const struct bsa_follow *f)
{
	struct bsa_followed all = f->followed;
	struct stat st;

	all.late += f->ordered.late;
	all.late_ns = f->ordered.late_ns;
	all.streams = f->n_streams;
	for (size_t i = 0; i < f->n_traces; i++) {
		const struct bsa_follow_trace *t = &f->traces[i];

		for (size_t k = 0; !recipe_of(t) && k < t->n_files; k++)
			all.unread += t->files[k].fd >= 0 && !fstat(t->files[k].fd, &st) && st.st_size > 0;
	}
	for (size_t i = 0; i < f->n_streams; i++)
		all.unread += f->streams[i].stuck && bsa_follow_is_unreadable(f, &f->streams[i]);
	return all;
}
