package brokers_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// topicsOfPulsar asks the web service for the topics of public/default, after it was
// asked to make one, if that is not empty.
func topicsOfPulsar(t *testing.T, c *brokers.Cluster, made string) []string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(method, path, body string) *http.Response {
		q, err := http.NewRequestWithContext(t.Context(), method, c.Info["http"]+"/admin/v2/persistent/public/default"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Content-Type", "application/json")
		a, err := client.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Body.Close() })
		return a
	}
	if made != "" {
		if a := ask(http.MethodPut, "/"+made, "null"); a.StatusCode != http.StatusNoContent {
			t.Fatalf("make a topic: %s", a.Status)
		}
	}
	var topics []string
	if err := json.NewDecoder(ask(http.MethodGet, "", "").Body).Decode(&topics); err != nil {
		t.Fatal(err)
	}
	return topics
}

func TestPulsarRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "pulsar", brokers.Options{Settings: map[string]string{"java.heap": "512m", "journalSyncData": "true"}})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "pulsar" || "http://"+u.Query().Get("http") != c.Info["http"] {
		t.Errorf("URL %s, %v, %v", c.URL, c.Info, err)
	}
	if c.Settings["journalSyncData"] != "true" {
		t.Errorf("settings %v", c.Settings)
	}
	const kept = "persistent://public/default/kept"
	if got := topicsOfPulsar(t, c, "kept"); !strings.Contains(strings.Join(got, " "), kept) {
		t.Errorf("there are %q", got)
	}
	brokertest.Restart(t, c)()
	if got := topicsOfPulsar(t, c, ""); !strings.Contains(strings.Join(got, " "), kept) {
		t.Errorf("after a restart there are %q", got)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}

func TestPulsarIsFoundWhereItsVariableSays(t *testing.T) {
	p, _ := brokers.Lookup("pulsar")
	dir := t.TempDir()
	_, java := fakeKafka(t, "3.9.1") // for its java
	if err := os.MkdirAll(filepath.Join(dir, "lib"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, jar := range []string{"org.apache.pulsar-pulsar-broker-4.0.8.jar", "org.apache.pulsar-pulsar-broker-common-4.0.8.jar"} {
		if err := os.WriteFile(filepath.Join(dir, "lib", jar), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	h := brokers.Home{Dir: t.TempDir(), Environ: []string{"PATH=" + java, "PULSAR_HOME=" + dir}}
	in, err := p.Find(t.Context(), h)
	if err != nil || in.Version != "4.0.8" || in.Path != dir {
		t.Errorf("found %+v, %v", in, err)
	}
	h.Environ[1] = "PULSAR_HOME=" + t.TempDir()
	if _, err := p.Find(t.Context(), h); err == nil || !strings.Contains(err.Error(), "PULSAR_HOME") {
		t.Errorf("an empty directory was taken for Pulsar: %v", err)
	}
}
