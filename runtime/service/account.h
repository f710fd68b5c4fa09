/*
 * account.h -- the memory that a model costs its app: the reservation, or the driver's allocations, whichever is
 * larger.
 */
#ifndef NNB_SERVICE_ACCOUNT_H
#define NNB_SERVICE_ACCOUNT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "nnb/driver.h"

struct nnb__app;

struct nnb__account {
	struct nnb__app *app;
	pthread_mutex_t lock; /* guards the following fields. Taken before the service's lock */
	uint64_t beside;      /* bytes charged for the model outside the driver */
	uint64_t reserved;    /* bytes reserved for the driver, charged whether it uses them or not */
	uint64_t used;        /* bytes allocated by the driver */
	bool runs;            /* the model is prepared: executions begin and end */
};

/* Begin an account that charges nothing. */
void nnb__account_init(struct nnb__account *account, struct nnb__app *app);
/* End an account. The driver must have given back all; this gives back the rest. */
void nnb__account_fini(struct nnb__account *account);

/* The account as the driver sees it; its arg is @account. */
struct nnb_account nnb__account_for_driver(struct nnb__account *account);

/* Charge @beside and @reserved instead of the former values. As nnb__app_take; after a refusal nothing has changed. */
enum nnb_status nnb__account_settle(struct nnb__account *account, uint64_t beside, uint64_t reserved,
                                    struct nnb_reason *reason);

/*
 * Reserve @more bytes, until they are released. @ever: whether the app could have them some time; if not, a refusal
 * is PERSISTENT.
 */
enum nnb_status nnb__account_reserve(struct nnb__account *account, uint64_t more, bool ever, struct nnb_reason *reason);
void nnb__account_release(struct nnb__account *account, uint64_t bytes);

/* Call once, when the model has been prepared. Returns the bytes charged for it. */
uint64_t nnb__account_prepared(struct nnb__account *account);

#endif
