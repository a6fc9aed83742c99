// Command http measures an HTTP service under an open loop: requests are due
// when the schedule says, however slow the answers are, and each is timed from
// then until the last byte of its answer.
//
//	go run ./examples/http -url http://127.0.0.1:8080/ -rate 500/s -for 10s
//
// Without -url it measures a server of its own that stands still for a fifth of
// the time, once, and shows what a client that waits would not have noticed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"sync"
	"text/tabwriter"
	"time"

	"sixnines"
	"sixnines/driver"
	"sixnines/result"
	"sixnines/scenario"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) // ends the window early, and shows what there is
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "http:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("http", flag.ContinueOnError)
	address := flags.String("url", "", "what to request; empty: a server of this program's own")
	rateText := flags.String("rate", "500/s", "requests a second, such as 500/s, or max")
	length := flags.Duration("for", 5*time.Second, "how long to measure")
	workers := flags.Int("workers", 256, "requests under way at most, each on a connection of its own")
	file := flags.String("out", "", "write the result file here as well, for sixnines report")
	if err := flags.Parse(args); err != nil {
		return err
	}
	rate, err := scenario.ParseRate(*rateText)
	if err != nil {
		return err
	}
	if *address == "" {
		s := stalling(time.Second+*length/2, *length/5)
		defer s.Close()
		*address = s.URL
	}
	var opts []sixnines.Option
	if *file != "" {
		opts = append(opts, sixnines.WithFile(*file))
	}
	measured, err := sixnines.RunRequester(ctx, &scenario.Scenario{
		Target:   scenario.Target{URL: *address},
		Workload: scenario.Workload{Rate: rate, InFlight: scenario.InFlight{Messages: *workers}},
		Phases:   scenario.Phases{Warmup: time.Second, Duration: *length},
	}, func() (sixnines.Requester, error) { return newGetter(*address), nil }, opts...)
	if err != nil {
		return err
	}
	return show(out, measured)
}

// getter requests one address over one connection.
type getter struct {
	transport *http.Transport
	request   *http.Request
	address   string
}

func newGetter(address string) *getter {
	return &getter{transport: &http.Transport{MaxConnsPerHost: 1}, address: address}
}

// Setup makes the connection, so that it is not part of the first latency.
func (g *getter) Setup(ctx context.Context) (err error) {
	if g.request, err = http.NewRequest(http.MethodGet, g.address, nil); err != nil {
		return err
	}
	return g.Request(ctx)
}

// Request implements sixnines.Requester.
func (g *getter) Request(ctx context.Context) error {
	answer, err := g.transport.RoundTrip(g.request.WithContext(ctx))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode >= 400 {
		return fmt.Errorf("%s: %s: %w", g.address, answer.Status, refusal(answer.StatusCode))
	}
	return nil
}

// refusal is the class under which a status is counted.
func refusal(status int) error {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return driver.ErrUnauthorized
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return driver.ErrThrottled
	case http.StatusRequestEntityTooLarge:
		return driver.ErrTooLarge
	}
	return driver.ErrRejected
}

// Teardown implements sixnines.TeardownRequester.
func (g *getter) Teardown(context.Context) error {
	g.transport.CloseIdleConnections()
	return nil
}

// show prints the percentiles that the sample supports, and the verdict.
func show(out io.Writer, r *result.Run) error {
	c := r.Counters
	fmt.Fprintf(out, "%s: %d requests due, %d answered, %d failed, %d without an answer\n\n", r.Header.Mode, c.Scheduled, c.Acked, c.Nacked, c.Unknown+c.NotSent)
	service := r.Summary.Histograms[result.RoundTripService]
	response := r.Summary.Histograms[result.RoundTripResponse]
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "percentile\tsince it was due\tsince it was sent\t\n")
	for _, p := range result.Percentiles() {
		fmt.Fprintf(w, "%s\t%s\t%s\t\n", p, value(response, p), value(service, p))
	}
	fmt.Fprintf(w, "max\t%s\t%s\t\n", value(response, result.Maximum), value(service, result.Maximum))
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s\n", r.Summary.Verdict)
	for _, reason := range r.Summary.Verdict.Reasons {
		fmt.Fprintf(out, "  %s: %s\n", reason.Status, reason.Text)
	}
	return nil
}

// value is a percentile as people read it. Flat out there is no response time.
func value(d *result.Distribution, p result.Percentile) string {
	f, ok := d.At(p)
	switch {
	case f.Needs > 0:
		return fmt.Sprintf("n/a (needs %d)", f.Needs)
	case !ok:
		return "-"
	case f.Refused:
		return "refused"
	}
	text := time.Duration(f.Value).Round(time.Microsecond).String()
	if f.AtLeast {
		text = "≥ " + text
	}
	return text
}

// stalling serves at once, but for one time, some while after its first
// request, in which it does not at all.
func stalling(after, stall time.Duration) *httptest.Server {
	var gate sync.RWMutex
	var first sync.Once
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		first.Do(func() {
			time.AfterFunc(after, func() {
				gate.Lock()
				time.AfterFunc(stall, gate.Unlock)
			})
		})
		gate.RLock()
		defer gate.RUnlock()
		_, _ = io.WriteString(w, "hello\n")
	}))
}
