/*
 * late_news.c -- preloaded into a service: LTTng activates a session in the process at once, but the news of it is held
 * back for 150 ms. So it happens by chance, if LTTng's thread has no cpu in between.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

static void session_started(void *data, void *session)
{
	const struct timespec held_back = { .tv_nsec = 150000000 };

	(void)data;
	(void)session;
	nanosleep(&held_back, NULL);
}

/*
 * LTTng calls the probes of an event in the order of their registration: this one comes before the provider's. The
 * function is not in LTTng's headers (tracepoints/provider/provider.c).
 */
__attribute__((constructor)) static void listen_first(void)
{
	void *library = dlopen("liblttng-ust-tracepoint.so.1", RTLD_NOW | RTLD_GLOBAL);
	int (*probe_register)(const char *, const char *, void (*)(void), void *, const char *) =
		library ? (int (*)(const char *, const char *, void (*)(void), void *, const char *))dlsym(
				  library, "lttng_ust_tp_probe_register_queue_release")
			: NULL;

	if (probe_register)
		probe_register("lttng_ust_statedump", "start", (void (*)(void))session_started, NULL,
		               "struct lttng_ust_session *, session");
}
