/*
 * terminal.c -- takes the screen and the keys of a terminal, and restores both at the end and on
 * signals.
 *
 * CRASH  Signals that end a program at once give the screen back before they do (crashed). SIGKILL
 *        cannot: then `reset` helps.
 */
#include "live/terminal.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/write.h"

#define TAKE "\033[?1049h\033[?25l\033[H\033[2J"
#define GIVE "\033[?25h\033[?1049l"

static struct termios before;
static volatile sig_atomic_t taken;

static const int fatal[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

void bsv_terminal_give(void)
{
	if (!taken)
		return;
	taken = 0;
	bsv_write_all(STDOUT_FILENO, GIVE, sizeof(GIVE) - 1);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

static void give_terminal_back(int signal)
{
	bsv_terminal_give();
	raise(signal); /* once more, and nothing catches it */
}

bool bsv_terminal_take(void)
{
	static bool registered;
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return false;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	for (size_t i = 0; !registered && i < sizeof(fatal) / sizeof(*fatal); i++)
		sigaction(
			fatal[i],
			&(struct sigaction){ .sa_handler = give_terminal_back, .sa_flags = SA_RESETHAND | SA_NODEFER },
			NULL);
	if (!registered)
		atexit(bsv_terminal_give);
	registered = true;
	taken = 1;
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
	bsv_write_all(STDOUT_FILENO, TAKE, sizeof(TAKE) - 1);
	return true;
}

void bsv_terminal_size(int *ret_columns, int *ret_lines)
{
	struct winsize size = { 0 };

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		size = (struct winsize){ .ws_col = 80, .ws_row = 24 };
	*ret_columns = size.ws_col;
	*ret_lines = size.ws_row;
}

/*
 * At once, so that nothing flickers: each line over the one that is there, and what is right of it
 * and below is wiped.
 */
void bsv_terminal_show(const char *text, size_t n)
{
	char *all = NULL;
	size_t bytes = 0;
	FILE *f = open_memstream(&all, &bytes);
	const char *end = text + n;

	if (!f)
		return;
	fputs("\033[H", f);
	while (text < end) {
		const char *over = memchr(text, '\n', (size_t)(end - text));
		size_t length = over ? (size_t)(over - text) : (size_t)(end - text);

		fwrite(text, 1, length, f);
		fputs("\033[K", f);
		text += length + (over != NULL);
		if (text < end)
			fputs("\r\n", f);
	}
	fputs("\033[J", f);
	fclose(f);
	bsv_write_all(STDOUT_FILENO, all, bytes);
	free(all);
}

int bsv_terminal_key(void)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	unsigned char key;

	return poll(&p, 1, 0) > 0 && read(STDIN_FILENO, &key, 1) == 1 ? key : 0;
}
