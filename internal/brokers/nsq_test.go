package brokers_test

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// topicsOfNSQ returns what nsqd tells of its topics, after it was asked to do
// something, if that is not empty.
func topicsOfNSQ(t *testing.T, c *brokers.Cluster, what string) string {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if what != "" {
		answer, err := client.Post(c.Info["http"]+what, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	answer, err := client.Get(c.Info["http"] + "/stats?format=json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestNSQRunsAndComesBack(t *testing.T) {
	c := brokertest.Start(t, "nsq", brokers.Options{MaxMessage: 2000, Settings: map[string]string{"mem-queue-size": "7"}})
	t.Logf("%s %s (%s) at %s in %s", c.Product, c.Version, c.Origin, c.URL, c.Dir)
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "nsq" || "http://"+u.Query().Get("http") != c.Info["http"] {
		t.Errorf("URL %s, %v, %v", c.URL, c.Info, err)
	}
	if c.Settings["mem-queue-size"] != "7" || c.Settings["max-msg-size"] != "2000" {
		t.Errorf("settings %v", c.Settings)
	}
	if got := topicsOfNSQ(t, c, "/topic/create?topic=kept"); !strings.Contains(got, `"kept"`) {
		t.Errorf("nsqd tells of %s", got)
	}
	// It is killed, and stores its topics only some time after it made them.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		known, err := os.ReadFile(filepath.Join(c.Dir, "data", "nsqd.dat"))
		if strings.Contains(string(known), `"kept"`) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("nsqd has not written down its topic: %s, %v", known, err)
		}
	}
	brokertest.Restart(t, c)()
	if got := topicsOfNSQ(t, c, ""); !strings.Contains(got, `"kept"`) {
		t.Errorf("after a restart nsqd tells of %s", got)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.Dir); !os.IsNotExist(err) {
		t.Errorf("%s is left behind: %v", c.Dir, err)
	}
}

func TestNSQIsBuiltInAModuleOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	steps, err := brokers.NSQ().Plan(t.Context(), brokers.Home{Dir: dir, Environ: []string{"PATH=" + dir}})
	if err != nil || len(steps) != 1 {
		t.Skipf("nsqd is where programs of the system are: %v, %v", steps, err)
	}
	s := steps[0]
	if !strings.Contains(s.Files["go.mod"], "replace github.com/judwhite/go-svc") || s.Moves[s.Dir] == "" || s.Root {
		t.Errorf("got %+v", s)
	}
	// It has no logins, and says so instead of running without.
	h := brokertest.Home(t)
	if _, err := brokers.NSQ().Find(t.Context(), h); err != nil {
		brokertest.Missing(t, err)
	}
	if c, err := brokers.Start(t.Context(), brokers.NSQ(), brokers.Options{Home: h, User: "ada", Password: "lovelace"}); err == nil {
		c.Stop(t.Context())
		t.Error("nsqd starts with a login that it does not have")
	}
}
