/* header.h -- whose database a file is, by its first hundred bytes: before SQLite is asked. */
#ifndef BSA_STORE_HEADER_H
#define BSA_STORE_HEADER_H

#include "bsa/err.h"

enum header_is { HEADER_OURS, HEADER_EMPTY, HEADER_FOREIGN, HEADER_OLDER, HEADER_NEWER, HEADER_CUT, HEADER_UNREADABLE };

/* Of an open file. */
enum header_is header_look(int fd);

/* 0 where it is ours and whole; otherwise the sentence, and its code. */
int header_refuse(enum header_is is, const char *path, struct bsa_err *err);

#endif
