/*
 * natslat and redislat: the reference clients. They measure delivery latency
 * through a broker with as little between the message and the clock as a
 * program of ordinary privileges can have: plain sockets, the protocol's text,
 * absolute sleeps and arrays. What Sixnines adds to this is Sixnines' own cost.
 *
 * With -c N there are N subjects, and for each a connection that publishes from
 * a thread of its own and one, or --fanout of them, that subscribes and is read
 * by a thread of its own, all in one process. The load is divided over the
 * subjects, see schedule.h, and three instants of each message are kept, all
 * CLOCK_MONOTONIC nanoseconds:
 *
 *   intended   from the schedule, which is computed beforehand
 *   sent       just before the frame is handed to the kernel
 *   received   just after the complete frame was recognised in the read buffer
 *
 * response = received - intended, service = received - sent,
 * lag = sent - intended. Percentiles are exact (sorted array, nearest rank)
 * over all deliveries of the messages due in [warmup, warmup + duration).
 *
 * Exit status: 0 measured, every message arrived once at each subscriber, in
 * order and unharmed; 1 failure, or messages missing, duplicated, reordered or
 * corrupted (the JSON is still printed where there is anything to print); 2
 * usage.
 */
#define _GNU_SOURCE
#include "clock.h"
#include "complain.h"
#include "figures.h"
#include "protocol.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };

static void say(const char *format, va_list args)
{
	char text[512];
	vsnprintf(text, sizeof text, format, args);
	fprintf(stderr, "%s: %s\n", program, text);
}

void complain(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(format, args);
	va_end(args);
	_exit(EXIT_FAILURE);
}

static const char usage_text[] =
	"usage: %s [options]\n"
	"Delivery latency through %s, measured by a plain C client.\n\n"
	"  --host HOST      server (127.0.0.1)\n"
	"  --port PORT      its port (%s)\n"
	"  --rate N         messages a second over all connections, 1 to 10000000 (1000)\n"
	"  --size BYTES     payload, from 32 (256)\n"
	"  --duration SECS  window measured, from 0.001 (10)\n"
	"  --warmup SECS    same load before it, not measured (1)\n"
	"  -c, --connections N  producers, each with a subject and a connection of its\n"
	"                   own, 1 to %d (1)\n"
	"  --fanout N       subscribers of each subject, with a connection each (1)\n"
	"  --arrivals KIND  constant, or poisson: random gaps on each connection (constant)\n"
	"  --seed N         seed of poisson (1)\n"
	"  --subject NAME   subjects used, with .0, .1, ... behind it (%s)\n"
	"  --checksum       CRC-32C over every payload, computed and checked\n"
	"  --help           this text\n\n"
	"Prints one JSON object; times are nanoseconds.\n";

static bool parse_whole(const char *flag, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;
	errno = 0;
	unsigned long long v = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || v < low || v > high) {
		complain("--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is needed", flag, text, low, high);
		return false;
	}
	*value = v;
	return true;
}

static bool parse_seconds(const char *flag, const char *text, double low, int64_t *ns)
{
	char *end;
	errno = 0;
	double v = strtod(text, &end);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || !(v >= low) || v > 86400) {
		complain("--%s %s: seconds from %g to 86400 are needed", flag, text, low);
		return false;
	}
	*ns = (int64_t)(v * 1e9 + 0.5);
	return true;
}

static bool subject_valid(const char *s)
{
	size_t n = strlen(s);
	if (n > 0 && n <= MAX_SUBJECT && strcspn(s, " \t\r\n*>") == n && s[0] != '.' && s[n - 1] != '.' && !strstr(s, ".."))
		return true;
	complain("--subject %s: not a subject to publish to", s);
	return false;
}

static bool parse_arrivals(const char *text, int *poisson)
{
	*poisson = strcmp(text, "poisson") == 0;
	if (*poisson || strcmp(text, "constant") == 0)
		return true;
	complain("--arrivals %s: constant or poisson is needed", text);
	return false;
}

