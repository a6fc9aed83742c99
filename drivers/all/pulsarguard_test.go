package all_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
	"sixnines/internal/engine"
)

// pulsarGuard issues tokens, and says by Pulsar's web service what their roles may do.
type pulsarGuard struct {
	*brokers.Cluster
	key [sha256.Size]byte
}

func guardPulsar(t *testing.T) *pulsarGuard {
	const password = "root"
	return &pulsarGuard{key: sha256.Sum256([]byte(password)), Cluster: brokertest.Start(t, "pulsar", brokers.Options{User: "root", Password: password,
		Settings: map[string]string{"java.heap": "512m", "authorizationEnabled": "true", "authenticationRefreshCheckSeconds": "1"}})}
}

func (g *pulsarGuard) url(driver string) string { return g.URLFor(driver) }

// token is a JSON Web Token of a role, which expires in so long.
func (g *pulsarGuard) token(role string, in time.Duration) string {
	claims, _ := json.Marshal(map[string]any{"sub": role, "exp": time.Now().Add(in).Unix()}) // of these it never fails
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." + base64.RawURLEncoding.EncodeToString(claims)
	sign := hmac.New(sha256.New, g.key[:])
	sign.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(sign.Sum(nil))
}

func (g *pulsarGuard) rule(role, _ string, forbidden ...deed) error {
	may := []string{}
	for d, action := range map[deed]string{publishing: "produce", subscribing: "consume"} {
		if !slices.Contains(forbidden, d) {
			may = append(may, action)
		}
	}
	body, err := json.Marshal(may)
	if err != nil {
		return err
	}
	q, err := http.NewRequest(http.MethodPost, g.Info["http"]+"/admin/v2/namespaces/public/default/permissions/"+role, bytes.NewReader(body))
	if err != nil {
		return err
	}
	q.Header.Set("Authorization", "Bearer "+g.Info["token"])
	q.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		text, _ := io.ReadAll(answer.Body) // if there is any
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	return nil
}

// Pulsar lets nobody in whose token has expired, before the window and within it; and a role
// may not do what it was not granted, or is granted no longer. Its topics are those that the
// administrator has made, since only he may.
func TestPulsarRefuses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Pulsar")
	}
	t.Parallel()
	g := guardPulsar(t)
	of := func(at instant, pattern string) *refusal {
		return &refusal{manner: manner{driver: "pulsar", blind: true}, at: at, pattern: pattern, producers: 2, after: 20, toTheEnd: true}
	}
	run := func(t *testing.T, c *refusal, token string, refuse func(*watched) error, more ...string) *refusing {
		return c.run(t, g, append([]string{"--option", "token=" + token}, more...), refuse)
	}
	check := func(t *testing.T, c *refusal, r *refusing, words string) {
		says := func(where, text string) {
			t.Helper()
			if !strings.Contains(text, words) {
				t.Errorf("%s does not say %q", where, words)
			}
		}
		if c.at == inWindow || c.at == atRelogin {
			c.judge(t, r, says)
		} else if says("stderr", r.errs); r.code != 1 || !strings.Contains(r.errs, "hint: ") {
			t.Errorf("exit code %d", r.code)
		}
		if t.Failed() {
			t.Logf("%s\n%s\nheard: %v", r.errs, r.out, r.w.heard)
		}
	}
	nothing := func(*watched) error { return nil }
	t.Run("cases", func(t *testing.T) {
		for name, token := range map[string]string{"expired": g.token("root", -time.Minute), "forged": g.token("root", time.Hour) + "x", "not an administrator": g.token("nobody", time.Hour)} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c := of(atConnect, "deliver")
				check(t, c, run(t, c, token, nothing), map[bool]string{true: "AuthorizationError", false: "Failed to authenticate"}[name == "not an administrator"])
			})
		}
		for _, pattern := range []string{"publish", "deliver"} {
			t.Run("expires, "+pattern, func(t *testing.T) {
				t.Parallel()
				c := of(atRelogin, pattern)
				r := run(t, c, g.token("root", 6*time.Second), nothing)
				// On a busy machine it expires before the window.
				for in := 12 * time.Second; r.code == 1 && in < refusalPatience/2; in *= 2 {
					r = run(t, c, g.token("root", in), nothing)
				}
				check(t, c, r, "Failed to authenticate")
				if !strings.Contains(r.out, "given up") {
					t.Errorf("the first screen does not say that the connections were given up: %s", r.out)
				}
			})
		}
		// Only an administrator makes topics, and he may do all: the user of these may not.
		t.Run("revoked", func(t *testing.T) {
			t.Parallel()
			c := of(inWindow, "publish")
			left := g.leaves(t)
			if err := g.rule("ada", ""); err != nil {
				t.Fatal(err)
			}
			r := run(t, c, g.token("ada", time.Hour), func(*watched) error { return g.rule("ada", "", publishing) }, "--existing", left)
			check(t, c, r, "AuthorizationError")
		})
	})
}

// leaves returns the name of what a run of the administrator has left.
func (g *pulsarGuard) leaves(t *testing.T) string {
	t.Helper()
	e, _ := all.Set().Lookup("pulsar")
	r, err := engine.Run(t.Context(), engine.Config{Entry: e, URL: g.url("pulsar"), File: filepath.Join(t.TempDir(), "run.jsonl"),
		Scenario: parse(t, fmt.Sprintf("target: {driver: pulsar, options: {token: %s}}\nworkload: {pattern: publish, messages: 20, rate: max, lifetime: keep}\nphases: {warmup: 0s}", g.Info["token"]))})
	if err != nil {
		t.Fatal(err)
	}
	return r.Header.LeftAs
}
