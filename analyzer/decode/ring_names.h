/*
 * ring_names.h -- what the names of directories, files and sessions show of a recording whose packets may have been
 * overwritten, or recorded into another directory: there, missing first packets of a stream are no proof of a loss.
 */
#ifndef BSA_DECODE_RING_NAMES_H
#define BSA_DECODE_RING_NAMES_H

#include <stdbool.h>

/* LTTng calls the directory of a snapshot NAME-YYYYMMDD-HHMMSS-N; that of a session has no N. */
bool bsa_is_of_snapshot(const char *path);

/* LTTng calls the directory of a rotation's packets YYYYMMDDTHHMMSS+ZONE-YYYYMMDDTHHMMSS+ZONE-N. */
bool bsa_is_of_rotation(const char *path);

/* Of a session with a tracefile size LTTng calls the files of a stream CHANNEL_CPU_N, of others CHANNEL_CPU. */
bool bsa_is_tracefile(const char *path);

/* burstscope watch and top record into rings, the directories of which have names of their own. */
bool bsa_is_ring_session(const char *session);

#endif
