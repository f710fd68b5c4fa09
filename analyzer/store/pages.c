/*
 * pages.c -- writes pages of SQLite's file format, for rows of integers that arrive in the order of
 * their ids.
 *
 * WHY. A prepared INSERT takes twelve times as long for a row (`./run bench pages`), and an import writes a
 * row for each execution.
 *
 * LAYOUT (fileformat2.html, at sqlite.org). A database is an array of pages of one size; pages have numbers
 * from 1. A table is a tree of pages; SQLite knows the number of its root, which stays where it is, so only
 * the content of the root is replaced. Integers in pages are big-endian. A varint has seven bits a byte, the
 * upper ones first, and all eight bits of a ninth byte.
 *
 *   leaf of a table    byte 13; two bytes 0; u16 number of cells; u16 where the first cell begins; byte 0;
 *                      u16 for each cell: where it begins. The cells fill the page from its end backwards.
 *   cell of a leaf     varint bytes of the record; varint id; the record
 *   record             varint bytes of its head; a byte for each column: its kind (0 NULL; 1 to 6: an integer of 1,
 *                      2, 3, 4, 6 or 8 bytes; 8 and 9: the integers 0 and 1, without bytes); the columns. The id's
 *                      column has the kind NULL. Columns that are missing at the end are NULL.
 *   inner page         byte 5; as a leaf; then u32 number of the last child; cells: u32 number of a child, varint
 *                      last id below it
 *   index              leaf byte 10, inner page byte 2; a cell's record is the entry; each entry is in one page only:
 *                      those between two leaves are in the inner page above
 *   page 1             bytes 24 to 27: change counter; 28 to 31: number of pages of the database; 92 to 95: the change
 *                      counter for which that number holds
 *   pending page       the page at byte 2^30, where SQLite keeps its locks: no tree may use it
 *
 * CONCURRENCY. One thread. No connection may have a lock on the database while pages are attached.
 * CRASH. The database is a file that no other process knows before it is renamed to its name: file.h.
 * TRUST. SQLite reads the pages as its own: test_store (integrity_check after each import),
 * store_other_sqlite (another version of SQLite).
 */
#include "store/pages.h"

#include "base/vector.h"
#include "store/batch.h"
#include "store/file.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pending page. Tests have it elsewhere, because it is a GiB away. */
#ifndef PENDING_BYTE
#define PENDING_BYTE 0x40000000
#endif
#define PENDING_PAGE ((uint32_t)(PENDING_BYTE / PAGE_BYTES + 1))

enum {
	LEAF = 13,
	LEAF_HEAD = 8,
	INNER = 5,
	INNER_HEAD = 12,
	POINTER = 2,
	COLUMNS_MAX = 100,
	ENTRY_MAX = 2 + 3 * 9 + 8, /* size of an entry of an index; put_column needs the last 8 bytes */
	CHANGES_AT = 24,           /* in the database's head: the change counter */
	PAGES_AT = 28,             /* how many pages there are */
	VALID_AT = 92,             /* the change counter again */
	WRITE_PAGES = 16,
	ENTRY_COLUMNS = 3,
	INDEX_LEAF = 10,
	INDEX_INNER = 2,
};

/*
 * A page of the level below, and its key: of a table the last id in the page, of an index the entry between
 * the page and the next one.
 */
struct child {
	int64_t key[ENTRY_COLUMNS];
	uint32_t page;
};

struct bsa_pages {
	const struct bsa_store_file *file;
	const char *error;
	unsigned columns;
	int fd; /* scratch file of the leaves */
	int64_t last;
	uint8_t (*leaves)[PAGE_BYTES]; /* WRITE_PAGES of them; the last is begun */
	unsigned n_full;
	unsigned cells, content; /* current leaf: the number of cells, and where the first of them begins */
	int64_t *lasts;          /* the last id of each complete leaf */
	size_t n_leaves, room;
};

static int pages_fail(struct bsa_pages *p, const char *why)
{
	p->error = why;
	return -1;
}

const char *bsa_pages_error(const struct bsa_pages *p)
{
	return p->error;
}

int64_t bsa_pages_last(const struct bsa_pages *p)
{
	return p->last;
}

