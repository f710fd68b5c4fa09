/* lock_holder.h -- an app of another user that holds the lock of its file, for long and again and again. */
#ifndef LOCK_HOLDER_H
#define LOCK_HOLDER_H

#include <stdint.h>
#include <sys/types.h>

#include "nnb/client.h"

enum { LOCK_HOLDERS = 2 }; /* processes that one of these forks */

/* This process, a child of the test, becomes @user (0: stays who it is), and ends with its parent. */
void become_user(uid_t user);

/*
 * Have the service map and unmap a file whose lock is held, for calls and for slots of a burst, without an end. @remote
 * is a vector_model of @n elements. @begins is called once all mappings are there that make the lock be held for
 * long, @goes_on after each round; NULL: none.
 */
void lock_hold(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
	__attribute__((noreturn));

/* The same, but @begins is called while the mappings are being made. */
void lock_hold_soon(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
	__attribute__((noreturn));

/* The same with a file that is mapped very often, unmapped, and so on: what it takes to hold the lock. */
void lock_prepare(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
	__attribute__((noreturn));

#endif
