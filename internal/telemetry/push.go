package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// pushTimeout bounds a push with its retries, and lastTimeout all pushes of Close.
const (
	pushTimeout = 5 * time.Second
	lastTimeout = 10 * time.Second
)

// Pusher sends the runs of live to an OpenTelemetry collector, by OTLP over HTTP,
// periodically and whenever a run has ended. It sends cumulative values, so the next push
// replaces one that failed, unless another run has ended by then. Tell is safe for
// concurrent use; call Close once.
type Pusher struct {
	target   Target
	live     *Live
	version  string
	instance string // drawn anew for each Pusher
	exporter *exporter
	stop     chan struct{}      // closed by Close
	cancel   context.CancelFunc // of the loop's pushes
	done     chan struct{}      // closed when loop has returned

	// mu guards failed, broken and pushes. over needs no lock: it belongs to the loop, and
	// to Close once done is closed.
	mu     sync.Mutex
	failed func(error) // called with the first of several failures in a row; may be nil
	broken bool        // the last push failed
	pushes Pushes
	over   map[string]bool // finished runs that were pushed, by their IDs
}

// Pushes counts pushes and their failures.
type Pushes struct {
	Made, Failed int
	Last         error // of the last push; nil: it succeeded
	Failure      error // the last failure; nil: no push failed
	Unreported   int   // runs with a result for which no push succeeded after their end; set by Close
}

// Target is where to push. Its headers may be secret and are in no error.
type Target struct {
	url     *url.URL
	headers map[string]string
}

// NewTarget parses an address, such as http://collector:4318, and headers as
// OTEL_EXPORTER_OTLP_HEADERS has them: key=value pairs with commas between, the values
// encoded as in URLs. The default path is /v1/metrics. The address must be http or https,
// without a login, query or fragment. Errors do not repeat the input.
func NewTarget(address string, headers ...string) (Target, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Target{}, errors.New("it is no URL") // the error would repeat it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return Target{}, errors.New("it is no http or https URL")
	case u.User != nil:
		return Target{}, errors.New("a login does not belong in it, where others see it")
	case u.RawQuery != "" || u.Fragment != "":
		return Target{}, errors.New("OTLP has no queries")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/metrics"
	}
	t := Target{url: u, headers: map[string]string{}}
	for _, list := range headers {
		for pair := range strings.SplitSeq(list, ",") {
			if strings.TrimSpace(pair) == "" {
				continue
			}
			key, value, ok := strings.Cut(pair, "=")
			value, err := url.PathUnescape(strings.TrimSpace(value))
			if key = strings.TrimSpace(key); !ok || key == "" || err != nil {
				return Target{}, errors.New("the headers are not key=value pairs with commas between")
			}
			t.headers[http.CanonicalHeaderKey(key)] = value
		}
	}
	return t, nil
}

// String returns the address without the headers.
func (t Target) String() string { return t.url.String() }

// Period is how often a run is pushed while it lasts.
const Period = 10 * time.Second

// Push starts to push every period, on a goroutine that ends with Close. version is that of
// Sixnines. Timeout, compression and certificates come from the environment variables
// OTEL_EXPORTER_OTLP_…, which getenv returns; an error says that they do not fit the target.
func Push(t Target, live *Live, version string, period time.Duration, getenv func(string) string) (*Pusher, error) {
	exporter, err := newExporter(t, version, getenv)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pusher{target: t, live: live, version: version, instance: rand.Text(), exporter: exporter, over: map[string]bool{},
		stop: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	go p.loop(ctx, period)
	return p, nil
}

// Tell sets the function that is called with the first of several failures in a row, on the
// goroutine that pushes. Failures are counted in any case.
func (p *Pusher) Tell(failed func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = failed
}

func (p *Pusher) loop(ctx context.Context, period time.Duration) {
	defer close(p.done)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-p.live.ended:
		case <-p.stop:
			return
		}
		p.push(ctx)
	}
}

// Close ends the periodic pushes, pushes how all runs ended, retries once if that fails, and
// returns the counts of all pushes. It takes up to 10 s after the push in progress; the end of
// ctx ends both sooner.
func (p *Pusher) Close(ctx context.Context) Pushes {
	close(p.stop)
	context.AfterFunc(ctx, p.cancel)
	<-p.done
	ctx, cancel := context.WithTimeout(ctx, lastTimeout)
	defer cancel()
	if p.push(ctx); p.result().Last != nil {
		select {
		case <-time.After(time.Second):
			p.push(ctx)
		case <-ctx.Done():
		}
	}
	p.exporter.client.CloseIdleConnections()
	pushes := p.result()
	pushes.Unreported = p.live.withResult() - len(p.over)
	return pushes
}

func (p *Pusher) result() Pushes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pushes
}

// push sends all loads but those of finished runs that were pushed since their end. Only the
// loop calls it, and Close after the loop.
func (p *Pusher) push(ctx context.Context) {
	phase, all := p.live.loads()
	over := map[string]bool{}
	all = slices.DeleteFunc(all, func(l *load) bool {
		id := l.header.ID
		if l.phase == "" {
			over[id] = true
		}
		return p.over[id]
	})
	if len(all) == 0 {
		return
	}
	err := p.send(ctx, collector{func() (string, []*load) { return phase, all }})
	if err == nil {
		maps.Copy(p.over, over)
	}
	p.mu.Lock()
	p.pushes.Made, p.pushes.Last = p.pushes.Made+1, err
	first := err != nil && !p.broken
	if p.broken = err != nil; p.broken {
		p.pushes.Failed, p.pushes.Failure = p.pushes.Failed+1, err
	}
	failed := p.failed
	p.mu.Unlock()
	if first && failed != nil {
		failed(err)
	}
}

// send sends the families of a collector.
func (p *Pusher) send(ctx context.Context, c prometheus.Collector) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	if err := p.exporter.export(ctx, resourceMetrics(families, p.version, p.instance, time.Now())); err != nil {
		return fmt.Errorf("push to %s: %w", p.target, err)
	}
	return nil
}
