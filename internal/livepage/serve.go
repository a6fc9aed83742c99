package livepage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"sixnines/internal/report"
	"sixnines/internal/thread"
	"sixnines/result"
)

const (
	shortest = time.Second      // from one update to the next
	share    = 20               // an update is followed by a pause of this many times its length
	patience = 10 * time.Second // for those who look at the page, to have the last update
)

// Serve is the process of a page: it serves what its input says until the input ends.
func Serve(in io.Reader, out io.Writer) error {
	runtime.GOMAXPROCS(1)
	thread.IdleProcess()
	messages := json.NewDecoder(in)
	var first told
	if err := messages.Decode(&first); err != nil || first.Serve == nil {
		return errors.Join(errors.New("livepage: the first message must say what to serve; only a command that makes runs starts this"), err)
	}
	s := &server{changed: make(chan struct{}), wanted: make(chan struct{}, 1)}
	address, err := s.listen(*first.Serve)
	if err != nil {
		return json.NewEncoder(out).Encode(answer{Error: err.Error()})
	}
	if err := json.NewEncoder(out).Encode(answer{Address: address}); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var updating sync.WaitGroup
	updating.Go(func() { s.update(ctx) })
	for {
		var m told
		if err := messages.Decode(&m); err != nil {
			break // the command has ended
		}
		s.take(m)
	}
	cancel()
	updating.Wait()
	s.last()
	return s.http.Close()
}

// server serves one page.
type server struct {
	http *http.Server
	page string // its text

	mu       sync.Mutex // guards the fields below
	now      report.LiveRuns
	file     *growing // of the run under way; nil: none
	watchers int
	text     []byte        // the last update
	changed  chan struct{} // closed when text changes
	over     bool          // text is the last one there will be
	left     sync.WaitGroup

	wanted chan struct{} // capacity 1: somebody began to look, or a run began or ended
}

// listen begins to serve the page.
func (s *server) listen(o served) (address string, err error) {
	if strings.HasPrefix(o.Address, ":") {
		o.Address = "127.0.0.1" + o.Address
	}
	var page strings.Builder
	if err := report.LivePage(&page, "sixnines "+o.Command, o.Tool); err != nil {
		return "", err
	}
	s.page = page.String()
	listener, err := net.Listen("tcp", o.Address)
	if err != nil {
		return "", err
	}
	alone := listener.Addr().(*net.TCPAddr).IP.IsLoopback()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		_, _ = io.WriteString(w, s.page) // the reader may have left
	})
	mux.HandleFunc("GET /events", s.events)
	s.http = &http.Server{ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Pages of other sites cannot read this one by a name of theirs that leads here.
			if alone && !loopback(r.Host) {
				http.Error(w, "this page is for this machine alone: open it as http://"+listener.Addr().String()+"/", http.StatusForbidden)
				return
			}
			mux.ServeHTTP(w, r)
		})}
	go func() { _ = s.http.Serve(listener) }() // returns when it is closed
	return listener.Addr().String(), nil
}

// loopback reports whether a host, with or without a port, is this machine's loopback.
func loopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// events sends the updates to one reader, each time the newest: one that is slow leaves out
// those in between.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	s.mu.Lock()
	s.watchers++
	s.left.Add(1)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers--
		s.left.Done()
	}()
	s.want()
	w.WriteHeader(http.StatusOK)
	to := http.NewResponseController(w)
	if to.Flush() != nil {
		return
	}
	var sent []byte
	for {
		s.mu.Lock()
		text, changed, over := s.text, s.changed, s.over
		s.mu.Unlock()
		if len(text) > 0 && (len(sent) == 0 || &text[0] != &sent[0]) {
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil || to.Flush() != nil {
				return
			}
			sent = text
		}
		if over {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// want asks for an update soon.
func (s *server) want() {
	select {
	case s.wanted <- struct{}{}:
	default:
	}
}

// take takes a message of the command.
func (s *server) take(m told) {
	s.mu.Lock()
	switch {
	case m.Begin != nil:
		s.file = &growing{path: m.Begin.File}
		s.now.Doing, s.now.Run, s.now.Final = m.Begin.About, nil, nil
	case m.End != nil && s.file != nil:
		s.end(*m.End)
	}
	s.mu.Unlock()
	s.want()
}

// end ends the run under way. The caller holds mu.
func (s *server) end(m ended) {
	path := s.file.path
	about := s.now.Doing
	s.file, s.now.Run, s.now.Doing = nil, nil, ""
	if !m.Kept {
		return
	}
	run, err := result.Load(path)
	switch {
	case err != nil:
		s.now.Doing = err.Error()
	case m.Alone:
		s.now.Final = run
	default:
		s.now.Made = append(s.now.Made, report.NewLiveRow(about, run))
	}
}

// update makes updates while somebody looks at the page, until ctx ends.
func (s *server) update(ctx context.Context) {
	for {
		began := time.Now()
		s.mu.Lock()
		if s.watchers > 0 {
			s.make()
		}
		s.mu.Unlock()
		pause := max(shortest, share*time.Since(began))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		s.mu.Lock()
		idle := s.watchers == 0 || s.file == nil
		s.mu.Unlock()
		if !idle {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-s.wanted:
		}
	}
}

// last makes the update that ends the page, and waits a moment for those who look at it.
func (s *server) last() {
	s.mu.Lock()
	s.now.Over, s.over = true, true
	if s.watchers > 0 {
		s.make()
	}
	s.mu.Unlock()
	gone := make(chan struct{})
	go func() { s.left.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-time.After(patience):
	}
}

// make makes an update. The caller holds mu.
func (s *server) make() {
	if s.file != nil {
		run, err := s.file.read()
		if s.now.Run = run; err != nil {
			s.now.Doing = err.Error()
		}
	}
	text, err := report.LiveUpdate(s.now)
	if err != nil { // the page stays as it was
		return
	}
	s.text = text
	close(s.changed)
	s.changed = make(chan struct{})
}
