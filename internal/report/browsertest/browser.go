// Package browsertest opens pages in a headless browser.
package browsertest

import (
	"bytes"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// Browser is a browser that shows a page until its test ends.
type Browser struct {
	ended chan struct{}
	words *words
}

// Open opens an address of loopback. The test is skipped where no browser is, or fails where
// nothing may be missing: SIXNINES_BROKERS_REQUIRED, which CI sets, is about all that tests
// are run against. Whatever a page asks for, only loopback can be reached.
func Open(t *testing.T, address string) *Browser {
	t.Helper()
	c := exec.CommandContext(t.Context(), Command(t), "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking",
		"--disable-dev-shm-usage", "--user-data-dir="+Directory(t), "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--window-size=1700,1000",
		"--remote-debugging-port=0", address)
	b := &Browser{ended: make(chan struct{}), words: &words{}}
	c.Stderr = b.words
	c.WaitDelay = 10 * time.Second
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(b.ended)
		_ = c.Wait() // the test's end kills it
	}()
	t.Cleanup(func() { <-b.ended }) // after the test's context has ended
	return b
}

// Ended is closed when the browser has ended.
func (b *Browser) Ended() <-chan struct{} { return b.ended }

// Words are what the browser has said on standard error so far.
func (b *Browser) Words() string { return b.words.String() }

// Command is the command of a headless browser; see [Open] where none is.
func Command(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const why = "no browser: install the package chromium to have pages opened in one"
	if os.Getenv("SIXNINES_BROKERS_REQUIRED") != "" {
		t.Fatalf("%s (SIXNINES_BROKERS_REQUIRED is set)", why)
	}
	t.Skip("SKIPPED: " + why)
	return ""
}

// Directory is a directory for a browser's own files. Its child processes outlive it for
// a moment and write there, so that removing it may have to be tried again.
func Directory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sixnines-browser-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		var err error
		for range 200 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Logf("left behind: %v", err)
	})
	return dir
}

// words are what a process says, which may be read while it runs.
type words struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write never fails.
func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}
