/* importer.c -- burstscope-importer: only burstscope starts this program, to read traces (shared.h). */
#include "importer/figures.h"
#include "input/shared.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARG_VERSION = 1, ARG_FD, ARG_FLAGS, ARG_THREADS, ARG_SERVICE, ARG_OUTPUT, ARG_TRACES };

static volatile sig_atomic_t interrupted;

static void on_stop(int signal)
{
	(void)signal;
	interrupted = 1;
	bsa_import_stop();
}

static void report_progress(void *ctx, const struct bsa_import_progress *p)
{
	struct bsv_shared *s = ctx;

	if (interrupted) /* the signal may have arrived before the import began */
		bsa_import_stop();
	atomic_store_explicit(&s->bytes, p->bytes, memory_order_relaxed);
	atomic_store_explicit(&s->all_bytes, p->all_bytes, memory_order_relaxed);
	atomic_store_explicit(&s->events, p->events, memory_order_relaxed);
	atomic_store_explicit(&s->finishing, p->finishing, memory_order_relaxed);
}

int main(int argc, char **argv)
{
	struct bsa_import_options options = { 0 };
	struct bsv_shared *s = NULL;
	uint32_t service_uid;
	struct stat st;
	sigset_t stop;

	if (argc > 1 && !strcmp(argv[1], BSV_FOLLOW))
		return bsv_follow(argc, argv);

	/* Map the memory that burstscope passed, if the descriptor is such memory. */
	if (argc > ARG_TRACES && !strcmp(argv[ARG_VERSION], BURSTSCOPE_VERSION)) {
		int fd = atoi(argv[ARG_FD]);

		if (fd > STDERR_FILENO && !fstat(fd, &st) && (size_t)st.st_size == sizeof(*s))
			s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	if (!s || s == MAP_FAILED) {
		fputs(BSV_IMPORTER ": burstscope starts this to read traces; see burstscope import --help\n", stderr);
		return BSV_IMPORTER_STRANGE;
	}

	/* Handle SIGUSR1, and unblock it: the parent blocked it until now. */
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = on_stop, .sa_flags = SA_RESTART }, NULL);
	sigemptyset(&stop);
	sigaddset(&stop, SIGUSR1);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);

	options.append = strchr(argv[ARG_FLAGS], BSV_FLAG_APPEND) != NULL;
	options.keep_operations = strchr(argv[ARG_FLAGS], BSV_FLAG_KEEP) != NULL;
	options.threads = (unsigned)strtoul(argv[ARG_THREADS], NULL, 10);
	service_uid = (uint32_t)strtoul(argv[ARG_SERVICE], NULL, 10);
	options.service_uid = strcmp(argv[ARG_SERVICE], "-") ? &service_uid : NULL;
	options.output = argv[ARG_OUTPUT];
	options.traces = (const char *const *)argv + ARG_TRACES;
	options.n_traces = (size_t)(argc - ARG_TRACES);
	options.progress = report_progress;
	options.progress_ctx = s;
	/* The signal may have arrived before the import began. */
	s->code =
		interrupted ? bsa_fail(&s->err, BSA_E_STOPPED, "stopped") : bsa_import(&options, &s->imported, &s->err);
	s->said = 1;
	_exit(0);
}
