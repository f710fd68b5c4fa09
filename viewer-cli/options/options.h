/*
 * options.h -- reads a command line by the tables of base/command.h.
 */
#ifndef BSV_OPTIONS_H
#define BSV_OPTIONS_H

#include "base/command.h"
#include "base/screen.h"

/*
 * @argv begins with the command's name; @ret borrows it and changes its order. @own has room for
 * the command's options. Returns 0, or BSA_E_USAGE with a sentence that names the nearest valid
 * word.
 */
int bsv_options_read(const struct bsv_command *command, int argc, char **argv, void *own, struct bsv_call *ret,
                     struct bsa_err *err);

/* May an answer of @command, which has its parts, have @part? */
bool bsv_options_has_part(const struct bsv_command *command, const char *part);

/*
 * Fill @err for @part, which is not among the @n names; the pointers to them are @stride bytes apart. The message
 * suggests the most similar name, or lists all. Returns BSA_E_USAGE.
 */
int bsv_options_no_part(const char *part, const char *const *names, size_t n, size_t stride, struct bsa_err *err);

/* Pass each option of @command to @take, in the order of its help. */
void bsv_options_each(const struct bsv_command *command, void (*take)(void *ctx, const struct bsv_option *o),
                      void *ctx);

/* The screen for help, which is for people: where the output has no width, that of a usual terminal. */
struct bsv_screen bsv_options_screen(void);

/* Print the help of @command, examples first. */
void bsv_options_help(const struct bsv_command *command);

#endif
