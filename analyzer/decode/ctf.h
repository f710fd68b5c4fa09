/* ctf.h -- the component classes of babeltrace2's plugin ctf, which read traces. */
#ifndef BSA_DECODE_CTF_H
#define BSA_DECODE_CTF_H

#include "bsa/err.h"

#include <babeltrace2/babeltrace.h>

/*
 * Find the class source.ctf.@name: "fs" reads directories, "lttng-live" reads relay daemons. Returns a
 * reference, owned by the caller; NULL: the class was not found, which is a BSA_E_ENV, and *err has the reason.
 */
const bt_component_class_source *bsa_ctf_class(const char *name, struct bsa_err *err);

#endif
