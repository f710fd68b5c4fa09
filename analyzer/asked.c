/* asked.c -- counts the instances of the service that was asked for, and leaves out the events of all others. */
#include "asked.h"

#include <string.h>

bool bsa_asked_event(struct bsa_asked *a, uint32_t service, const struct bsa_event *e)
{
	unsigned instance = service ? bsa_instance_of_event(e) : NO_INSTANCE;

	/*
	 * Instance 0 stands for numbers that no service handed out. A miss without an execution is identified
	 * by its model.
	 */
	if (!instance && e->kind == BSA_deadline_miss)
		instance = bsa_instance_of_number(BSA_OF(e, deadline_miss)->model);
	if (!instance || instance == NO_INSTANCE)
		return true;
	if (e->kind == BSA_service_state && BSA_OF(e, service_state)->pid == service)
		a->known = a->is_asked[instance] = true;
	if (!a->known || a->is_asked[instance]) {
		a->counted[instance] = true;
		return true;
	}
	a->left[instance] = true;
	a->submits += e->kind == BSA_exec_submit;
	a->sums += e->kind == BSA_exec_client;
	return false;
}

bool bsa_asked_again(const struct bsa_asked *a)
{
	for (unsigned i = 0; a->known && i < INSTANCES; i++)
		if (a->is_asked[i] ? a->left[i] : a->counted[i])
			return true;
	return false;
}

void bsa_asked_rewind(struct bsa_asked *a)
{
	memset(a->counted, 0, sizeof(a->counted));
	memset(a->left, 0, sizeof(a->left));
	a->submits = a->sums = 0;
}

uint64_t bsa_asked_left_out(const struct bsa_asked *a)
{
	return a->submits > a->sums ? a->submits : a->sums;
}
