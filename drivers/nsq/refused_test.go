package nsq_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// TestRefusedLater has nsqd let nobody in any more, in the middle of a run: connections
// are given up after a few attempts, and what is sent then fails with nsqd's words.
func TestRefusedLater(t *testing.T) {
	var forbidden atomic.Bool
	var asked atomic.Int64
	judge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if forbidden.Load() {
			asked.Add(1)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		io.WriteString(w, `{"ttl":1,"identity":"ada","authorizations":[{"permissions":["subscribe","publish"],"topic":".*","channels":[".*"]}]}`)
	}))
	defer judge.Close()
	c := brokertest.Start(t, "nsq", brokers.Options{Settings: map[string]string{"auth-http-address": strings.TrimPrefix(judge.URL, "http://")}})
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			forbidden.Store(false)
			var told sessiontest.Events
			s := open(t, driver.Target{URL: c.URL, Notify: told.Notify, Options: map[string]any{"auth_secret": "lovelace", "client": client}})
			if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, MaxSize: 64}); err != nil {
				t.Fatal(err)
			}
			var acks sessiontest.Counter
			p := sessiontest.Produce(t, s, &acks)
			asked.Store(0)
			forbidden.Store(true)
			limit := time.Now().Add(time.Minute)
			for n := 0; n == 0; n, _ = told.Count(driver.GivenUp) {
				_ = p.Send(1, []byte("x")) // nsqd asks again when a permission has run out
				if time.Now().After(limit) {
					t.Fatalf("the connection is not given up; events %+v", told.All())
				}
				time.Sleep(10 * time.Millisecond) // between messages
			}
			if n := asked.Load(); n > 8 {
				t.Errorf("nsqd refused %d times", n)
			}
			if err := p.Send(2, []byte("x")); !errors.Is(err, driver.ErrUnauthorized) || !strings.Contains(err.Error(), "E_AUTH_FAILED") {
				t.Errorf("what is sent then: %v", err)
			}
		})
	}
}
