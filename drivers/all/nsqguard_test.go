package all_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// nsqGuard is the server that nsqd asks who may do what: again after each second, when
// a client then publishes.
type nsqGuard struct {
	*brokers.Cluster

	mu    sync.Mutex
	users map[string][]deed // by secret: what they may do
}

func guardNSQ(t *testing.T) guard {
	g := &nsqGuard{users: map[string][]deed{}}
	s := httptest.NewServer(http.HandlerFunc(g.answer))
	t.Cleanup(s.Close)
	g.Cluster = brokertest.Start(t, "nsq", brokers.Options{Settings: map[string]string{"auth-http-address": strings.TrimPrefix(s.URL, "http://")}})
	return g
}

func (g *nsqGuard) url(driver string) string { return g.URLFor(driver) }

// nsqSecret is what a user logs in with.
func nsqSecret(user, password string) string { return user + ":" + password }

func (g *nsqGuard) rule(user, password string, forbidden ...deed) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for secret := range g.users {
		if strings.HasPrefix(secret, nsqSecret(user, "")) {
			delete(g.users, secret)
		}
	}
	g.users[nsqSecret(user, password)] = slices.DeleteFunc([]deed{publishing, subscribing}, func(d deed) bool { return slices.Contains(forbidden, d) })
	return nil
}

func (g *nsqGuard) answer(w http.ResponseWriter, q *http.Request) {
	g.mu.Lock()
	may, known := g.users[q.FormValue("secret")]
	g.mu.Unlock()
	if !known {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	type authorization struct {
		Topic       string   `json:"topic"`
		Channels    []string `json:"channels"`
		Permissions []deed   `json:"permissions"`
	}
	_ = json.NewEncoder(w).Encode(map[string]any{ // what nsqd does not read is its matter
		"ttl": 1, "identity": "user", "authorizations": []authorization{{".*", []string{".*"}, may}}})
}
