/*
 * account.c -- charges the memory of a model to its app.
 *
 * The service reserves the memory that a model is likely to need before the driver needs it: with the model, and for
 * each burst and each execution under way. It also counts the driver's real allocations. The app is charged for the
 * larger of the two. So an allocation within a reservation costs nothing more, and memory that the driver keeps after
 * a reservation has ended stays charged until the driver frees it. For each model, SMALL_CHANGE of the driver's
 * memory is free of charge, because lists and structs that depend on earlier runs would make an exact limit
 * unpredictable; the number of an app's models is limited.
 *
 * CONCURRENCY  An account's lock orders its changes, and is held while the app's budget is charged. Any thread.
 */
#include "service/account.h"

#include <assert.h>

#include "base/lock.h"
#include "base/saturating.h"
#include "service/service.h"

enum { SMALL_CHANGE = 64 << 10 };

void nnb__account_init(struct nnb__account *a, struct nnb__app *app)
{
	*a = (struct nnb__account){ .app = app };
	pthread_mutex_init(&a->lock, NULL);
}

/* The lock is held. */
static uint64_t charged_bytes(const struct nnb__account *a)
{
	uint64_t used = a->used > SMALL_CHANGE ? a->used - SMALL_CHANGE : 0;

	return nnb__saturating_sum(a->beside, used > a->reserved ? used : a->reserved);
}

/* Set the account to these values, if the app may have the difference. The lock is held. */
static enum nnb_status account_change(struct nnb__account *a, uint64_t beside, uint64_t reserved, uint64_t used,
                                      bool ever, struct nnb_reason *reason)
{
	struct nnb__account is = { .beside = beside, .reserved = reserved, .used = used };
	uint64_t before = charged_bytes(a), after = charged_bytes(&is);
	enum nnb_status status = NNB_STATUS_NONE;

	assert(nnb__is_locked(&a->lock));
	if (after > before)
		status = nnb__app_take_if(a->app, NNB__BYTES, after - before, ever, reason);
	else if (after < before)
		nnb__app_give(a->app, NNB__BYTES, before - after);
	if (status)
		return status;
	a->beside = beside;
	a->reserved = reserved;
	a->used = used;
	assert(charged_bytes(a) == after);
	return NNB_STATUS_NONE;
}

void nnb__account_fini(struct nnb__account *a)
{
	assert(!a->used); /* the driver has released the model */
	pthread_mutex_lock(&a->lock);
	account_change(a, 0, 0, 0, true, NULL);
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_destroy(&a->lock);
}

/* ---- the driver's ---- */

static enum nnb_status driver_charge(void *arg, uint64_t bytes)
{
	struct nnb__account *a = arg;
	enum nnb_status status;
	uint64_t least;

	pthread_mutex_lock(&a->lock);
	/* once the model is prepared, other executions may free what they use, so only @bytes must fit one day */
	least = nnb__saturating_sum(a->beside, nnb__saturating_sum(a->runs ? 0 : a->used, bytes));
	status = account_change(a, a->beside, a->reserved, nnb__saturating_sum(a->used, bytes),
	                        nnb__could_have(a->app->service, NNB__BYTES, least), NULL);
	pthread_mutex_unlock(&a->lock);
	return status;
}

static void driver_give_back(void *arg, uint64_t bytes)
{
	struct nnb__account *a = arg;

	pthread_mutex_lock(&a->lock);
	assert(bytes <= a->used);
	account_change(a, a->beside, a->reserved, a->used - bytes, true, NULL);
	pthread_mutex_unlock(&a->lock);
}

struct nnb_account nnb__account_for_driver(struct nnb__account *a)
{
	return (struct nnb_account){ .charge = driver_charge, .give_back = driver_give_back, .arg = a };
}

/* ---- the service's ---- */

enum nnb_status nnb__account_settle(struct nnb__account *a, uint64_t beside, uint64_t reserved,
                                    struct nnb_reason *reason)
{
	enum nnb_status status;

	pthread_mutex_lock(&a->lock);
	status = account_change(a, beside, reserved, a->used,
	                        nnb__could_have(a->app->service, NNB__BYTES, nnb__saturating_sum(beside, reserved)),
	                        reason);
	pthread_mutex_unlock(&a->lock);
	return status;
}

enum nnb_status nnb__account_reserve(struct nnb__account *a, uint64_t more, bool ever, struct nnb_reason *reason)
{
	enum nnb_status status;

	pthread_mutex_lock(&a->lock);
	status = account_change(a, a->beside, nnb__saturating_sum(a->reserved, more), a->used, ever, reason);
	pthread_mutex_unlock(&a->lock);
	return status;
}

void nnb__account_release(struct nnb__account *a, uint64_t bytes)
{
	pthread_mutex_lock(&a->lock);
	assert(bytes <= a->reserved);
	account_change(a, a->beside, a->reserved - bytes, a->used, true, NULL);
	pthread_mutex_unlock(&a->lock);
}

uint64_t nnb__account_prepared(struct nnb__account *a)
{
	uint64_t bytes;

	pthread_mutex_lock(&a->lock);
	assert(!a->runs);
	a->runs = true;
	bytes = charged_bytes(a);
	pthread_mutex_unlock(&a->lock);
	return bytes;
}
