package sixnines_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sixnines"
	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/result"
)

func TestRunRefusesWhatCannotBe(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		drivers    driver.Set
		says       []string
	}{
		{"unknown driver", "target: {driver: nuts}", all.Set(), []string{`"nuts"`, "mem", "nats"}},
		{"no drivers", "target: {driver: mem}", driver.Set{}, []string{"empty"}},
		{"no address", "{}", all.Set(), []string{"target.url", "nats://", "WithURL"}},
		{"invalid", "{target: {driver: mem}, workload: {think: 1s}}", all.Set(), []string{"think time", "test.yaml:1:"}},
		{"impossible for the driver", "{target: {driver: mem}, workload: {pattern: publish, loop: closed}}", all.Set(), []string{"closed loop"}},
	} {
		_, err := sixnines.Run(t.Context(), parse(t, tt.text), tt.drivers)
		if !errors.Is(err, sixnines.ErrUsage) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, s := range tt.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %q", tt.name, err, s)
			}
		}
	}
	if _, err := sixnines.Run(t.Context(), nil, all.Set()); !errors.Is(err, sixnines.ErrUsage) {
		t.Errorf("no scenario: %v", err)
	}
	// An address makes it possible, and nobody there is another class.
	_, err := sixnines.Run(t.Context(), parse(t, "{}"), all.Set(), sixnines.WithURL("nats://127.0.0.1:1"))
	if !errors.Is(err, driver.ErrNotConnected) {
		t.Errorf("nobody there: %v", err)
	}
}

func TestRunLeavesTheScenarioAloneAndObserves(t *testing.T) {
	s := parse(t, "{target: {driver: mem}, phases: {warmup: 100ms, duration: 500ms}, record: {interval: 100ms}}")
	before := *s
	file := filepath.Join(t.TempDir(), "run.jsonl")
	var phases []string
	var sent int64
	r, err := sixnines.Run(t.Context(), s, all.Set(), sixnines.WithFile(file), sixnines.WithSameHost(),
		sixnines.WithObserver(func(p sixnines.Progress) {
			if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
				phases = append(phases, p.Phase)
			}
			sent = p.Counters.Sent
		}))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(before, *s) {
		t.Errorf("the scenario was changed: %+v", *s)
	}
	if len(phases) < 2 || phases[0] != "connect" || sent == 0 {
		t.Errorf("observed %v, %d sent", phases, sent)
	}
	if r.Counters.Received != 500 || !r.Header.SameHost || r.Path != file {
		t.Errorf("%d received, same host %v, path %s", r.Counters.Received, r.Header.SameHost, r.Path)
	}
	if !strings.HasPrefix(r.Header.Tool.Name, "sixnines") || r.Header.Tool.Go == "" {
		t.Errorf("tool %+v", r.Header.Tool)
	}
	read, err := result.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if read.Counters != r.Counters {
		t.Errorf("the file says %+v", read.Counters)
	}
	// A result is never written over.
	if _, err := sixnines.Run(t.Context(), s, all.Set(), sixnines.WithFile(file)); err == nil {
		t.Error("the file was written over")
	}
}
