#include "figures.h"
#include "clock.h"
#include "complain.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void print_histogram(const char *name, int64_t *v, uint64_t n, const char *after)
{
	static const struct { const char *label; uint64_t per_myriad; } points[] = {
		{"50", 5000}, {"90", 9000}, {"99", 9900}, {"99.9", 9990}, {"99.99", 9999},
	};
	printf("\"%s\":{\"count\":%" PRIu64, name, n);
	if (n > 0) {
		long double sum = 0, squares = 0;
		qsort(v, n, sizeof *v, ascending);
		for (uint64_t i = 0; i < n; i++)
			sum += v[i];
		long double mean = sum / n;
		for (uint64_t i = 0; i < n; i++)
			squares += (v[i] - mean) * (v[i] - mean);
		printf(",\"min\":%" PRId64 ",\"max\":%" PRId64 ",\"mean\":%.1Lf,\"stddev\":%.1Lf,\"percentiles\":{",
		       v[0], v[n - 1], mean, sqrtl(squares / n));
		for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
			/* Nearest rank, in integers: ceil(p * n). */
			uint64_t rank = (n * points[i].per_myriad + 9999) / 10000;
			printf("%s\"%s\":%" PRId64, i ? "," : "", points[i].label, v[rank - 1]);
		}
		putchar('}');
	}
	printf("}%s", after);
}

/* The share of what was due that was sent in the worst whole second of the
 * window; 0 where the window has none. */
static double worst_second(const struct run *r, uint64_t *in_window)
{
	int64_t start = r->t0 + r->o->warmup_ns, length = r->o->duration_ns;
	uint64_t seconds = (uint64_t)(length / SECOND), worst = UINT64_MAX;
	uint64_t *count = calloc(seconds + 1, sizeof *count);
	*in_window = 0;
	for (uint64_t n = 0; n < r->total; n++) {
		int64_t at = r->sent[n] - start;
		if (r->received[n] == 0 || at < 0 || at >= length)
			continue;
		++*in_window;
		if (count)
			count[at / SECOND]++;
	}
	for (uint64_t s = 0; count && s < seconds; s++)
		if (count[s] < worst)
			worst = count[s];
	free(count);
	return worst == UINT64_MAX ? 0 : (double)worst / (double)r->o->rate;
}

bool print_result(const struct run *r)
{
	const struct options *o = r->o;
	uint64_t scheduled = r->total - r->first, n = 0, in_window;
	int64_t *response = malloc(3 * scheduled * sizeof *response);
	if (!response) {
		complain("no memory for the percentiles");
		return false;
	}
	int64_t *service = response + scheduled, *lag = service + scheduled;
	for (uint64_t i = r->first; i < r->total; i++) {
		if (r->received[i] == 0)
			continue;
		response[n] = r->received[i] - r->intended[i];
		service[n] = r->received[i] - r->sent[i];
		lag[n] = r->sent[i] - r->intended[i];
		n++;
	}
	double worst = worst_second(r, &in_window);
	uint64_t sent = r->handed > r->first ? r->handed - r->first : 0;
	printf("{\"tool\":\"natslat\",\"checksum\":\"%s\",", o->checksum ? r->crc_name : "off");
	printf("\"counters\":{\"scheduled\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64
	       ",\"missing\":%" PRIu64 ",\"corrupted\":%" PRIu64 ",\"duplicated\":%" PRIu64
	       ",\"reordered\":%" PRIu64 ",\"foreign\":%" PRIu64 "},",
	       scheduled, sent, n, scheduled - n, r->corrupted, r->duplicated, r->reordered, r->foreign);
	printf("\"warmup\":{\"scheduled\":%" PRIu64 ",\"received\":%" PRIu64 "},", r->first, r->arrived - n);
	printf("\"rate\":{\"asked\":%" PRIu64 ",\"sent\":%.3f,\"worst_second\":%.6f},", o->rate,
	       (double)in_window * (double)SECOND / (double)o->duration_ns, worst);
	fputs("\"histograms\":{", stdout);
	print_histogram("delivery.response", response, n, ",");
	print_histogram("delivery.service", service, n, ",");
	print_histogram("lag.own", lag, n, "}}\n");
	free(response);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("standard output: %s", strerror(errno));
		return false;
	}
	return true;
}
