/*
 * natslat: the reference client for NATS, see main.c.
 */
#define _GNU_SOURCE
#include "complain.h"
#include "protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char program[] = "natslat", broker[] = "NATS", default_port[] = "4222", ping[] = "PING\r\n";

int subscription(char *text, size_t room, const char *subject)
{
	return snprintf(text, room, "SUB %s 1\r\n", subject);
}

int head(char *text, size_t room, const char *subject, size_t size)
{
	return snprintf(text, room, "PUB %s %zu\r\n", subject, size);
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

static enum frame_kind kind_of(const char *line, size_t n)
{
	static const struct { const char *word; enum frame_kind kind; } kinds[] = {
		{"MSG ", FRAME_MESSAGE}, {"PING", FRAME_PING}, {"PONG", FRAME_PONG},
		{"INFO ", FRAME_INFO},   {"+OK", FRAME_OTHER}, {"-ERR", FRAME_ERROR},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		if (starts_with(line, n, kinds[i].word))
			return kinds[i].kind;
	return FRAME_NONE;
}

void next_frame(struct connection *c, struct frame *f)
{
	const char *line = c->buf + c->start;
	size_t available = c->end - c->start;
	const char *newline = memchr(line, '\n', available);

	memset(f, 0, sizeof *f);
	if (!newline) {
		if (available > MAX_LINE)
			die("%s: a line longer than %d bytes", c->role, MAX_LINE);
		return;
	}
	size_t used = (size_t)(newline - line) + 1;
	size_t n = used - 1;
	if (n == 0 || line[n - 1] != '\r')
		die("%s: a line without CR LF", c->role);
	n--;
	enum frame_kind kind = kind_of(line, n);
	if (kind == FRAME_NONE)
		die("%s: unknown protocol line: %.*s", c->role, (int)(n < 80 ? n : 80), line);
	if (kind == FRAME_MESSAGE) {
		size_t length;
		if (!payload_length(line, n, &length))
			die("%s: not a MSG line: %.*s", c->role, (int)(n < 80 ? n : 80), line);
		if (used + length + 2 > c->room)
			die("%s: a payload of %zu bytes was not asked for", c->role, length);
		if (available - used < length + 2)
			return;
		if (memcmp(line + used + length, "\r\n", 2) != 0)
			die("%s: a payload not followed by CR LF", c->role);
		f->payload = (const unsigned char *)line + used;
		f->payload_length = length;
		used += length + 2;
	} else {
		f->text = line;
		f->text_length = n;
	}
	f->kind = kind;
	c->start += used;
}

void answer(struct connection *c, const struct frame *f)
{
	if (f->kind == FRAME_PING)
		send_all(c, "PONG\r\n", 6);
	if (f->kind == FRAME_ERROR)
		die("%s: the server says %.*s", c->role, (int)f->text_length, f->text);
}

/* The server announces its limit in INFO; a larger payload would end the
 * connection in the middle of the run. */
static void check_limit(const struct frame *info, size_t size)
{
	static const char key[] = "\"max_payload\":";
	const char *at = memmem(info->text, info->text_length, key, sizeof key - 1);
	unsigned long long limit = at ? strtoull(at + sizeof key - 1, NULL, 10) : size;
	if (size > limit)
		die("--size %zu: this server takes at most %llu bytes", size, limit);
}

void greet(struct connection *c, size_t size)
{
	static const char hello[] =
		"CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":true,"
		"\"lang\":\"c\",\"version\":\"1\",\"name\":\"natslat\",\"protocol\":1}\r\n";
	struct frame f;
	await_frame(c, FRAME_INFO, &f);
	check_limit(&f, size);
	send_all(c, hello, sizeof hello - 1);
	round_trip(c);
}
