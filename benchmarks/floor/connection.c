#define _GNU_SOURCE
#include "connection.h"
#include "clock.h"
#include "complain.h"
#include "protocol.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { READ_BUFFER = 256 << 10 }; /* beside one payload: a burst costs few recv calls */

void send_all(struct connection *c, const void *data, size_t n)
{
	const char *p = data;
	while (n > 0) {
		ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			int cause = errno;
			serve(c); /* a broker says why before it closes */
			die("%s: send: %s", c->role, strerror(cause));
		}
		p += sent;
		n -= (size_t)sent;
	}
}

bool read_more(struct connection *c, int flags)
{
	if (c->start == c->end)
		c->start = c->end = 0;
	else if (c->end == c->room) {
		memmove(c->buf, c->buf + c->start, c->end - c->start);
		c->end -= c->start;
		c->start = 0;
	}
	ssize_t n;
	do
		n = recv(c->fd, c->buf + c->end, c->room - c->end, flags);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return false;
	if (n <= 0)
		die("%s: %s", c->role, n == 0 ? "the server closed the connection" : strerror(errno));
	c->end += (size_t)n;
	return true;
}

void serve(struct connection *c)
{
	struct frame f;
	while (read_more(c, MSG_DONTWAIT))
		for (next_frame(c, &f); f.kind != FRAME_NONE; next_frame(c, &f))
			answer(c, &f);
}

void await_frame(struct connection *c, enum frame_kind kind, struct frame *f)
{
	int64_t limit = now_ns() + 10 * SECOND;
	for (next_frame(c, f); f->kind != kind; next_frame(c, f)) {
		if (f->kind != FRAME_NONE)
			answer(c, f);
		else if (!read_more(c, 0) && now_ns() > limit)
			die("%s: no answer from the server", c->role);
	}
}

void round_trip(struct connection *c)
{
	struct frame f;
	send_all(c, ping, strlen(ping));
	await_frame(c, FRAME_PONG, &f);
}

static int connected(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list;
	int failure = getaddrinfo(host, port, &hints, &list);
	if (failure)
		die("%s:%s: %s", host, port, gai_strerror(failure));
	int fd = -1, cause = 0;
	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd < 0 || connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			cause = errno;
			if (fd >= 0)
				close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		die("%s:%s: %s", host, port, strerror(cause));
	return fd;
}

void dial(struct connection *c, const char *role, unsigned number, const char *host, const char *port, size_t size)
{
	int on = 1;
	/* The timeout only bounds how late an ended run is noticed. */
	struct timeval patience = {.tv_sec = 1};

	snprintf(c->role, sizeof c->role, "%s %u", role, number);
	c->start = c->end = 0;
	c->room = READ_BUFFER + MAX_LINE + size;
	c->buf = malloc(c->room);
	if (!c->buf)
		die("%s: no memory for the read buffer", c->role);
	/* The pages must be there before the first message is. */
	memset(c->buf, 1, c->room);
	c->fd = connected(host, port);
	if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
	    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
		die("%s: setsockopt: %s", c->role, strerror(errno));
}
