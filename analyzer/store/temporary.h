/* temporary.h -- SQLite's temporary files, of which a process that is killed must leave none. */
#ifndef BSA_STORE_TEMPORARY_H
#define BSA_STORE_TEMPORARY_H

/*
 * From now on, SQLite creates its temporary files in this process without names: the kernel removes each of
 * them with the process. Call this before a database is opened, from any thread, and as often as you like.
 */
void bsa_temporary_unnamed(void);

#endif
