/*
 * hostile_importer.c -- stands for burstscope-importer after the trace that it reads has taken it over.
 * $HOSTILE names its attack on the memory that it shares with burstscope.
 */
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/shared.h"

enum { ARG_FD = 2 };

static struct bsv_shared *s;
static int fd;

static _Noreturn void say(int code, const char *text)
{
	memset(s->err.text, 0, sizeof(s->err.text));
	memcpy(s->err.text, text, strlen(text));
	s->code = code;
	s->said = 1;
	_exit(0);
}

static _Noreturn void never_ends_its_text(void)
{
	memset(s->err.text, 'A', sizeof(s->err.text));
	memset(s->err.text + 20, '\n', 20);
	s->code = BSA_E_INPUT;
	s->said = 1;
	_exit(0);
}

/* It cuts the memory while burstscope reads its progress there: a second access would kill burstscope. */
static _Noreturn void cuts_the_memory(void)
{
	if (!ftruncate(fd, 0))
		usleep(300000);
	say(BSA_E_INPUT, "it was cut");
}

/* The child that is left behind goes on writing, with all descriptors open. */
static _Noreturn void leaves_a_child_behind(void)
{
	if (!fork()) {
		for (int i = 0; i < 100000000; i++) {
			s->code = i;
			s->said = i & 1;
			memset(s->err.text, i, sizeof(s->err.text));
		}
		sleep(60);
		_exit(0);
	}
	usleep(1000);
	_exit(0);
}

static _Noreturn void says_values_that_are_none(void)
{
	memset(s, 0xa5, sizeof(*s));
	usleep(200000);
	_exit(0);
}

static _Noreturn void says_it_and_crashes(void)
{
	s->code = 0;
	s->said = 1;
	signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn the signal into an exit */
	raise(SIGSEGV);
	_exit(0);
}

int main(int argc, char **argv)
{
	const char *how = getenv("HOSTILE");

	fd = argc > ARG_FD ? atoi(argv[ARG_FD]) : -1;
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (!how || s == MAP_FAILED)
		return BSV_IMPORTER_STRANGE;
	if (!strcmp(how, "endless"))
		never_ends_its_text();
	if (!strcmp(how, "escapes"))
		say(BSA_E_INPUT, "it \033]0;owned\007 says \302\233\062J");
	if (!strcmp(how, "positive"))
		say(INT_MAX, "fine");
	if (!strcmp(how, "negative"))
		say(INT_MIN, "not fine");
	if (!strcmp(how, "nothing made"))
		say(0, "");
	if (!strcmp(how, "cut"))
		cuts_the_memory();
	if (!strcmp(how, "child"))
		leaves_a_child_behind();
	if (!strcmp(how, "values"))
		says_values_that_are_none();
	if (!strcmp(how, "crash"))
		says_it_and_crashes();
	_exit(0); /* without a message */
}
