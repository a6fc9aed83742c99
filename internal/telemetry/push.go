package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
)

// pushTimeout bounds a push, and lastTimeout what the end waits for the last ones.
const (
	pushTimeout = 5 * time.Second
	lastTimeout = 10 * time.Second
)

// Pusher sends what live tells to an OpenTelemetry collector, by OTLP over HTTP, in
// periods and whenever a run has ended. What it sends is cumulative, so that a push that
// fails loses nothing that the next does not bring, unless another run has ended by then.
type Pusher struct {
	target  Target
	live    *Live
	version string
	client  *http.Client
	stop    chan struct{}
	done    chan struct{}

	mu     sync.Mutex
	failed func(error) // is told of the first of several failures; nil: nobody is
	broken bool        // the last push failed
	pushes Pushes
	over   map[string]bool // finished runs that were pushed, by their IDs
}

// Pushes counts what became of pushes.
type Pushes struct {
	Made, Failed int
	Last         error // of the last push; nil: it did not fail
	Failure      error // the last that there was
	Untold       int   // runs whose end no push has brought
}

// Target is where to push. Its headers may be secret and are in no error.
type Target struct {
	url     *url.URL
	headers http.Header
}

// NewTarget reads an address, such as http://collector:4318, and headers as
// OTEL_EXPORTER_OTLP_HEADERS has them: key=value pairs with commas between, the values
// encoded as in URLs. Without a path it is /v1/metrics.
func NewTarget(address string, headers ...string) (Target, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return Target{}, errors.New("it is no URL") // the error would repeat it
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return Target{}, errors.New("it is no http or https URL")
	case u.User != nil:
		return Target{}, errors.New("a login does not belong in it, where others see it")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1/metrics"
	}
	t := Target{url: u, headers: http.Header{}}
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
			t.headers.Set(key, value)
		}
	}
	return t, nil
}

// String is the address without what may be secret.
func (t Target) String() string { return t.url.Scheme + "://" + t.url.Host + t.url.Path }

// Period is how often runs that go on are pushed.
const Period = 10 * time.Second

// Push begins to push in periods. version is that of Sixnines.
func Push(t Target, live *Live, version string, period time.Duration) *Pusher {
	p := &Pusher{target: t, live: live, version: version, over: map[string]bool{}, stop: make(chan struct{}), done: make(chan struct{}),
		// Headers are for this address only.
		client: &http.Client{Timeout: pushTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	go p.loop(period)
	return p
}

// Tell says who is told of the first of several failures in a row; nil: nobody is, they
// are counted.
func (p *Pusher) Tell(failed func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = failed
}

func (p *Pusher) loop(period time.Duration) {
	defer close(p.done)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.push(context.Background())
		case <-p.live.ended:
			p.push(context.Background())
		case <-p.stop:
			return
		}
	}
}

// Close pushes how all ended, once more if that fails, and returns what became of all
// pushes. The end of ctx ends it sooner.
func (p *Pusher) Close(ctx context.Context) Pushes {
	close(p.stop)
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
	p.client.CloseIdleConnections()
	pushes := p.result()
	pushes.Untold = p.live.withResult() - len(p.over)
	return pushes
}

func (p *Pusher) result() Pushes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pushes
}

// push sends what there is that was not sent for good.
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

// send sends what a collector has.
func (p *Pusher) send(ctx context.Context, c prometheus.Collector) error {
	registry := prometheus.NewRegistry()
	registry.MustRegister(c)
	families, err := registry.Gather()
	if err != nil {
		return err
	}
	body, err := proto.Marshal(metricsData(families, p.version, time.Now()))
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target.url.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = p.target.headers.Clone()
	request.Header.Set("Content-Type", "application/x-protobuf")
	response, err := p.client.Do(request)
	if err != nil {
		if u := new(url.Error); errors.As(err, &u) {
			err = u.Err // without the address, whose query may be secret
		}
		return fmt.Errorf("push to %s: %w", p.target, err)
	}
	defer response.Body.Close()                       // nothing is written
	_, _ = io.CopyN(io.Discard, response.Body, 1<<16) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("push to %s: the collector answers %s", p.target, response.Status)
	}
	return nil
}