struct bsa_pages *bsa_pages_new(const struct bsa_store_file *file, unsigned columns)
{
	struct bsa_pages *p = calloc(1, sizeof(*p));

	assert(columns <= COLUMNS_MAX);
	if (!p)
		return NULL;
	p->file = file;
	p->columns = columns;
	p->fd = -1;
	p->content = PAGE_BYTES;
	return p;
}

struct bsa_pages *bsa_pages_free(struct bsa_pages *p)
{
	if (!p)
		return NULL;
	if (p->fd >= 0)
		close(p->fd);
	free(p->leaves);
	free(p->lasts);
	free(p);
	return NULL;
}

/* ---- numbers ---- */

static void put_16(uint8_t *to, unsigned v)
{
	to[0] = (uint8_t)(v >> 8);
	to[1] = (uint8_t)v;
}

static void put_32(uint8_t *to, uint32_t v)
{
	put_16(to, v >> 16);
	put_16(to + 2, v & 0xffff);
}

static unsigned put_varint(uint8_t *to, uint64_t v)
{
	uint8_t room[9];
	unsigned n = 0;

	if (v < 0x80) {
		to[0] = (uint8_t)v;
		return 1;
	}
	if (v >> 56) {
		to[8] = (uint8_t)v;
		v >>= 8;
		for (int i = 7; i >= 0; i--, v >>= 7)
			to[i] = (uint8_t)(v | 0x80);
		return 9;
	}
	for (; v; v >>= 7)
		room[n++] = (uint8_t)(v | 0x80);
	room[0] &= 0x7f;
	for (unsigned i = 0; i < n; i++)
		to[i] = room[n - 1 - i];
	return n;
}

/* Write @v to @to; returns its kind, and its size in *ret_bytes. Always writes eight bytes. */
static uint8_t put_column(uint8_t *to, int64_t v, unsigned *ret_bytes)
{
	static const uint8_t kinds[9] = { 0, 1, 2, 3, 4, 5, 5, 6, 6 }, bytes[9] = { 0, 1, 2, 3, 4, 6, 6, 8, 8 };
	uint64_t size = (uint64_t)(v < 0 ? ~v : v), big;
	unsigned n;

	if (v == NOTHING || v == 0 || v == 1) {
		*ret_bytes = 0;
		return v == NOTHING ? 0 : v == 0 ? 8 : 9;
	}
	n = (64 - (unsigned)__builtin_clzll(size | 1)) / 8 + 1; /* a bit for the sign */
	big = __builtin_bswap64((uint64_t)v << (64 - 8 * bytes[n]));
	memcpy(to, &big, sizeof(big));
	*ret_bytes = bytes[n];
	return kinds[n];
}

/* Write a cell of an index without a child: the bytes of the record, and the record. Returns the size of the cell. */
static unsigned put_entry(uint8_t *to, const int64_t *entry, unsigned columns)
{
	unsigned bytes = 2 + columns, more;

	for (unsigned i = 0; i < columns; i++) {
		to[2 + i] = put_column(to + bytes, entry[i], &more);
		bytes += more;
	}
	to[0] = (uint8_t)(bytes - 1);
	to[1] = (uint8_t)(1 + columns);
	return bytes;
}

/* ---- leaves ---- */

static int write_all(struct bsa_pages *p, int fd, const void *from, size_t bytes, uint64_t at)
{
	return bsa_store_file_write(fd, from, bytes, at) ? pages_fail(p, strerror(errno)) : 0;
}

static int write_full(struct bsa_pages *p)
{
	uint64_t at = (p->n_leaves - p->n_full) * (uint64_t)PAGE_BYTES;

	if (!p->n_full)
		return 0;
	if (p->fd < 0)
		p->fd = bsa_store_file_scratch(p->file);
	if (p->fd < 0)
		return pages_fail(p, strerror(errno));
	if (write_all(p, p->fd, p->leaves, (size_t)p->n_full * PAGE_BYTES, at))
		return -1;
	p->n_full = 0;
	return 0;
}

/*
 * SQLite does not read the bytes between the pointers and the cells; they are set to 0, because they may be old
 * memory.
 */
