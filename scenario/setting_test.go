package scenario

import (
	"maps"
	"testing"
)

func TestSettings(t *testing.T) {
	s := mustParse(t, "target:\n  managed: redis\n  nodes: 3\n  settings: {appendonly: yes, hz: 100, share: 0.50, off: false, save: \"\", a.b: c}\n")
	want := map[string]string{"appendonly": "yes", "hz": "100", "share": "0.50", "off": "false", "save": "", "a.b": "c"}
	if !maps.Equal(s.Target.Settings, want) {
		t.Errorf("got %q, want %q: values are the text as it was written", s.Target.Settings, want)
	}
	if s.Target.Managed != "redis" || s.Target.Nodes != 3 {
		t.Errorf("%+v", s.Target)
	}
	if err := s.Apply(Override{"target.settings.hz", "7", "--setting hz"}, Override{"target.settings.x.y", "= z", "--setting x.y"}, Override{"target.nodes", "1", "--nodes"}); err != nil {
		t.Fatal(err)
	}
	want["hz"], want["x.y"] = "7", "= z"
	if !maps.Equal(s.Target.Settings, want) || s.Target.Nodes != 1 {
		t.Errorf("got %+v", s.Target)
	}
	if err := s.Apply(Override{"target.settings", "{a: 1}", ""}); err != nil || !maps.Equal(s.Target.Settings, map[string]string{"a": "1"}) {
		t.Errorf("a whole mapping: %v, %v", s.Target.Settings, err)
	}
}

func TestWrongSettings(t *testing.T) {
	for text, want := range map[string]string{
		"target: {settings: [a]}\n":            "x.yaml:1:20: target.settings is a list, not a mapping (write name: value, one a line)",
		"target: {settings: {a: [1]}}\n":       "x.yaml:1:24: target.settings.a is a list, not a text",
		"target: {settings: {a: }}\n":          "target.settings.a has no value (write one, or \"\" for an empty one)",
		"target: {settings: {a: \"b\\nc\"}}\n": "x.yaml:1:24: the value of \"a\" is not one line",
		"target: {settings: {\"\": b}}\n":      "a setting has no name",
		"target: {settings: {a: 1, a: 2}}\n":   "duplicate key \"a\" in target.settings",
		"target: {nodes: 0.5}\n":               "\"0.5\" is not a whole number",
		"target: {nodes: 100}\n":               "100 is too large for nodes (1 to 99)",
		"target: {managed: Ka fka}\n":          "\"Ka fka\" is not allowed for managed",
		"target: {mananged: kafka}\n":          "did you mean managed?",
	} {
		_, err := Parse("x.yaml", []byte(text))
		wantError(t, err, want)
	}
	for text, want := range map[string]string{
		"target: {url: \"x://y\", managed: kafka}\n":    "x.yaml:1:33: both a broker to start and the address of a running one",
		"target: {url: \"x://y\", nodes: 3}\n":          "x.yaml:1:31: nodes cannot be set for the broker at target.url, which already runs",
		"target: {url: \"x://y\", settings: {a: b}}\n":  "x.yaml:1:34: the broker at target.url was configured by others",
		"target: {managed: kafka, tls: {ca: ca.pem}}\n": "TLS without the address of a broker",
	} {
		wantError(t, mustParse(t, text).Validate(), want)
	}
	s := &Scenario{Target: Target{Settings: map[string]string{"a": "b\nc"}}}
	wantError(t, s.Validate(), "not one line")
}
