/* beside.h -- where the files are that this library loads: in nnburst/, beside itself. */
#ifndef NNB_BASE_BESIDE_H
#define NNB_BASE_BESIDE_H

enum { NNB__PATH_BYTES = 4096 };

/* The path of @name there, whether or not there is such a file: in a build tree and installed. 0 or -errno. */
int nnb__path_beside(const char *name, char ret[NNB__PATH_BYTES]);

#endif
