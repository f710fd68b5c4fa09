/* fmq_ping.c -- two processes, a queue each way: cc fmq_ping.c $(pkg-config --cflags --libs nnburst) */
#include <nnb/fmq.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND 1000000000

static int service(int sock)
{
	struct nnb_fmq_attach how = { .elem_size = 8, .keep_counters = true };
	struct nnb_fmq *q[2];
	uint64_t v;

	for (int i = 0; i < 2; i++) {
		struct nnb_fmq_desc d;

		if (nnb_fmq_desc_recv(sock, &d) || nnb_fmq_attach(&q[i], &d, &how))
			return 1;
		nnb_fmq_desc_close(&d);
	}
	while (nnb_fmq_read_blocking(q[0], &v, 1, SECOND) == 0 && v) {
		v *= v;
		nnb_fmq_write_blocking(q[1], &v, 1, SECOND);
	}
	nnb_fmq_free(q[0]);
	nnb_fmq_free(q[1]);
	return 0;
}

int main(void)
{
	struct nnb_fmq_config c = {
		.elem_size = 8, .capacity = 64, .flavour = NNB_FMQ_SYNCHRONIZED, .event_flag = true
	};
	struct nnb_fmq *request, *result;
	struct nnb_fmq_desc d;
	int sock[2], status;

	if (nnb_fmq_new(&request, &c) || nnb_fmq_new(&result, &c) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock))
		return 1;
	if (fork() == 0)
		_exit(service(sock[1]));
	nnb_fmq_describe(request, &d);
	nnb_fmq_desc_send(sock[0], &d);
	nnb_fmq_describe(result, &d);
	nnb_fmq_desc_send(sock[0], &d);
	for (uint64_t v = 3; v < 1000000; printf("%llu\n", (unsigned long long)v))
		if (nnb_fmq_write_blocking(request, &v, 1, SECOND) || nnb_fmq_read_blocking(result, &v, 1, SECOND))
			return 1;
	nnb_fmq_write_blocking(request, &(uint64_t){ 0 }, 1, SECOND);
	wait(&status);
	nnb_fmq_free(request);
	nnb_fmq_free(result);
	return status ? 1 : 0;
}
