#define _GNU_SOURCE
#include "wire.h"
#include "clock.h"
#include "complain.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum {
	READ_BUFFER = 256 << 10, /* beside one payload: a burst costs few recv calls */
	MAX_LINE = 64 << 10,     /* an INFO with many cluster addresses is the longest */
};

bool send_all(struct connection *c, const void *data, size_t n)
{
	const char *p = data;
	while (n > 0) {
		ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			complain("%s: send: %s", c->role, strerror(errno));
			return false;
		}
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

static bool starts_with(const char *line, size_t n, const char *word)
{
	size_t w = strlen(word);
	return n >= w && memcmp(line, word, w) == 0;
}

/* The last field of a MSG line is the payload's length; the reply subject
 * before it is optional, so the fields are not counted from the left. */
static bool payload_length(const char *line, size_t n, size_t *length)
{
	size_t i = n, digits = 0;
	while (i > 0 && line[i - 1] >= '0' && line[i - 1] <= '9')
		i--, digits++;
	if (digits == 0 || digits > 9 || i == 0 || line[i - 1] != ' ')
		return false;
	*length = 0;
	for (; i < n; i++)
		*length = *length * 10 + (size_t)(line[i] - '0');
	return true;
}

bool next_frame(struct connection *c, struct frame *f)
{
	const char *line = c->buf + c->start;
	size_t available = c->end - c->start;
	const char *newline = memchr(line, '\n', available);

	memset(f, 0, sizeof *f);
	if (!newline) {
		if (available > MAX_LINE) {
			complain("%s: a line longer than %d bytes", c->role, MAX_LINE);
			return false;
		}
		return true;
	}
	size_t used = (size_t)(newline - line) + 1;
	size_t n = used - 1;
	if (n == 0 || line[n - 1] != '\r') {
		complain("%s: a line without CR LF", c->role);
		return false;
	}
	n--;
	f->text = line;
	f->text_length = n;
	if (starts_with(line, n, "MSG ")) {
		size_t length;
		if (!payload_length(line, n, &length)) {
			complain("%s: not a MSG line: %.*s", c->role, (int)(n < 80 ? n : 80), line);
			return false;
		}
		if (used + length + 2 > c->room) {
			complain("%s: a payload of %zu bytes was not asked for", c->role, length);
			return false;
		}
		if (available - used < length + 2) {
			memset(f, 0, sizeof *f);
			return true;
		}
		if (memcmp(line + used + length, "\r\n", 2) != 0) {
			complain("%s: a payload not followed by CR LF", c->role);
			return false;
		}
		f->kind = FRAME_MSG;
		f->payload = (const unsigned char *)line + used;
		f->payload_length = length;
		used += length + 2;
	} else if (starts_with(line, n, "PING"))
		f->kind = FRAME_PING;
	else if (starts_with(line, n, "PONG"))
		f->kind = FRAME_PONG;
	else if (starts_with(line, n, "INFO "))
		f->kind = FRAME_INFO;
	else if (starts_with(line, n, "+OK"))
		f->kind = FRAME_OK;
	else if (starts_with(line, n, "-ERR"))
		f->kind = FRAME_ERROR;
	else {
		complain("%s: unknown protocol line: %.*s", c->role, (int)(n < 80 ? n : 80), line);
		return false;
	}
	c->start += used;
	return true;
}

int read_more(struct connection *c, int flags)
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
		return 0;
	if (n <= 0) {
		complain("%s: %s", c->role, n == 0 ? "the server closed the connection" : strerror(errno));
		return -1;
	}
	c->end += (size_t)n;
	return 1;
}

bool answer(struct connection *c, const struct frame *f)
{
	if (f->kind == FRAME_PING)
		return send_all(c, "PONG\r\n", 6);
	if (f->kind == FRAME_ERROR) {
		complain("%s: the server says %.*s", c->role, (int)f->text_length, f->text);
		return false;
	}
	return true;
}

/* Blocks until a frame of this kind came, for at most ten seconds of silence. */
static bool await_frame(struct connection *c, enum frame_kind kind, struct frame *f)
{
	int64_t limit = now_ns() + 10 * SECOND;
	for (;;) {
		if (!next_frame(c, f))
			return false;
		if (f->kind == kind)
			return true;
		if (f->kind != FRAME_NONE) {
			if (!answer(c, f))
				return false;
			continue;
		}
		int got = read_more(c, 0);
		if (got < 0)
			return false;
		if (got == 0 && now_ns() > limit) {
			complain("%s: no answer from the server", c->role);
			return false;
		}
	}
}

bool round_trip(struct connection *c)
{
	struct frame f;
	return send_all(c, "PING\r\n", 6) && await_frame(c, FRAME_PONG, &f);
}

static int dial(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *list;
	int failure = getaddrinfo(host, port, &hints, &list);
	if (failure) {
		complain("%s:%s: %s", host, port, gai_strerror(failure));
		return -1;
	}
	int fd = -1, cause = 0;
	for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
			cause = errno;
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(list);
	if (fd < 0)
		complain("%s:%s: %s", host, port, strerror(cause));
	return fd;
}

/* The server announces its limit in INFO; a larger payload would end the
 * connection in the middle of the run. */
static bool payload_allowed(const struct frame *info, size_t size)
{
	static const char key[] = "\"max_payload\":";
	const char *at = memmem(info->text, info->text_length, key, sizeof key - 1);
	if (!at)
		return true;
	unsigned long long limit = strtoull(at + sizeof key - 1, NULL, 10);
	if (size <= limit)
		return true;
	complain("--size %zu: this server takes at most %llu bytes", size, limit);
	return false;
}

bool connect_to(struct connection *c, const char *role, const char *host, const char *port, size_t size)
{
	static const char hello[] =
		"CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":true,"
		"\"lang\":\"c\",\"version\":\"1\",\"name\":\"natslat\",\"protocol\":1}\r\n";
	int on = 1;
	/* The timeout only bounds how late an ended run is noticed. */
	struct timeval patience = {.tv_usec = 100000};
	struct frame f;

	memset(c, 0, sizeof *c);
	c->role = role;
	c->room = READ_BUFFER + MAX_LINE + size;
	c->buf = malloc(c->room);
	if (!c->buf) {
		complain("%s: no memory for the read buffer", role);
		return false;
	}
	c->fd = dial(host, port);
	if (c->fd < 0)
		return false;
	/* The pages must be there before the first message is. */
	memset(c->buf, 1, c->room);
	if (setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
	    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0) {
		complain("%s: setsockopt: %s", role, strerror(errno));
		return false;
	}
	if (!await_frame(c, FRAME_INFO, &f) || !payload_allowed(&f, size))
		return false;
	return send_all(c, hello, sizeof hello - 1) && round_trip(c);
}