/* 0: go on; 1: help was given; 2: usage error, already explained. */
static int parse_options(int argc, char **argv, struct options *o)
{
	enum { HOST = 256, PORT, RATE, SIZE, DURATION, WARMUP, CONNECTIONS, FANOUT, ARRIVALS, SEED, SUBJECT, CHECKSUM, HELP };
	static const struct option table[] = {
		{"host", required_argument, NULL, HOST},         {"port", required_argument, NULL, PORT},
		{"rate", required_argument, NULL, RATE},         {"size", required_argument, NULL, SIZE},
		{"duration", required_argument, NULL, DURATION}, {"warmup", required_argument, NULL, WARMUP},
		{"fanout", required_argument, NULL, FANOUT},     {"connections", required_argument, NULL, CONNECTIONS},
		{"arrivals", required_argument, NULL, ARRIVALS}, {"seed", required_argument, NULL, SEED},
		{"subject", required_argument, NULL, SUBJECT},   {"checksum", no_argument, NULL, CHECKSUM},
		{"help", no_argument, NULL, HELP},               {NULL, 0, NULL, 0},
	};
	uint64_t number = 0;
	bool good = true;
	int flag;
	while (good && (flag = getopt_long(argc, argv, "c:", table, NULL)) != -1) {
		switch (flag) {
		case HOST: o->host = optarg; break;
		case PORT:
			good = parse_whole("port", optarg, 1, 65535, &number);
			o->port = optarg;
			break;
		case RATE: good = parse_whole("rate", optarg, 1, 10000000, &o->load.rate); break;
		case SIZE:
			good = parse_whole("size", optarg, ENVELOPE, MAX_PAYLOAD, &number);
			o->size = number;
			break;
		case DURATION: good = parse_seconds("duration", optarg, 0.001, &o->duration_ns); break;
		case WARMUP: good = parse_seconds("warmup", optarg, 0, &o->warmup_ns); break;
		case 'c':
		case CONNECTIONS:
			good = parse_whole("connections", optarg, 1, MAX_CONNECTIONS, &number);
			o->load.divided = (unsigned)number;
			break;
		case FANOUT:
			good = parse_whole("fanout", optarg, 1, MAX_CONNECTIONS, &number);
			o->fanout = (unsigned)number;
			break;
		case ARRIVALS: good = parse_arrivals(optarg, &o->load.poisson); break;
		case SEED: good = parse_whole("seed", optarg, 0, UINT64_MAX, &o->load.seed); break;
		case SUBJECT:
			good = subject_valid(optarg);
			o->subject = optarg;
			break;
		case CHECKSUM: o->checksum = true; break;
		case HELP: printf(usage_text, program, broker, default_port, MAX_CONNECTIONS, program); return 1;
		default: good = false; /* getopt_long has said what is wrong */
		}
	}
	if (good && optind < argc) {
		complain("%s: not an option", argv[optind]);
		good = false;
	}
	if (good && o->load.divided * o->fanout > MAX_CONNECTIONS) {
		complain("%u connections with %u subscribers each are more than %d", o->load.divided, o->fanout, MAX_CONNECTIONS);
		good = false;
	}
	if (!good) {
		complain("see %s --help", program);
		return EXIT_USAGE;
	}
	o->load.length_ns = o->warmup_ns + o->duration_ns;
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.host = "127.0.0.1", .port = default_port, .subject = program, .size = 256, .fanout = 1,
	                    .duration_ns = 10 * SECOND, .warmup_ns = SECOND, .load = {.rate = 1000, .divided = 1, .seed = 1}};
	switch (parse_options(argc, argv, &o)) {
	case 0: break;
	case 1: return EXIT_SUCCESS;
	default: return EXIT_USAGE;
	}
	static struct run r;
	r.o = &o;
	r.crc = crc_choose(&r.crc_name);
	if (!r.crc)
		die("CRC-32C (%s) gives a wrong check value on this machine", r.crc_name);
	if (!run_plan(&r))
		return EXIT_USAGE;
	run_measure(&r);
	return print_result(&r) ? EXIT_SUCCESS : EXIT_FAILURE;
}
