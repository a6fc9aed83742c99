package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"sixnines/internal/compare"
	"sixnines/internal/report/browsertest"
	"sixnines/result"
)

// browserLimit is how long the browser may take for all pages. It decides only how
// long a failure takes.
const browserLimit = 2 * time.Minute

//go:embed testdata/browser.html
var browserHarness string

// seen is what a browser found of a page at a width and in a colour scheme.
type seen struct {
	Page          string
	Width         int
	Dark          bool
	Client        int      // width of the page's window
	Scroll        int      // and of what is in it
	Over          []string // what sticks out, if anything does
	Pictures      int      // static pictures that are shown
	Live          int      // pictures that were drawn by the page's script
	Lines         int      // with a length, in all static pictures
	Faults        []string // pictures without size, lines without length, labels beyond their picture, empty canvases
	Background    float64  // lightness of the page's, 0 to 1
	Requests      []string // what the page loaded
	Violations    []string // of its content security policy
	Unnamed       int      // pictures without a name for those who do not see them
	Failed        string   // why it could not be looked at
	Anchors, Dead int      // links within the page, and those that lead nowhere
}

// open shows each page at both widths, light and dark, in one browser, and returns
// what it found. Every request that the browser makes is for a page or fails the
// test.
func open(t *testing.T, pages map[string]string) []seen {
	t.Helper()
	found := make(chan []byte, 1)
	var mu sync.Mutex
	var strangers []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".html")
		w.Header().Set("Cache-Control", "no-store")
		switch text, ok := pages[name]; {
		case r.URL.Path == "/":
			var names []string
			for name := range pages {
				names = append(names, name)
			}
			list, _ := json.Marshal(names) // strings can be encoded
			_, _ = io.WriteString(w, strings.Replace(browserHarness, "PAGES", string(list), 1))
		case r.URL.Path == "/found" && r.Method == http.MethodPost:
			body, err := io.ReadAll(r.Body)
			if err == nil {
				select {
				case found <- body:
				default:
				}
			}
		case ok:
			_, _ = io.WriteString(w, text)
		case r.URL.Path == "/favicon.ico": // the browser's own wish
			http.NotFound(w, r)
		default:
			mu.Lock()
			strangers = append(strangers, r.URL.String())
			mu.Unlock()
			http.NotFound(w, r)
		}
	}))
	defer server.Close()

	window := browsertest.Open(t, server.URL+"/")
	var answer []byte
	select {
	case answer = <-found:
	case <-time.After(browserLimit):
		t.Fatalf("the browser has not looked at the pages in %v", browserLimit)
	case <-window.Ended():
		t.Fatalf("the browser ended before it had looked at the pages: %s", window.Words())
	}
	var out []seen
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	mu.Lock()
	defer mu.Unlock()
	for _, s := range strangers {
		t.Errorf("a page asked for %s", s)
	}
	if want := 4 * len(pages); len(out) != want {
		t.Errorf("the browser looked at %d of %d views", len(out), want)
	}
	return out
}

// name is a view in words.
func (s seen) name() string {
	scheme := "light"
	if s.Dark {
		scheme = "dark"
	}
	return fmt.Sprintf("%s at %d px, %s", s.Page, s.Width, scheme)
}

// TestPagesInBrowser opens each kind of page in a browser: pictures are drawn, lines
// have points, nothing sticks out of the window, nothing is loaded, and both colour
// schemes are followed.
func TestPagesInBrowser(t *testing.T) {
	shown := map[string]string{}
	for _, name := range []string{"one", "pair", "rich", "repeats", "ten", "hostile"} {
		shown[name] = htmlOf(t, Options{Command: "sixnines run"}, pages()[name]...)
	}
	var b bytes.Buffer
	if err := SweepHTML(&b, swept(t, "rate=1k/s,2k/s,4k/s,8k/s", "size=128B,1KiB")); err != nil {
		t.Fatal(err)
	}
	shown["sweep"] = b.String()
	b.Reset()
	var sides [2][]*result.Run
	curves := openRun().make().Metrics
	c := compareSets(t, 8, 1.2, func(side int, r *result.Run) {
		r.Metrics = curves
		sides[side] = append(sides[side], r)
	})
	if err := CompareHTML(&b, []*compare.Comparison{c}, sides[0], sides[1]); err != nil {
		t.Fatal(err)
	}
	shown["compare"] = b.String()
	shown["history"] = historyPage(t)
	shown["study"] = studyPage(t, studyOutcome(t))
	for _, s := range open(t, shown) {
		if s.Failed != "" {
			t.Errorf("%s: %s", s.name(), s.Failed)
			continue
		}
		if s.Scroll > s.Client {
			t.Errorf("%s: %d px wide, in a window of %d: %v", s.name(), s.Scroll, s.Client, s.Over)
		}
		if s.Pictures+s.Live == 0 || s.Lines == 0 {
			t.Errorf("%s: %d pictures, %d of them live, with %d lines", s.name(), s.Pictures, s.Live, s.Lines)
		}
		if s.Unnamed > 0 {
			t.Errorf("%s: %d pictures have no name", s.name(), s.Unnamed)
		}
		for _, faults := range [][]string{s.Faults, s.Requests, s.Violations} {
			for _, f := range faults {
				t.Errorf("%s: %s", s.name(), f)
			}
		}
		if dark := s.Background < 0.3; dark != s.Dark {
			t.Errorf("%s: the background's lightness is %g", s.name(), s.Background)
		}
		if s.Dead > 0 {
			t.Errorf("%s: %d of %d links lead nowhere", s.name(), s.Dead, s.Anchors)
		}
	}
}
