/* url.c -- checks the options of a command for a session at a relay daemon. */
#include "live/url.h"

#include <string.h>

#include "importer/figures.h"

enum { URL_MOST = 512 };

/* HOST/SESSION, of which neither is empty. */
static bool is_session(const char *path)
{
	size_t host = strcspn(path, "/"), name = host && path[host] ? strcspn(path + host + 1, "/") : 0;

	return name && !path[host + 1 + name];
}

int bsv_live_options_check(const char *url, bool beside, struct bsa_err *err)
{
	static const char before[] = "/host/";
	size_t scheme = strlen(BSV_URL), relay = 0;
	bool right;

	if (!url)
		return 0;
	if (beside)
		return bsa_fail(
			err, BSA_E_USAGE,
			"--url: the session runs on another host; leave out SESSION, --detail, --buffer, --ring, "
			"--service and --pid");
	right = !strncmp(url, BSV_URL, scheme) && strlen(url) < URL_MOST && !strpbrk(url, "\n\r ");
	if (right) {
		relay = strcspn(url + scheme, "/");
		url += scheme + relay;
		right = relay && (!*url || !strcmp(url, "/") ||
		                  (!strncmp(url, before, strlen(before)) && is_session(url + strlen(before))));
	}
	return right ? 0
	             : bsa_fail(err, BSA_E_USAGE,
	                        "--url: write net://RELAY or net://RELAY/host/HOST/SESSION, where RELAY is a host with "
	                        "lttng-relayd");
}
