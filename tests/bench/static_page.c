/*
 * static_page.c -- static_page FILE: an HTTP server that does the least one can do: it sends FILE to each client that
 * sends a whole head, and closes. It prints its port. What its clients cost an app is what scraping costs at all;
 * bench_scraped holds the exporter against it.
 *
 * One thread. The oldest connection is closed when there are too many; a client that reads too slowly for the
 * socket's buffer is closed.
 */
#include <arpa/inet.h>
#include <err.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 128, HEAD = 1024 };

static struct pollfd polled[1 + CONNECTIONS]; /* the listening socket, then the connections; fd -1: a free place */
static char heads[CONNECTIONS][HEAD], answer[1 << 20];
static size_t head_bytes[CONNECTIONS], answer_bytes;

static void read_answer(const char *path)
{
	size_t head;
	FILE *f = fopen(path, "r");

	if (!f)
		err(1, "%s", path);
	head = (size_t)sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n");
	answer_bytes = head + fread(answer + head, 1, sizeof(answer) - head, f);
	fclose(f);
}

static int listening_socket(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t bytes = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, bytes) || listen(fd, CONNECTIONS) ||
	    getsockname(fd, (struct sockaddr *)&a, &bytes))
		err(1, "a socket");
	printf("%u\n", ntohs(a.sin_port));
	fflush(stdout);
	return fd;
}

static void connection_close(size_t i)
{
	close(polled[1 + i].fd);
	polled[1 + i].fd = -1;
}

/* Places are used in turn, so that the connection in the next place is the oldest. */
static void connection_accept(void)
{
	static size_t next;
	int fd = accept4(polled[0].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	if (polled[1 + next].fd >= 0)
		connection_close(next);
	polled[1 + next] = (struct pollfd){ .fd = fd, .events = POLLIN };
	head_bytes[next] = 0;
	next = (next + 1) % CONNECTIONS;
}

static void connection_read(size_t i)
{
	ssize_t n = read(polled[1 + i].fd, heads[i] + head_bytes[i], HEAD - head_bytes[i]);

	if (n > 0) {
		head_bytes[i] += (size_t)n;
		if (memmem(heads[i], head_bytes[i], "\r\n\r\n", 4))
			send(polled[1 + i].fd, answer, answer_bytes, MSG_NOSIGNAL);
		else if (head_bytes[i] < HEAD)
			return;
	}
	connection_close(i);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: static_page FILE");
	read_answer(argv[1]);
	polled[0] = (struct pollfd){ .fd = listening_socket(), .events = POLLIN };
	for (size_t i = 0; i < CONNECTIONS; i++)
		polled[1 + i].fd = -1;
	for (;;) {
		if (poll(polled, 1 + CONNECTIONS, -1) < 0)
			err(1, "poll");
		if (polled[0].revents)
			connection_accept();
		for (size_t i = 0; i < CONNECTIONS; i++)
			if (polled[1 + i].fd >= 0 && polled[1 + i].revents)
				connection_read(i);
	}
}
