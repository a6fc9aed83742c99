package brokers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/nullbroker"
)

func TestNullProduct(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	c, err := Start(t.Context(), Null(), Options{Home: natsHome(), Settings: map[string]string{"delay": "rare( delay=1ms, every=10 )", "server": "1us,2us@5s", "log": log}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Stop(t.Context())
	if !strings.HasPrefix(c.URL, "null://127.0.0.1:") || c.Origin != builtIn || c.Version == "" || c.URLFor("null") != c.URL || c.Info["log"] != log {
		t.Errorf("reported as %+v", c)
	}
	if s := c.Settings; s["seed"] != "1" || s["server"] != "1us,2us@5s" || !strings.HasPrefix(s["delay"], "rare(") {
		t.Errorf("in effect are %v", s)
	}
	before := c.Nodes()[0].PID
	restarted(t, c) // the log is there by now, and goes on
	if c.Nodes()[0].PID == before {
		t.Error("the process is the same after a restart")
	}
	f, err := os.Open(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := nullbroker.ReadLog(f, func(nullbroker.Entry) error { return nil }); err != nil {
		t.Error(err)
	}
}

// A wrong setting is refused before anything is started or written.
func TestNullRefusesSettings(t *testing.T) {
	there := filepath.Join(t.TempDir(), "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		settings map[string]string
		word     string
	}{
		"unknown":         {map[string]string{"dealy": "none"}, "null broker are delay, server, seed and log"},
		"law":             {map[string]string{"delay": "normal(1ms)"}, "want none, 1ms, exponential("},
		"server":          {map[string]string{"server": "100"}, "wrong setting server"},
		"seed":            {map[string]string{"seed": "-1"}, "is not a whole number"},
		"no log":          {map[string]string{"log": " "}, "give the name of a file"},
		"log is there":    {map[string]string{"log": there}, "exists"},
		"log in nothing":  {map[string]string{"log": there + ".not/log"}, "no such file"},
		"log in a file":   {map[string]string{"log": there + "/log"}, "is not a directory"},
		"several at once": {map[string]string{"delay": "none", "seed": "x"}, "seed"},
	} {
		c, err := Start(t.Context(), Null(), Options{Home: natsHome(), Settings: tt.settings})
		if err == nil {
			t.Errorf("%s: it starts", name)
			c.Stop(t.Context())
			continue
		}
		if !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), tt.word) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, o := range map[string]Options{"logins": {User: "ada"}, "encrypt": {TLS: &ServerTLS{}}, "carries": {MaxMessage: nullbroker.MaxPayload + 1}} {
		o.Home = natsHome()
		if _, err := Start(t.Context(), Null(), o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
