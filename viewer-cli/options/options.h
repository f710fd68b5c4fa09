/*
 * options.h -- a command line, read by the tables of command.h.
 */
#ifndef BSV_OPTIONS_H
#define BSV_OPTIONS_H

#include "command.h"

/*
 * @argv begins with the command's name; it is borrowed by @ret, and put into another order. @own has room for the
 * command's options. 0, or BSA_E_USAGE and a sentence that names the nearest thing there is.
 */
int bsv_options_read(const struct bsv_command *command, int argc, char **argv, void *own, struct bsv_call *ret,
                     struct bsa_err *err);

/* @tell each option that @command has, in the order of its help. */
void bsv_options_each(const struct bsv_command *command, void (*tell)(void *ctx, const struct bsv_option *o),
                      void *ctx);

/* How @command is used, examples first. */
void bsv_options_help(const struct bsv_command *command);

#endif
