package agent

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/internal/fleet/wire"
)

// loader is a runner that only says how much falls to a plan.
type loader struct {
	Runner
	load Load
}

func (l loader) Load(*Plan) (Load, error) { return l.load, nil }

// options are those of a driver.
type options struct {
	Token string `option:"token" secret:"true" doc:"token"`
	Creds string `option:"creds" names:"file" doc:"credentials file"`
	HTTP  string `option:"http_url" names:"address" parameter:"http" doc:"where the monitoring is"`
}

type opensNothing struct{ driver.Driver }

func newAgent(t *testing.T, allow Allow) *agent {
	t.Helper()
	pair, public, err := wire.NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	return &agent{curve: pair, hello: wire.Hello{Curve: public}, Config: Config{Allow: allow, Runner: loader{load: Load{Rate: 1000, Size: 256, Connections: 5}},
		Drivers: driver.NewSet(driver.Entry{Name: "d", DefaultURL: "d://h", Options: &options{}, Driver: opensNothing{}}),
		Lookup:  func(name string) (string, bool) { return "of " + name, true }}}
}

func ask(scenario string) *wire.Plan {
	return &wire.Plan{Run: "r", Scenario: scenario, Segment: wire.Segment{Of: 1}, Patience: time.Second, Limit: time.Second}
}

