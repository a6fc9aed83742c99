package telemetry

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapeTimeout bounds a scrape, and closeTimeout how long the end waits for those
// under way.
const (
	scrapeTimeout = 5 * time.Second
	closeTimeout  = time.Second
)

// Server is the page /metrics that Prometheus scrapes: native histograms for those who
// negotiates its protocol buffers, else text.
type Server struct {
	live    *Live
	http    *http.Server
	address string

	mu       sync.Mutex
	at       time.Time     // of the last scrape; zero: there was none
	period   time.Duration // between the last two
	reported int           // finished runs that the last scrape saw
	scraped  chan struct{} // gets a value for a scrape, if it has room
}

// Listen serves live at an address, such as ":9090": all interfaces, as
// Prometheus has it.
func Listen(address string, live *Live) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &Server{live: live, address: listener.Addr().String(), scraped: make(chan struct{}, 1)}
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{live.loads})
	// Compressing would take processor time from what is measured.
	metrics := promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true, DisableCompression: true,
		MaxRequestsInFlight: 2, Timeout: scrapeTimeout})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		s.seen(live.finishedRuns())
		metrics.ServeHTTP(w, r) // Close waits for it
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "Sixnines: the metrics of the run are at /metrics\n") // the client may have left
	})
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: scrapeTimeout, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = s.http.Serve(listener) }() // returns when it is closed
	return s, nil
}

// Address is where it listens.
func (s *Server) Address() string { return s.address }

// seen notes a scrape that sees the given number of finished runs.
func (s *Server) seen(runs int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.at.IsZero() {
		s.period = now.Sub(s.at)
	}
	s.at, s.reported = now, runs
	select {
	case s.scraped <- struct{}{}:
	default:
	}
}

// patience is how long a scraper may take to come again after it was expected, and the
// longest that the end waits for one.
const (
	patience    = 5 * time.Second
	longestWait = 30 * time.Second
)

// Due is how long the next periodic scrape may take to come; 0:
// no one scrapes in periods, or the last scrape saw how all runs ended.
func (s *Server) Due() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == 0 || s.reported == s.live.finishedRuns() {
		return 0
	}
	return min(max(0, time.Until(s.at.Add(s.period+patience))), longestWait)
}

// Await waits until a scrape saw how all runs ended, but no longer than Due says, nor
// until ctx ends.
func (s *Server) Await(ctx context.Context) {
	limit := time.NewTimer(s.Due())
	defer limit.Stop()
	for s.Due() > 0 {
		select {
		case <-s.scraped:
		case <-limit.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Close ends it; a scrape under way has a second left.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := s.http.Shutdown(ctx); err != nil {
		if err := s.http.Close(); err != nil {
			return fmt.Errorf("close the page of metrics: %w", err)
		}
	}
	return nil
}
