package scenario

import (
	"strings"
	"testing"
	"time"
)

func TestBitRates(t *testing.T) {
	for text, want := range map[string]BitRate{"100mbit": 1e8, "1Gbit": 1e9, "2.5 Mbit/s": 2.5e6, "800bit": 800, "64kbit": 64e3} {
		got, err := ParseBitRate(text)
		if err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
		if back, err := ParseBitRate(got.String()); err != nil || back != got {
			t.Errorf("%s is read as %d, %v", got, back, err)
		}
	}
	for _, text := range []string{"", "100", "100MB", "-1mbit", "mbit", "1e30gbit", "3000/s"} {
		if got, err := ParseBitRate(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestShares(t *testing.T) {
	for text, want := range map[string]Share{"0.1%": 0.001, "100%": 1, "0%": 0, "33.3 %": 0.333} {
		got, err := ParseShare(text)
		if err != nil || got != want {
			t.Errorf("%q is %g, %v; want %g", text, got, err, want)
		}
		if back, err := ParseShare(got.String()); err != nil || back != got {
			t.Errorf("%s is read as %g, %v", got, back, err)
		}
	}
	for _, text := range []string{"", "0.1", "101%", "-1%", "x%"} {
		if got, err := ParseShare(text); err == nil {
			t.Errorf("%q is %g", text, got)
		}
	}
}

// Each profile has figures and their source, can be asked for, and is in the format.
func TestProfiles(t *testing.T) {
	for _, p := range Profiles() {
		n := Network{Profile: p.Name}
		if _, cause, _ := n.Problem(); cause != "" || p.Source == "" || p.What == "" {
			t.Errorf("%+v: %s", p, cause)
		}
		if r := n.Resolved(); r.Conditions != p.Conditions || r.Direction != BothDirections {
			t.Errorf("%s resolves to %+v", p.Name, r)
		}
	}
	own := Network{Profile: "wan", Conditions: Conditions{Delay: time.Second}}.Resolved()
	if own.Delay != time.Second || own.Loss != 0.005 {
		t.Errorf("%+v", own)
	}
}

func TestNetworkProblems(t *testing.T) {
	delay := Conditions{Delay: time.Millisecond}
	for _, tt := range []struct {
		n    Network
		want string
	}{
		{Network{}, "has no conditions"},
		{Network{Conditions: Conditions{Delay: time.Millisecond, Jitter: time.Second}}, "before they are sent"},
		{Network{Conditions: Conditions{Loss: 0.1, Reorder: 0.1}}, "no delay is given"},
		{Network{Conditions: delay, Between: []Party{Clients, Clients}}, "no path between these ends"},
		{Network{Conditions: delay, Between: []Party{Brokers}}, "no path between these ends"},
		{Network{Conditions: delay, Between: []Party{Brokers, Brokers}, Direction: ToBrokers}, "every packet"},
		{Network{Conditions: delay, Between: []Party{Brokers, Clients}, Direction: ToBrokers}, ""},
		{Network{Conditions: delay, Between: []Party{Brokers, Brokers}}, ""},
	} {
		if _, cause, hint := tt.n.Problem(); (cause == "") != (tt.want == "") || !strings.Contains(cause, tt.want) || (cause != "") != (hint != "") {
			t.Errorf("%+v: %q (%s), want %q", tt.n, cause, hint, tt.want)
		}
	}
}

// The page of networks has each profile with its figures and their source.
func TestProfilesAreOnThePage(t *testing.T) {
	var b strings.Builder
	for _, p := range Profiles() {
		_, figures, _ := strings.Cut(strings.TrimSuffix(Action{Network: &Network{Conditions: p.Conditions}}.String(), "}}"), "network: {")
		b.WriteString("| `" + p.Name + "` | " + figures + " | " + p.What + " | " + p.Source + " |\n")
	}
	onPage(t, "../docs/network.md", "| name | each way | what it is | source |\n|---|---|---|---|\n", b.String())
}

// The network of a whole run is checked as that of an action is, is in each workload's part, and excludes
// actions on the network.
func TestNetworkOfTheRun(t *testing.T) {
	s, err := Parse("x.yaml", []byte("network: {profile: wan, delay: 1ms}\nworkloads:\n  a: {}\n  b: {}\n"))
	if err != nil || s.Validate() != nil {
		t.Fatal(err, s.Validate())
	}
	for _, p := range s.Parts() {
		if p.Scenario.Network == nil || p.Scenario.Network.Resolved().Loss != 0.005 || p.Scenario.Network == s.Network {
			t.Errorf("%s has %+v", p.Name, p.Scenario.Network)
		}
	}
	text, err := s.Encode()
	if err != nil || !strings.Contains(string(text), "profile: wan") {
		t.Errorf("%v\n%s", err, text)
	}
	for text, want := range map[string]string{
		"network: {}":                                        "the action network has no conditions",
		"network: {delay: 1ms, jitter: 2ms}":                 "before they are sent",
		"network: {delay: 1ms, between: [brokers, brokers]}": "the broker has one",
		"network: {delay: 1ms}\nactions: [{at: 1s, network: {delay: 2ms}, for: 1s}]":                "cannot be under both",
		"network: {delay: 1ms, between: [brokers, brokers]}\ntarget: {url: \"nats://127.0.0.1:1\"}": "needs a broker that is started for the run",
	} {
		s, err := Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	among := &Scenario{Network: &Network{Between: []Party{Brokers, Brokers}}}
	if !among.Apart() {
		t.Error("nodes between which the network has conditions need namespaces")
	}
}
