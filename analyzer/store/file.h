/*
 * file.h -- the file that becomes the output: made beside it, renamed when it is whole.
 *
 * CRASH. The output is only ever replaced by rename. What is made is called .NAME.PID-RANDOM.burstscope, is
 * locked (flock) as long as its owner lives, and is removed by the next import into NAME that finds its owner
 * dead.
 */
#ifndef BSA_STORE_FILE_H
#define BSA_STORE_FILE_H

#include "bsa/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bsa_store_file {
	char *output, *directory, *name; /* output: links followed; name: the last part of it */
	char *path;                      /* path of the new file */
	/* descriptors of the new file, its directory, and (append) the existing file, locked; -1: not open */
	int fd, directory_fd, old_fd;
};

/* Make it, empty, or (@append) a copy of what is there. 0, or negative; fini in either case. */
int bsa_store_file_init(struct bsa_store_file *f, const char *output, bool append, struct bsa_err *err);

/* Make the empty file the database that an import begins with (blank.h). 0, or negative. */
int bsa_store_file_blank(struct bsa_store_file *f, struct bsa_err *err);

/* Rename the new file to the output, and make that durable. */
int bsa_store_file_publish(struct bsa_store_file *f, struct bsa_err *err);

/* Remove the new file if it was not published. */
void bsa_store_file_fini(struct bsa_store_file *f);

/* Remove the files that dead importers of @output have left. */
void bsa_store_file_clean(const char *output);

/*
 * Write @bytes at @at of the file @fd, with as many calls as that takes. 0, or -1: errno has the error, and a
 * part may be written.
 */
int bsa_store_file_write(int fd, const void *from, size_t bytes, uint64_t at);

/* Open a file without a name in the same directory. -1: errno has the error. */
int bsa_store_file_scratch(const struct bsa_store_file *f);

#endif
