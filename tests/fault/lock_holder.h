/* lock_holder.h -- an app of another user that holds the lock of its file, for long and again and again. */
#ifndef LOCK_HOLDER_H
#define LOCK_HOLDER_H

#include <stdint.h>
#include <sys/types.h>

#include "nnb/client.h"

/* This process, a child of the test, becomes @user (0: stays who it is), and ends with its parent. */
void become_user(uid_t user);

/*
 * Have the service map and unmap a file whose lock is held, for calls and for slots of a burst, without an end. @remote
 * is a vector_model of @n elements. @begins is called once the lock is being taken, @goes_on after each round; NULL:
 * none.
 */
void lock_hold(struct nnb_remote *remote, uint32_t n, void (*begins)(void), void (*goes_on)(void))
	__attribute__((noreturn));

#endif
