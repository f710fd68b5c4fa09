/* url.h -- the URL of a session at a relay daemon of LTTng, as a user writes it. */
#ifndef BSV_LIVE_URL_H
#define BSV_LIVE_URL_H

#include "bsa/err.h"

#include <stdbool.h>

#define BSV_OPTION_URL(of)                                                                                      \
	{                                                                                                       \
		.name = "url", .kind = BSV_TEXT, .argument = "URL",                                             \
		.says = "read a live session of another host at a relay daemon: net://RELAY/host/HOST/SESSION", \
		.offset = offsetof(of, url)                                                                     \
	}

/*
 * 0: @url is NULL, net://RELAY[:PORT] or net://RELAY[:PORT]/host/HOST/SESSION. BSA_E_USAGE; also if
 * @url is given and @beside, which means that a session, what a session is made with, or a socket
 * or process of this host is given, too.
 */
int bsv_live_options_check(const char *url, bool beside, struct bsa_err *err);

#endif