// An authenticated coordinator, too, gets nothing of the machine but what its user allows.
func TestForbiddenPlans(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	target := func(more string) string { return "target: {driver: d, url: 'd://h1:1'" + more + "}\n" }
	var tls, creds, all Allow
	for a, texts := range map[*Allow][]string{&tls: {"tls-ca=" + file}, &creds: {"option.creds=" + file}, &all: {"tls-ca=" + file, "trace=t", "payload=p", "env=A"}} {
		for _, text := range texts {
			if err := a.Add(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	targets := Allow{}
	for _, x := range []string{"h1:1", "h2:*"} {
		if err := targets.AddTarget(x); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name     string
		allow    Allow
		scenario string
		refused  wire.Refusal
		says     string
	}{
		{"nothing special", Allow{}, target(""), "", ""},
		{"a broker to start", Allow{}, "target: {driver: d}", wire.RefusedForbidden, "starts no broker"},
		{"a product", Allow{}, "target: {driver: d, url: 'd://h1:1', nodes: 3}", "", ""},
		{"an authority", Allow{}, target(", tls: {ca: /etc/passwd}"), wire.RefusedForbidden, "/etc/passwd"},
		{"another authority than the allowed one", tls, target(", tls: {ca: /etc/passwd}"), wire.RefusedForbidden, "--allow tls-ca=FILE"},
		{"an authority that is allowed", tls, target(", tls: {ca: " + file + "}"), "", ""},
		{"a client's key", tls, target(", tls: {key: " + file + ", cert: " + file + "}"), wire.RefusedForbidden, "tls-cert"},
		{"an option's file", Allow{}, target(", options: {creds: " + file + "}"), wire.RefusedForbidden, "option.creds"},
		{"an option's file that is allowed", creds, target(", options: {creds: " + file + "}"), "", ""},
		{"a text from a file", all, target(", options: {token: '@" + file + "'}"), wire.RefusedForbidden, "a file"},
		{"a trace", Allow{}, target("") + "workload: {arrivals: 'trace:" + file + "'}", wire.RefusedForbidden, "trace"},
		{"a payload", Allow{}, target("") + "workload: {payload: 'file:" + file + "'}", wire.RefusedForbidden, "payload"},
		{"the environment", Allow{}, target(", options: {token: '${HOME}'}"), wire.RefusedForbidden, "HOME"},
		{"the environment, with a default", Allow{}, target(", options: {token: '${HOME:-x}'}"), wire.RefusedForbidden, "HOME"},
		{"the environment by reference", Allow{}, target(", options: {token: 'env:HOME'}"), wire.RefusedForbidden, "HOME"},
		{"the environment that is allowed", all, target(", options: {token: '${A}'}"), "", ""},
		{"a fault", Allow{}, target("") + "actions: [{at: 1s, kill: {node: leader}}]", wire.RefusedForbidden, "kill"},
		{"a network", Allow{}, target("") + "network: {delay: 5ms}", wire.RefusedForbidden, "network"},
		{"an action of clients", Allow{}, target("") + "actions: [{at: 1s, disconnect: consumers}]", "", ""},
		{"a target", targets, "target: {driver: d, url: 'd://h3:1'}", wire.RefusedForbidden, "h3:1 is not allowed"},
		{"another port", targets, "target: {driver: d, url: 'd://h1:2'}", wire.RefusedForbidden, "h1:2"},
		{"one of two targets", targets, "target: {driver: d, url: 'd://h1:1,d://h3:1'}", wire.RefusedForbidden, "h3:1"},
		{"targets that are allowed", targets, "target: {driver: d, url: 'd://h1:1,d://me:pw@h2:77/path?x=1'}", "", ""},
		{"a login that looks like a target", targets, "target: {driver: d, url: 'd://h1:1@h3:1'}", wire.RefusedForbidden, "h3:1"},
		{"a target without a port", targets, "target: {driver: d, url: 'd://h1'}", wire.RefusedForbidden, "no port"},
		{"a target in a parameter", targets, "target: {driver: d, url: 'd://h1:1?http=h3:1'}", wire.RefusedForbidden, "h3:1"},
		{"a target without a port in a parameter", targets, "target: {driver: d, url: 'd://h1:1/?http=h3'}", wire.RefusedForbidden, "no port"},
		{"an allowed host without a port in a parameter", targets, "target: {driver: d, url: 'd://h1:1/?http=h1'}", wire.RefusedForbidden, "no port"},
		{"a target in a parameter that is allowed", targets, "target: {driver: d, url: 'd://h1:1/?http=h2:9&x=y'}", "", ""},
		{"a target before a fragment", targets, "target: {driver: d, url: 'd://h3:1#@h1:1'}", wire.RefusedForbidden, "h3:1"},
		{"a target in an option", targets, target(", options: {http_url: 'http://h3:1'}"), wire.RefusedForbidden, "h3:1"},
		{"an option's target that is allowed", targets, target(", options: {http_url: 'http://h2:1'}"), "", ""},
		{"a socket's file", Allow{}, "target: {driver: d, url: 'ipc:///var/run/x'}", wire.RefusedForbidden, "file system"},
		{"a socket's file, in capitals", Allow{}, "target: {driver: d, url: 'd://h1:1,UNIX:///var/run/x'}", wire.RefusedForbidden, "file system"},
		{"a rate", Allow{Rate: 999}, target(""), wire.RefusedForbidden, "--max-rate"},
		{"a rate that is allowed", Allow{Rate: 1000}, target(""), "", ""},
		{"connections", Allow{Connections: 4}, target(""), wire.RefusedForbidden, "--max-connections"},
		{"connections that are allowed", Allow{Connections: 5}, target(""), "", ""},
		{"a size", Allow{Size: 255}, target(""), wire.RefusedForbidden, "--max-size"},
		{"more streams than memory", Allow{}, target("") + "workload: {pattern: publish, producers: 1048575, topics: 1048574}", wire.RefusedInvalid, "streams"},
		{"another driver", Allow{}, "target: {driver: e, url: 'd://h1:1'}", wire.RefusedInvalid, "no driver"},
		{"no scenario", Allow{}, "nonsense", wire.RefusedInvalid, ""},
		{"an option that there is not", Allow{}, target(", options: {x: 1}"), wire.RefusedInvalid, ""},
	} {
		plan, refused := newAgent(t, tt.allow).accept(ask(tt.scenario))
		if refused == nil {
			refused = &wire.Answer{}
		}
		if tt.name == "a product" { // Validate refuses it before
			if plan != nil {
				t.Error("a broker's nodes are accepted")
			}
			continue
		}
		if refused.Refused != tt.refused || !strings.Contains(refused.Why, tt.says) || (plan == nil) != (tt.refused != "") || strings.Contains(refused.Why, "hunter2") {
			t.Errorf("%s: %+v; want %q with %q", tt.name, refused, tt.refused, tt.says)
		}
		if err := refused.Check(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFlatOutIsAboveEveryRate(t *testing.T) {
	a := newAgent(t, Allow{Rate: math.MaxInt64})
	for rate, refused := range map[float64]bool{math.Inf(1): true, math.NaN(): true, 5: false} {
		a.Runner = loader{load: Load{Rate: rate}}
		if _, got := a.accept(ask("target: {driver: d, url: 'd://h1:1'}")); (got != nil) != refused {
			t.Errorf("%v: %+v", rate, got)
		}
	}
}

// Values come sealed, and take precedence over this machine's.
func TestSealedValues(t *testing.T) {
	a := newAgent(t, Allow{})
	sender, public, err := wire.NewCurve()
	if err != nil {
		t.Fatal(err)
	}
	p := ask("target: {driver: d, url: '${URL}', options: {token: '${TOKEN}'}}")
	if p.Sealed, err = wire.Seal(sender, a.hello.Curve, map[string]string{"URL": "d://h1:1", "TOKEN": "hunter2"}); err != nil {
		t.Fatal(err)
	}
	p.Sender = public
	plan, refused := a.accept(p)
	if refused != nil || plan.Scenario.Target.URL != "d://h1:1" || plan.Scenario.Target.Options["token"] != "hunter2" {
		t.Fatalf("%+v", refused)
	}
	if _, refused := newAgent(t, Allow{}).accept(p); refused == nil || refused.Refused != wire.RefusedMalformed {
		t.Errorf("another agent opens them: %+v", refused)
	}
}

func TestWhatCanBeAllowed(t *testing.T) {
	for _, text := range []string{"", "tls-ca", "tls-ca=", "exec=rm", "option.=f", "=f"} {
		if err := new(Allow).Add(text); err == nil {
			t.Errorf("%q is allowed", text)
		}
	}
	for _, text := range []string{"", "h1", ":1", "h1:", "h1:1:2"} {
		if err := new(Allow).AddTarget(text); err == nil {
			t.Errorf("the target %q is allowed", text)
		}
	}
}