static void put_page_head(uint8_t *page, uint8_t kind, unsigned head_bytes, unsigned cells, unsigned content)
{
	memset(page, 0, head_bytes);
	page[0] = kind;
	put_16(page + 3, cells);
	put_16(page + 5, content);
	memset(page + head_bytes + cells * POINTER, 0, content - head_bytes - cells * POINTER);
}

static int end_leaf(struct bsa_pages *p)
{
	if (!BSA_RESERVE(p->lasts, p->room, p->n_leaves + 1, 256))
		return pages_fail(p, strerror(ENOMEM));
	put_page_head(p->leaves[p->n_full], LEAF, LEAF_HEAD, p->cells, p->content);
	p->lasts[p->n_leaves++] = p->last;
	p->n_full++;
	p->cells = 0;
	p->content = PAGE_BYTES;
	return p->n_full == WRITE_PAGES ? write_full(p) : 0;
}

int bsa_pages_row(struct bsa_pages *p, const int64_t *row)
{
	uint8_t body[COLUMNS_MAX * 8 + 8], kinds[COLUMNS_MAX], cell[2 + 9 + 1], *page;
	unsigned bytes = 0, n, payload, all, columns = p->columns;

	assert(row[0] > p->last);
	if (p->error) /* after an error no leaf is written, and the leaves may be full */
		return -1;
	if (!p->leaves)
		p->leaves = malloc(sizeof(*p->leaves) * WRITE_PAGES); /* most tables have no rows */
	if (!p->leaves)
		return pages_fail(p, strerror(ENOMEM));
	while (columns > 1 && row[columns - 1] == NOTHING)
		columns--;
	kinds[0] = 0; /* the id is the cell's */
	for (unsigned i = 1; i < columns; i++) {
		unsigned more;

		kinds[i] = put_column(body + bytes, row[i], &more);
		bytes += more;
	}
	payload = 1 + columns + bytes;
	n = put_varint(cell, payload);
	n += put_varint(cell + n, (uint64_t)row[0]);
	cell[n++] = (uint8_t)(1 + columns);
	all = n + columns + bytes;
	if (LEAF_HEAD + (p->cells + 1) * POINTER + all > p->content && end_leaf(p))
		return -1;
	assert(LEAF_HEAD + (p->cells + 1) * POINTER + all <= p->content); /* the largest row fits into an empty page */
	p->content -= all;
	page = p->leaves[p->n_full];
	put_16(page + LEAF_HEAD + p->cells++ * POINTER, p->content);
	memcpy(page + p->content, cell, n);
	memcpy(page + p->content + n, kinds, columns);
	memcpy(page + p->content + n + columns, body, bytes);
	p->last = row[0];
	return 0;
}

/* ---- the tree ---- */

static uint32_t page_after(uint32_t page)
{
	return page + 1 == PENDING_PAGE ? page + 2 : page + 1;
}

static uint32_t page_at(uint64_t first, uint64_t i)
{
	uint64_t page = first + i;

	return (uint32_t)(first < PENDING_PAGE && page >= PENDING_PAGE ? page + 1 : page);
}

static uint64_t page_offset(uint32_t page)
{
	return (uint64_t)(page - 1) * PAGE_BYTES;
}

