/*
 * metadata.h -- reads a few values of a trace's metadata without babeltrace2: those that group traces; and
 * whether its end is there (bsa/metadata.h), because babeltrace2 reads for ever if it ends within the header
 * of a packet.
 */
#ifndef BSA_DECODE_METADATA_H
#define BSA_DECODE_METADATA_H

#include "bsa/err.h"
#include "bsa/metadata.h"

#include <stdbool.h>
#include <stdint.h>

enum { BSA_UUID_TEXT = 37 };

/* 36 characters and a zero. */
void bsa_uuid_text(char ret[BSA_UUID_TEXT], const uint8_t uuid[16]);

/* The uuid of the trace in @directory: "" if it has none, or cannot be read. */
void bsa_metadata_uuid(char ret[BSA_UUID_TEXT], const char *directory);

/*
 * The metadata as text; each byte of it that is no text, as of headers of packets, is a space. Owned by the caller.
 * NULL: the metadata cannot be read.
 */
char *bsa_metadata_text(const char *directory);

/*
 * The text of the metadata, without packet headers; owned by the caller. NULL: the metadata cannot be read or
 * understood.
 */
char *bsa_metadata_tsdl(const char *directory);

/* The text in quotes behind NAME =, or "". Owned by the caller. NULL: no memory. */
char *bsa_metadata_value(const char *text, const char *name);

#endif
