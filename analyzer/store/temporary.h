/* temporary.h -- a VFS of SQLite whose temporary files a killed process does not leave behind. */
#ifndef BSA_STORE_TEMPORARY_H
#define BSA_STORE_TEMPORARY_H

/*
 * The name of the VFS, for each sqlite3_open_v2 of this library; NULL, which means the default VFS, if ours could
 * not be registered. Other connections of the process are not touched. From any thread. Borrowed: the library
 * has the name until it is unloaded. All connections that use the VFS are closed by then.
 */
const char *bsa_temporary_vfs(void);

#endif
