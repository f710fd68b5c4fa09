/*
 * preparing.c SOCKET MODEL NAME PRIORITY DEADLINE_US N -- an app that only prepares: it prepares the model of
 * nnburst-load's zoo again and again, and never executes it, N times, or with 0 until its standard input
 * ends. PRIORITY is 0 to 2. A preparation that may be late has a deadline that is DEADLINE_US away; 0: none.
 * It prints how many were prepared, and how many of them were late, or refused for their deadline.
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base.h"
#include "nnb/client.h"
#include "unit/abort_unless.h"
#include "zoo.h"

static int is_over(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return poll(&in, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	struct nnb_client_config config = { .socket = argv[1], .name = argc == 7 ? argv[3] : NULL };
	struct nnb_reason why = { "" };
	struct nnb_client *client;
	struct nnb_model *model;
	unsigned n = 0, late = 0, refused = 0, most = 0;

	abort_unless(argc == 7);
	abort_unless(!load_zoo_new(&model, argv[2], 1));
	if (nnb_client_open(&client, &config, &why)) {
		fprintf(stderr, "preparing: %s\n", why.text);
		return 1;
	}
	most = (unsigned)atoi(argv[6]);
	for (; most ? n < most : !is_over(); n++) {
		uint64_t by = strtoull(argv[5], NULL, 10) * 1000;
		struct nnb_prepare how = { .preference = 1,
			                   .priority = (uint32_t)atoi(argv[4]),
			                   .deadline_ns = by ? now_ns() + by : 0 };
		struct nnb_remote *remote = NULL;
		enum nnb_status status = nnb_remote_prepare(client, model, &how, NULL, &remote, &why);

		if (status == NNB_STATUS_MISSED_DEADLINE_TRANSIENT || status == NNB_STATUS_MISSED_DEADLINE_PERSISTENT) {
			refused++;
		} else if (status) {
			fprintf(stderr, "preparing: %s: %s\n", nnb_status_name(status), why.text);
			return 1;
		} else {
			late += by && now_ns() > how.deadline_ns;
		}
		nnb_remote_release(remote);
	}
	nnb_client_close(client);
	nnb_model_free(model);
	printf("%u %u %u\n", n, late, refused);
	return 0;
}
