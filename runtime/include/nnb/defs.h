/* defs.h -- definitions that every public header of the runtime needs: visibility and language linkage. */
#ifndef NNB_DEFS_H
#define NNB_DEFS_H

#define NNB_PUBLIC __attribute__((visibility("default")))

#ifdef __cplusplus
#define NNB_BEGIN_DECLS extern "C" {
#define NNB_END_DECLS }
#else
#define NNB_BEGIN_DECLS
#define NNB_END_DECLS
#endif

#endif
