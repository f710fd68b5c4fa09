/*
 * dispatch.h -- how long an urgent execution waits for a lane that a long one has, under several rules; and how long it
 * takes by hand: a network that looks at a flag between two operations, and wakes a sleeper.
 *
 * The long ones, MobileNets of low priority one after the other, or models of one operation, keep one cpu busy: their
 * app's thread and the service's take turns on it. The urgent ones, a few numbers each, have the other cpu, on which
 * no other thread does anything.
 */
#ifndef DISPATCH_H
#define DISPATCH_H

#include "bench.h"

struct dispatch;

struct dispatch *dispatch_open(struct bench *b, const char *service); /* with its rows; owned by the caller */
void dispatch_round(struct bench *b, struct dispatch *d);
void dispatch_judge(struct bench *b, const struct dispatch *d);
void dispatch_close(struct dispatch *d);

#endif
