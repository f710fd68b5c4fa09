/*
 * registers.h -- whether a program that loads the provider of events is met by the session daemon.
 */
#ifndef BSV_REGISTERS_H
#define BSV_REGISTERS_H

#include "record/control.h"

/* 0: it is. BSA_E_ENV: not, and why not. A process of its own loads @provider for that. */
int bsv_registers(const struct bsv_lttng *lttng, const char *provider, struct bsa_err *err);

#endif
