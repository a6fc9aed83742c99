package telemetry

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// scrapeTimeout bounds a scrape, and closeTimeout how long Close waits for scrapes in
// progress.
const (
	scrapeTimeout = 5 * time.Second
	closeTimeout  = time.Second
)

// Server serves the page /metrics for Prometheus: with native histograms if the scraper
// negotiates protocol buffers, else as text. Its methods are safe for concurrent use.
type Server struct {
	live    *Live
	http    *http.Server
	address string

	mu       sync.Mutex    // guards at, period and reported
	at       time.Time     // of the last scrape; zero before the first
	period   time.Duration // between the last two scrapes; 0 before the second
	reported int           // finished runs that the last scrape saw
	scraped  chan struct{} // capacity 1; gets a value, without blocking, for each scrape
}

// Listen serves live at an address until Close. Without a host it is this machine alone, as in
// ":9464"; "0.0.0.0:9464" is all interfaces.
func Listen(address string, live *Live) (*Server, error) {
	if strings.HasPrefix(address, ":") {
		address = "127.0.0.1" + address
	}
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

// Address returns the address on which it listens, with the port in use.
func (s *Server) Address() string { return s.address }

// seen records a scrape that sees the given number of finished runs.
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

// patience is how late the next scrape may be, and longestWait how long Await waits at most.
const (
	patience    = 5 * time.Second
	longestWait = 30 * time.Second
)

// Due returns how long to wait at most for the next periodic scrape: 0 if there were fewer
// than two scrapes, the next one is overdue, or the last one saw the end of all runs.
func (s *Server) Due() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.period == 0 || s.reported == s.live.finishedRuns() {
		return 0
	}
	return min(max(0, time.Until(s.at.Add(s.period+patience))), longestWait)
}

// Await waits until a scrape has seen the end of all runs, for no longer than Due, or until
// ctx ends.
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

// Close stops the server. It waits up to a second for a scrape in progress.
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
