package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sixnines/internal/brokers"
	"sixnines/internal/selftest"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// A floor that selftest keeps is shown in later runs under a like load, and in
// no others.
func TestNoiseFloorOfLaterRuns(t *testing.T) {
	var errs bytes.Buffer
	home := t.TempDir()
	a := &app{Env: Env{Environ: []string{brokers.HomeVariable + "=" + home}, Stderr: &errs}}
	note, err := keepFloor(filepath.Join(home, selftest.FloorFile))(result.Floor{ID: "f", At: time.Now(), Pattern: "deliver", Rate: 1000, Size: 256,
		Percentiles: map[result.Metric]map[result.Percentile]int64{result.DeliveryResponse: {"50": 1}}}, []string{"steal"})
	if err != nil || !strings.Contains(note, "yes, in "+home) || !strings.Contains(note, "steal") {
		t.Fatalf("%q, %v", note, err)
	}
	damage(t, filepath.Join(home, selftest.FloorFile))
	for text, want := range map[string]bool{
		"target: {driver: nats}": true,
		"target: {driver: nats}\nworkload: {rate: 2000/s, arrivals: poisson}": true,
		"target: {driver: nats}\nworkload: {rate: 2001/s}":                    false,
		"target: {driver: nats}\nworkload: {size: 1KiB}":                      false,
		"target: {driver: nats}\nworkload: {pattern: roundtrip}":              false,
		"target: {driver: nats}\nworkload: {rate: max, messages: 100}":        false,
		"target: {driver: nats}\nworkload: {loop: closed}":                    false,
		"target: {driver: nats}\nworkload: {arrivals: 'ramp:500/s..1500/s'}":  false,
		"target: {driver: mem}":                                               false,
		"target: {driver: \"null\"}":                                          false,
	} {
		s, err := scenario.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		if err := s.Validate(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var said []string
		f := a.noiseFloor(s, func(text string) { said = append(said, text) })
		if got := f != nil && f.ID == "f"; got != want {
			t.Errorf("%s: %+v", text, f)
		}
		told := strings.Join(said, "\n")
		if want && (!strings.Contains(told, "1 damaged line") || !strings.Contains(told, "while steal")) {
			t.Errorf("%s: said %q", text, told)
		}
	}
}

// doctor tells the limits that selftest has kept, and how to measure them where
// there are none.
func TestDoctorTellsTheLimit(t *testing.T) {
	home := t.TempDir()
	a := &app{Env: Env{Environ: []string{brokers.HomeVariable + "=" + home}}}
	now := time.Now()
	if c := a.checkGenerator(now); c.Status != vitals.StatusNote || !strings.HasPrefix(c.Found, vitals.Unknown) || !strings.Contains(c.Advice, "--only limit") {
		t.Errorf("%+v", c)
	}
	keep := keepLimits(filepath.Join(home, selftest.LimitFile))
	limit := []selftest.Limit{{Size: 256, Connections: 1, Rate: 80_000, Above: 85_000}, {Size: 4096, Connections: 8, Above: 10_000}}
	if note, err := keep(limit, []string{"steal"}); err != nil || !strings.Contains(note, "steal") {
		t.Errorf("%q, %v", note, err)
	}
	if c := a.checkGenerator(now); c.Status != vitals.StatusNote || !strings.Contains(c.Advice, "steal") {
		t.Errorf("%+v", c)
	}
	if _, err := keep(limit, nil); err != nil {
		t.Fatal(err)
	}
	if c := a.checkGenerator(now); c.Status != vitals.StatusOK || c.Advice != "" || !strings.Contains(c.Found, "80,000/s at 256 B over 1 connection, less than 10,000/s at 4 KiB over 8 connections, measured 20") {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]bool{
		"target: {driver: nats}\nworkload: {rate: 90000/s}":                 true,
		"target: {driver: nats}\nworkload: {rate: 90000/s, producers: 4}":   false,
		"target: {driver: nats}\nworkload: {loop: closed}":                  false,
		"target: {driver: nats}\nworkload: {rate: max, messages: 100}":      false,
		"target: {driver: mem}\nworkload: {rate: 90000/s}":                  false,
		"target: {driver: \"null\"}\nworkload: {rate: 90000/s, size: 512B}": true,
	} {
		s, err := scenario.Parse("x.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		l := a.generatorLimit(s, func(text string) { t.Errorf("said %q", text) })
		if (l != nil) != want || l != nil && l.Rate != 80_000 {
			t.Errorf("%s: %+v", text, l)
		}
	}
	if note, err := keep(limit, []string{"steal"}); err != nil || !strings.HasPrefix(note, "no: ") {
		t.Errorf("%q, %v", note, err)
	}
	if c := a.checkGenerator(now.Add(selftest.FloorMaxAge + time.Hour)); c.Status != vitals.StatusNote {
		t.Errorf("%+v", c)
	}
}

// damage adds a line to a file that is none of its own.
func damage(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "{\"machine\":\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
}
