//go:build unix

package brokers

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeProgram puts a program that says something where a version has it.
func fakeProgram(t *testing.T, h Home, says string, elem ...string) string {
	t.Helper()
	path := h.Path(elem...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+says+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestInVersionRefuses(t *testing.T) {
	for _, tt := range []struct {
		product, version string
		want             error
		says             string
	}{
		{"kafka", "3.9", ErrVersion, "such as kafka@" + kafkaVersion},
		{"kafka", "", ErrVersion, "give a full version"},
		{"kafka", "3.9.1.part", ErrVersion, "give a full version"},
		{"kafka", "../3.9.1", ErrVersion, "give a full version"},
		{"kafka", "0.7.2.9", ErrVersion, "the oldest is 0.8.2.2"},
		{"nats", "2.1.9", ErrVersion, "the oldest is 2.2.0"},
		{"redis", "7.2.1", ErrOneVersion, "redis"},
		{"rabbitmq", "4.1.0", ErrOneVersion, "rabbitmq"},
		{"null", "2.0.0", ErrOneVersion, "null"},
		{"kafka-0.8", "0.8.2.1", ErrOneVersion, "kafka-0.8"},
	} {
		p, ok := Lookup(tt.product)
		if !ok {
			t.Fatal(tt.product)
		}
		if _, err := p.InVersion(tt.version); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s@%s: %v", tt.product, tt.version, err)
		}
	}
}

// The steps of a version fill the directory in which find looks for it.
func TestVersionsArePlannedWhereTheyAreFound(t *testing.T) {
	h := testHome(t)
	for name, version := range map[string]string{"kafka": "3.9.1", "nats": "2.10.29", "nats-streaming": "0.24.6", "nsq": "1.2.1", "pulsar": "3.3.9"} {
		plain, _ := Lookup(name)
		p, err := plain.InVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name+"@"+version || p.Variable != "" {
			t.Errorf("%+v", p)
		}
		_, err = p.Find(t.Context(), h)
		if !errors.Is(err, ErrNotInstalled) || !strings.Contains(err.Error(), p.Name) {
			t.Errorf("%s: %v", p.Name, err)
		}
		steps, err := p.Plan(t.Context(), h)
		if err != nil || len(steps) == 0 {
			t.Fatalf("%s: %v, %v", p.Name, steps, err)
		}
		last := steps[len(steps)-1]
		if !strings.Contains(strings.Join(Script(steps), "\n"), version) || len(last.Moves) != 1 {
			t.Errorf("%s: %v", p.Name, Script(steps))
		}
		for from, to := range last.Moves {
			if from == to || !strings.HasSuffix(to, version) || !strings.Contains(foundError(p.Find(t.Context(), h)), to) {
				t.Errorf("%s is made in %s and moved to %s", p.Name, from, to)
			}
		}
	}
}

func foundError(_ Installation, err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestVersionsOfKafkaTakeTheirArtifacts(t *testing.T) {
	for version, want := range map[string]string{
		"0.8.2.2": "kafka_2.11:0.8.2.2", "0.10.2.2": "kafka_2.11:0.10.2.2 org.apache.kafka:kafka-clients:0.10.2.2", "2.3.1": "kafka_2.11:2.3.1", "2.8.2": "slf4j-reload4j", "2.4.0": "kafka_2.13:2.4.0",
		"3.9.1": "slf4j-reload4j", "4.3.1": "kafka-tools:4.3.1",
	} {
		if all := strings.Join(kafkaArtifacts(version), " "); !strings.Contains(all, want) {
			t.Errorf("%s: %s", version, all)
		}
	}
}

// Versions are installed side by side; PATH and variables do not affect them.
func TestInstalledVersions(t *testing.T) {
	h := testHome(t)
	other := fakeProgram(t, h, "nats-server: v2.9.9", "elsewhere", "nats-server")
	h.Environ = append(h.Environ, natsVariable+"="+other, "PATH="+filepath.Dir(other)+":"+h.Getenv("PATH"))
	old := fakeProgram(t, h, "nats-server: v2.9.25", "nats-server-2.9.25", "nats-server")
	fakeProgram(t, h, "nats-server: v2.10.3", "nats-server-2.10.29", "nats-server") // which it is not
	fakeProgram(t, h, "nats-server: v2.11.1", "nats-server-2.11.1.partial", "nats-server")
	fakeProgram(t, h, "nats-server: v2.11.1", "nats-server-mine", "nats-server")
	p, _ := Lookup("nats")
	all, err := p.Installed(h)
	if err != nil || len(all) != 2 || all[0].Name != "nats@2.9.25" || all[1].Name != "nats@2.10.29" {
		t.Fatalf("%+v, %v", all, err)
	}
	if in, err := all[0].Find(t.Context(), h); err != nil || in.Version != "2.9.25" || in.Path != old || in.Origin != byUs {
		t.Errorf("%+v, %v", in, err)
	}
	if _, err := all[1].Find(t.Context(), h); !errors.Is(err, ErrUnusable) || !strings.Contains(err.Error(), "has version 2.10.3") {
		t.Errorf("%v", err)
	}
	if in, err := p.Find(t.Context(), h); err != nil || in.Version != "2.9.9" {
		t.Errorf("without a version: %+v, %v", in, err)
	}
	for short, want := range map[string]string{"2.9": "2.9.25", "2": "2.10.29", "2.1": "2.1", "2.9.25": "2.9.25", "2.9.2": "2.9.2"} {
		if got, err := p.Complete(h, short); got != want || err != nil {
			t.Errorf("%s means %s, want %s (%v)", short, got, want, err)
		}
	}
	redis, _ := Lookup("redis")
	if all, err := redis.Installed(h); len(all) > 0 || err != nil {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWhyFailed(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n\nc\nd\n": "b; c; d",
		"[ERROR] no such thing\n[ERROR] read on\n": "no such thing",
		"": "it printed nothing",
	} {
		if got := whyFailed(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