/* Copy from file to file, inside the kernel where the file systems support it. */
static int copy_bytes(struct bsa_pages *p, uint64_t from, int to_fd, uint64_t to, uint64_t bytes)
{
	while (bytes) {
		loff_t in = (loff_t)from, out = (loff_t)to;
		ssize_t n = copy_file_range(p->fd, &in, to_fd, &out, bytes, 0);

		if (n < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
			return pages_fail(p, strerror(errno));
		if (n <= 0) { /* by hand; what is begun has been written */
			n = pread(p->fd, p->leaves, bytes < PAGE_BYTES * WRITE_PAGES ? bytes : PAGE_BYTES * WRITE_PAGES,
			          (off_t)from);
			if (n <= 0)
				return pages_fail(p, strerror(n ? errno : EIO));
			if (write_all(p, to_fd, p->leaves, (size_t)n, to))
				return -1;
		}
		from += (uint64_t)n;
		to += (uint64_t)n;
		bytes -= (uint64_t)n;
	}
	return 0;
}

/*
 * Fill an inner page of an index of @columns, or (0) of a table, with as many of @children as fit. Returns
 * their number.
 */
static size_t fill_inner(uint8_t page[PAGE_BYTES], const struct child *children, size_t n, unsigned columns)
{
	unsigned content = PAGE_BYTES, cells = 0;
	size_t i;

	for (i = 0; i + 1 < n; i++) {
		uint8_t cell[4 + ENTRY_MAX];
		unsigned bytes;

		put_32(cell, children[i].page);
		bytes = 4 + (columns ? put_entry(cell + 4, children[i].key, columns)
		                     : put_varint(cell + 4, (uint64_t)children[i].key[0]));
		if (INNER_HEAD + (cells + 1) * POINTER + bytes > content)
			break;
		content -= bytes;
		memcpy(page + content, cell, bytes);
		put_16(page + INNER_HEAD + cells++ * POINTER, content);
	}
	put_page_head(page, columns ? INDEX_INNER : INNER, INNER_HEAD, cells, content);
	put_32(page + 8, children[i].page);
	return i + 1;
}

/*
 * Write levels of inner pages until one page, @root, has all children. An inner page needs two children at
 * least: if one child would remain for the last page of a level, the page before it leaves it another.
 */
static int write_inner(struct bsa_pages *p, int fd, uint32_t root, struct child *children, size_t n, unsigned columns,
                       uint32_t *next)
{
	uint8_t page[PAGE_BYTES];

	for (;;) {
		size_t parents = 0;

		for (size_t from = 0, took; from < n; from += took) {
			uint32_t at = *next;

			took = fill_inner(page, children + from, n - from, columns);
			if (took == n)
				return write_all(p, fd, page, sizeof(page), page_offset(root));
			if (n - from - took == 1)
				took = fill_inner(page, children + from, took - 1, columns);
			if (write_all(p, fd, page, sizeof(page), page_offset(at)))
				return -1;
			children[parents] = children[from + took - 1];
			children[parents++].page = at;
			*next = page_after(at);
		}
		n = parents;
	}
}

static int get_number(struct bsa_pages *p, int fd, off_t at, uint32_t *ret)
{
	uint8_t h[4];

	if (pread(fd, h, sizeof(h), at) != sizeof(h))
		return pages_fail(p, strerror(EIO));
	*ret = (uint32_t)h[0] << 24 | (uint32_t)h[1] << 16 | (uint32_t)h[2] << 8 | h[3];
	return 0;
}

static int put_number(struct bsa_pages *p, int fd, uint64_t at, uint32_t v)
{
	uint8_t h[4];

	put_32(h, v);
	return write_all(p, fd, h, sizeof(h), at);
}

static int get_pages(struct bsa_pages *p, int fd, uint32_t *ret_next)
{
	uint32_t pages;

	if (get_number(p, fd, PAGES_AT, &pages))
		return -1;
	*ret_next = page_after(pages);
	return 0;
}

static int put_pages(struct bsa_pages *p, int fd, uint32_t next)
{
	return put_number(p, fd, PAGES_AT, next == PENDING_PAGE + 1 ? PENDING_PAGE - 1 : next - 1);
}

int bsa_pages_changed(struct bsa_pages *p, int fd)
{
	uint32_t changes;

	if (get_number(p, fd, CHANGES_AT, &changes))
		return -1;
	return put_number(p, fd, CHANGES_AT, changes + 1) || put_number(p, fd, VALID_AT, changes + 1) ? -1 : 0;
}

int bsa_pages_attach(struct bsa_pages *p, int fd, uint32_t root)
{
	uint64_t before; /* number of leaves before the pending page */
	uint32_t first, next;
	struct child *children;
	int r;

	if ((p->cells && end_leaf(p)) || get_pages(p, fd, &first))
		return -1;
	if (p->n_leaves == 0)
		return 0;
	if (p->n_leaves == 1)
		return write_all(p, fd, p->leaves[0], PAGE_BYTES, page_offset(root));
	children = malloc(p->n_leaves * sizeof(*children));
	if (!children)
		return pages_fail(p, strerror(ENOMEM));
	for (size_t i = 0; i < p->n_leaves; i++)
		children[i] = (struct child){ { p->lasts[i] }, page_at(first, i) };
	next = page_after(children[p->n_leaves - 1].page);
	before = p->n_leaves;
	if (first < PENDING_PAGE && first + p->n_leaves > PENDING_PAGE)
		before = PENDING_PAGE - first;
	r = write_full(p) || copy_bytes(p, 0, fd, page_offset(first), before * PAGE_BYTES) ||
	    copy_bytes(p, before * PAGE_BYTES, fd, page_offset(page_at(first, before)),
	               (p->n_leaves - before) * PAGE_BYTES) ||
	    write_inner(p, fd, root, children, p->n_leaves, 0, &next) || put_pages(p, fd, next);
	free(children);
	return r ? -1 : 0;
}

/* ---- indices ---- */

/* An index that is written. A tree of one leaf has that leaf as its root. */
struct tree {
	struct bsa_pages *p;
	int fd;
	unsigned columns, cells, content;
	uint32_t next;
	struct child *children; /* the last one is begun */
	size_t n, room;
	uint8_t page[PAGE_BYTES];
};

static int add_child(struct tree *t)
{
	if (!BSA_RESERVE(t->children, t->room, t->n + 1, 64))
		return pages_fail(t->p, strerror(ENOMEM));
	t->children[t->n++].page = t->next;
	t->cells = 0;
	t->content = PAGE_BYTES;
	return 0;
}

static int end_index_leaf(struct tree *t, uint32_t at)
{
	put_page_head(t->page, INDEX_LEAF, LEAF_HEAD, t->cells, t->content);
	return write_all(t->p, t->fd, t->page, PAGE_BYTES, page_offset(at));
}

/*
 * Put the next entry into the leaf or, where the leaf is full, between that leaf and a new one. A new leaf
 * needs an entry of its own, so the @last entry always goes into a leaf.
 */
static int add_entry(struct tree *t, const int64_t *entry, bool last)
{
	uint8_t cell[ENTRY_MAX];
	unsigned bytes = put_entry(cell, entry, t->columns);

	if (LEAF_HEAD + (t->cells + (last ? 1 : 2)) * POINTER + bytes + (last ? 0 : ENTRY_MAX) > t->content) {
		struct child *full = &t->children[t->n - 1];

		memcpy(full->key, entry, sizeof(full->key));
		if (end_index_leaf(t, full->page))
			return -1;
		t->next = page_after(t->next);
		return add_child(t);
	}
	assert(LEAF_HEAD + (t->cells + 1) * POINTER + bytes <= t->content);
	t->content -= bytes;
	memcpy(t->page + t->content, cell, bytes);
	put_16(t->page + LEAF_HEAD + t->cells++ * POINTER, t->content);
	return 0;
}

static void free_tree(struct tree **t)
{
	if (*t)
		free((*t)->children);
	free(*t);
}

int bsa_pages_index(struct bsa_pages *p, int fd, uint32_t root, unsigned columns, size_t n,
                    int (*next)(void *ctx, int64_t *entry), void *ctx)
{
	__attribute__((cleanup(free_tree))) struct tree *t = calloc(1, sizeof(*t));

	assert(columns <= ENTRY_COLUMNS);
	if (!t)
		return pages_fail(p, strerror(ENOMEM));
	t->p = p;
	t->fd = fd;
	t->columns = columns;
	if (get_pages(p, fd, &t->next) || add_child(t))
		return -1;
	for (size_t i = 0; i < n; i++) {
		int64_t entry[ENTRY_COLUMNS] = { 0 };

		if (next(ctx, entry))
			return pages_fail(p, strerror(errno));
		if (add_entry(t, entry, i + 1 == n))
			return -1;
	}
	if (t->n == 1)
		return end_index_leaf(t, root);
	if (end_index_leaf(t, t->next))
		return -1;
	t->next = page_after(t->next);
	return write_inner(p, fd, root, t->children, t->n, columns, &t->next) || put_pages(p, fd, t->next) ? -1 : 0;
}
