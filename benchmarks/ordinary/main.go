// Ordinary publishes through a client library as an ordinary program does – a
// goroutine that sleeps until the next message is due – and prints how long the
// broker's acknowledgements took, from the call on. Beside Sixnines, which publishes
// through the same library from a thread of its own, it shows what that changes.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sixnines/benchmarks/exact"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

// drain is how long acknowledgements are waited for after the last message.
const drain = 5 * time.Second

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run measures once as args ask for and returns the exit status: 0 measured and
// everything acknowledged, 1 failure, 2 usage.
func run(args []string, stdout, stderr io.Writer) int {
	l, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "ordinary: %v\n", err)
		return exitUsage
	}
	answer, err := measure(l)
	if err == nil {
		err = json.NewEncoder(stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintf(stderr, "ordinary: %v\n", err)
		return exitFailure
	}
	return 0
}

// load describes the messages to send.
type load struct {
	client, url, topic string
	rate, size         int
	duration, warmup   time.Duration
}

func (l load) total() int { return int(float64(l.rate) * (l.duration + l.warmup).Seconds()) }
func (l load) first() int { return int(float64(l.rate) * l.warmup.Seconds()) }

func parse(args []string, stderr io.Writer) (load, error) {
	var l load
	flags := flag.NewFlagSet("ordinary", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&l.client, "client", "", "the `library`: "+strings.Join(libraries(), ", "))
	flags.StringVar(&l.url, "url", "", "the broker's `URL`")
	flags.StringVar(&l.topic, "topic", "ordinary", "`name` of the topic, queue or stream, which is made")
	flags.IntVar(&l.rate, "rate", 1000, "messages a second")
	flags.IntVar(&l.size, "size", 256, "`bytes` of payload")
	flags.DurationVar(&l.duration, "duration", 10*time.Second, "window measured")
	flags.DurationVar(&l.warmup, "warmup", time.Second, "same load before it, not measured")
	if err := flags.Parse(args); err != nil {
		return load{}, err
	}
	switch {
	case flags.NArg() > 0:
		return load{}, fmt.Errorf("%q is not an option", flags.Arg(0))
	case !slices.Contains(libraries(), l.client):
		return load{}, fmt.Errorf("-client %q: one of %s is needed", l.client, strings.Join(libraries(), ", "))
	case l.url == "" || l.topic == "":
		return load{}, errors.New("-url and -topic are needed")
	case l.rate < 1 || l.rate > 100_000:
		return load{}, fmt.Errorf("-rate %d: 1 to 100000 is needed", l.rate)
	case l.size < 1 || l.size > 1<<20:
		return load{}, fmt.Errorf("-size %d: 1 to 1048576 is needed", l.size)
	case l.duration <= 0 || l.warmup < 0 || l.duration+l.warmup > time.Hour || l.total() <= l.first():
		return load{}, errors.New("-duration and -warmup: at least one message, and an hour at most, are needed")
	}
	return l, nil
}

// publisher publishes through a library. It calls acknowledged once for each
// message, in their order, on a goroutine of the library's choice.
type publisher interface {
	publish(payload []byte) error
	close()
}

// trial keeps when each message was handed over and acknowledged. One goroutine
// writes sent, another acked, which says by count how much of both may be read.
type trial struct {
	began       time.Time
	sent, acked []time.Duration
	count       atomic.Int64
	refused     atomic.Int64
}

// acknowledged notes the answer to the next message; err: the broker refused it.
func (t *trial) acknowledged(err error) {
	n := t.count.Load()
	if int(n) >= len(t.acked) || err != nil {
		t.refused.Add(1)
		return
	}
	t.acked[n] = time.Since(t.began)
	t.count.Add(1)
}

// figures is what a trial says, in the shape of `sixnines run --json`.
type figures struct {
	Tool       string                     `json:"tool"`
	Counters   map[string]int             `json:"counters"`
	Rate       map[string]float64         `json:"rate"`
	Histograms map[string]exact.Histogram `json:"histograms"`
}

func measure(l load) (*figures, error) {
	ctx, cancel := context.WithTimeout(context.Background(), l.warmup+l.duration+time.Minute)
	defer cancel()
	total, first := l.total(), l.first()
	t := &trial{sent: make([]time.Duration, total), acked: make([]time.Duration, total), began: time.Now()}
	p, err := clients[l.client](ctx, l, t.acknowledged)
	if err != nil {
		return nil, err
	}
	defer p.close()
	runtime.GC()
	start := time.Since(t.began) + 100*time.Millisecond
	var windowed int
	for n := range total {
		due := start + time.Duration(float64(n)*float64(time.Second)/float64(l.rate))
		time.Sleep(due - time.Since(t.began))
		t.sent[n] = time.Since(t.began)
		if at := t.sent[n] - start - l.warmup; at >= 0 && at < l.duration {
			windowed++
		}
		if err := p.publish(make([]byte, l.size)); err != nil {
			return nil, fmt.Errorf("publish message %d: %w", n, err)
		}
	}
	for end := time.Now().Add(drain); int(t.count.Load()) < total; time.Sleep(time.Millisecond) {
		if refused := t.refused.Load(); refused > 0 || time.Now().After(end) {
			return nil, fmt.Errorf("of %d messages %d were acknowledged and %d refused", total, t.count.Load(), refused)
		}
	}
	service, lag := make([]int64, 0, total-first), make([]int64, 0, total-first)
	for n := first; n < total; n++ {
		service = append(service, int64(t.acked[n]-t.sent[n]))
		lag = append(lag, int64(t.sent[n]-start-time.Duration(float64(n)*float64(time.Second)/float64(l.rate))))
	}
	return &figures{
		Tool:     "ordinary",
		Counters: map[string]int{"scheduled": total - first, "sent": total - first, "acked": len(service)},
		Rate:     map[string]float64{"asked": float64(l.rate), "sent": float64(windowed) / l.duration.Seconds()},
		Histograms: map[string]exact.Histogram{
			"publish.service": exact.Summarise(service), "lag.own": exact.Summarise(lag),
		},
	}, nil
}
