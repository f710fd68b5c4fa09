/* account.h -- the memory that a model costs its app: the reservation, or the driver's allocations, whichever is larger. */
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
	uint64_t beside;      /* bytes that are charged for other things of the model than the driver's */
	uint64_t reserved;    /* for the driver: charged whether or not it has them */
	uint64_t used;        /* by the driver */
	bool runs;            /* the model is prepared, so executions come and go */
};

/* Nothing is charged yet. */
void nnb__account_init(struct nnb__account *account, struct nnb__app *app);
/* The driver has given back all that it had. Gives back the rest. */
void nnb__account_fini(struct nnb__account *account);

/* The account as the driver sees it; its arg is @account. */
struct nnb_account nnb__account_for_driver(struct nnb__account *account);

/* From now on @beside and @reserved are charged instead of what was. As nnb__app_take; then nothing has changed. */
enum nnb_status nnb__account_settle(struct nnb__account *account, uint64_t beside, uint64_t reserved,
                                    struct nnb_reason *reason);

/* @more is reserved besides, until it is released. @ever: could it be had some time? What is refused otherwise is PERSISTENT. */
enum nnb_status nnb__account_reserve(struct nnb__account *account, uint64_t more, bool ever, struct nnb_reason *reason);
void nnb__account_release(struct nnb__account *account, uint64_t bytes);

/* The model has been prepared: what is charged for that. */
uint64_t nnb__account_prepared(struct nnb__account *account);

#endif
