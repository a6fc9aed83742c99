package livepage

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/report/browsertest"
)

// limit is how long a test waits for what must come. It decides only how long a failure takes.
const limit = 2 * time.Minute

//go:embed testdata/look.html
var look string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve serves a page as a command does.
func serve(t *testing.T, address string) *Page {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(Options{Program: []string{exe, Command}, Address: address, Command: "run", Tool: "sixnines test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil && !strings.Contains(err.Error(), "already closed") {
			t.Error(err)
		}
	})
	return p
}

// recorded is a result as its lines.
func recorded(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../cli/testdata/compatibility/2026-11-26-paced.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSpace(string(text))+"\n", "\n")
}

// write appends lines to a result that grows.
func write(t *testing.T, file string, lines ...string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(strings.Join(lines, "")); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// view is what a reader of the page sees.
type view struct {
	Text     string   // above the pictures
	Note     string   // about the connection; empty: none is shown
	Charts   int      // that are drawn
	Drawing  int      // a checksum of the chart over time; 0: it is not drawn
	Heading  string   // of the first verdict; empty: none
	Refusals []string // by the page's own policy
}

// TestPageInBrowser follows two runs in a browser: the page draws what is recorded, adds what
// comes, lists the run that is over, and becomes the report of one that stands alone.
func TestPageInBrowser(t *testing.T) {
	p := serve(t, "127.0.0.1:0")
	target := &url.URL{Scheme: "http", Host: p.Address}
	seen := make(chan view)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/look":
			_, _ = io.WriteString(w, look)
		case "/seen":
			var v view
			if err := json.NewDecoder(r.Body).Decode(&v); err == nil {
				select {
				case seen <- v:
				case <-r.Context().Done():
				case <-t.Context().Done():
				}
			}
		case "/favicon.ico":
			http.NotFound(w, r)
		default:
			proxy.ServeHTTP(w, r)
		}
	}))
	defer server.CloseClientConnections()
	window := browsertest.Open(t, server.URL+"/look")
	until := func(what string, ok func(view) bool) view {
		t.Helper()
		deadline := time.After(limit)
		var last view
		for {
			select {
			case last = <-seen:
				if len(last.Refusals) > 0 {
					t.Fatalf("the page's policy refuses what the page does: %v", last.Refusals)
				}
				if ok(last) {
					return last
				}
			case <-deadline:
				t.Fatalf("%s: not seen; the page is %+v", what, last)
			case <-window.Ended():
				t.Fatalf("%s: the browser ended: %s", what, window.Words())
			}
		}
	}
	lines := recorded(t)
	first, second := filepath.Join(t.TempDir(), "first.jsonl"), filepath.Join(t.TempDir(), "second.jsonl")
	tell := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	until("a page before a run", func(v view) bool { return v.Note != "" && v.Charts == 0 })
	tell(p.Begin(first, "run 1 of 2: A & <B>"))
	half := len(lines) / 2
	// The last line is cut where its writer is.
	write(t, first, append(lines[:half:half], lines[half][:len(lines[half])/2])...)
	some := until("charts of half a run", func(v view) bool { return v.Charts > 1 && v.Drawing != 0 })
	if !strings.Contains(some.Text, "run 1 of 2: A & <B>") || some.Heading != "" {
		t.Errorf("half a run is shown as %q with the verdict %q", some.Text, some.Heading)
	}
	write(t, first, append([]string{lines[half][len(lines[half])/2:]}, lines[half+1:len(lines)-1]...)...)
	until("more of it", func(v view) bool {
		return v.Drawing != 0 && v.Drawing != some.Drawing && v.Text != some.Text && v.Charts >= some.Charts
	})
	write(t, first, lines[len(lines)-1])
	tell(p.End(true, false))
	tell(p.Begin(second, "run 2 of 2: B"))
	until("the first run in the table", func(v view) bool {
		return strings.Contains(v.Text, "run 1 of 2: A & <B>") && strings.Contains(v.Text, "run 2 of 2: B")
	})
	write(t, second, lines...)
	tell(p.End(true, true))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	until("the report at the end", func(v view) bool { return v.Heading != "" && v.Charts > 1 && strings.Contains(v.Note, "has ended") })
}

// TestPageIsForThisMachine refuses readers that came by a name of another site.
func TestPageIsForThisMachine(t *testing.T) {
	p := serve(t, ":0")
	for host, want := range map[string]int{"": http.StatusOK, "localhost:1": http.StatusOK, "[::1]": http.StatusOK, "broker.example": http.StatusForbidden, "127.0.0.1.example:80": http.StatusForbidden} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.Address+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Host = host
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("host %q: %s", host, response.Status)
		}
	}
	if !strings.HasPrefix(p.Address, "127.0.0.1:") {
		t.Errorf("without a host the page is at %s", p.Address)
	}
}

// TestPageNeedsAnAddress says which address cannot be served.
func TestPageNeedsAnAddress(t *testing.T) {
	p := serve(t, "127.0.0.1:0")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(Options{Program: []string{exe, Command}, Address: p.Address}); err == nil || !strings.Contains(err.Error(), p.Address) {
		t.Errorf("a port in use: %v", err)
	}
}
