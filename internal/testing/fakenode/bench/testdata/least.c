// The least that a program needs in order to read the events of many runtimes: it starts a session
// with each, and then wakes up at fixed intervals, asks the kernel which sockets have data, and reads
// that. It understands nothing of it and writes nothing.
//
//	least MILLISECONDS SOCKET...
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { head = 20, answer_size = 28, error_set = 0xFF, session_set = 2, collect_tracing_2 = 3 };

static unsigned char request[256];
static int size;

static void put(const void *p, int n) {
	memcpy(request + size, p, n);
	size += n;
}

static void put32(uint32_t v) { put(&v, sizeof v); }

static void put_string(const char *s) {
	put32(strlen(s) + 1);
	for (const char *c = s;; c++) {
		uint16_t unit = *c;
		put(&unit, sizeof unit);
		if (!unit)
			return;
	}
}

// make_request makes the request for a session with the events of the garbage collector.
static void make_request(void) {
	const unsigned char start[head] = "DOTNET_IPC_V1";
	const uint64_t keywords = 1;
	put(start, head);
	put32(16); // MB
	put32(1);  // nettrace
	put("", 1);
	put32(1); // provider
	put(&keywords, sizeof keywords);
	put32(4); // level
	put_string("Microsoft-Windows-DotNETRuntime");
	put_string("");
	request[14] = size;
	request[16] = session_set;
	request[17] = collect_tracing_2;
}

static void fail(const char *what) {
	perror(what);
	exit(1);
}

static int start_session(const char *path) {
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	unsigned char answer[answer_size];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	strncpy(address.sun_path, path, sizeof address.sun_path - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address))
		fail(path);
	if (write(fd, request, size) != size || recv(fd, answer, sizeof answer, MSG_WAITALL) != sizeof answer)
		fail(path);
	if (answer[16] != error_set || answer[17] != 0) {
		fprintf(stderr, "%s: the runtime refuses a session\n", path);
		exit(1);
	}
	return fd;
}

int main(int argc, char **argv) {
	static char data[64 << 10];
	struct epoll_event events[64];
	struct timespec next;
	int epoll = epoll_create1(0);
	if (argc < 3 || epoll < 0)
		fail("usage: least MILLISECONDS SOCKET...");
	long interval = atol(argv[1]) * 1000000;
	make_request();
	for (int i = 2; i < argc; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.fd = start_session(argv[i])};
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, e.data.fd, &e))
			fail("epoll_ctl");
	}
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		next.tv_nsec += interval;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
		int n = epoll_wait(epoll, events, 64, 0);
		for (int i = 0; i < n; i++)
			if (recv(events[i].data.fd, data, sizeof data, MSG_DONTWAIT) == 0)
				close(events[i].data.fd);
	}
}
