package cli

import (
	"strings"
	"testing"
	"time"

	"sixnines/drivers/all"
	"sixnines/internal/study"
	"sixnines/internal/trials"
	"sixnines/scenario"
)

// Loads whose length the system decides count with what they are assumed to take.
func TestStudyTimeOfLoads(t *testing.T) {
	const window = 3 * time.Second
	for _, tt := range []struct {
		name, text string
		want       time.Duration
	}{
		{"a rate", "workload: {rate: 100/s}\nphases: {warmup: 0s, duration: 3s, drain: 10s}\n", window},
		{"flat out", "workload: {rate: max}\nphases: {warmup: 0s, duration: 3s, drain: 10s}\n", 2 * window},
		{"with a short drain", "workload: {rate: max}\nphases: {warmup: 0s, duration: 3s, drain: 1s}\n", window + time.Second},
		{"without consumers", "workload: {rate: max, pattern: publish}\nphases: {warmup: 0s, duration: 3s, drain: 10s}\n", window},
		{"a number", "workload: {rate: max, messages: 500000, size: 32B}\nphases: {warmup: 0s}\n", 10*time.Second + 153*time.Millisecond},
		{"filled and drained", "workload: {rate: max, messages: 500000, size: 32B, groups: 1, consumer: {from: filled}}\nphases: {warmup: 0s}\n", 20*time.Second + 305*time.Millisecond},
		{"large ones", "workload: {rate: max, messages: 500, size: 1MiB}\nphases: {warmup: 0s}\n", 5*time.Second + 10*time.Millisecond},
	} {
		s, err := scenario.Parse("x.yaml", []byte("target: {driver: jetstream}\n"+tt.text))
		if err != nil {
			t.Fatal(err)
		}
		s.Normalise()
		if err := s.Validate(); err != nil {
			t.Fatal(tt.name, err)
		}
		c := studyCell{Cell: study.Cell{Load: &study.Load{}}, cell: cell{Cell: trials.Cell{Takes: s.Phases.Warmup + s.Phases.Duration}, scenario: s}}
		if got := c.takes().Round(time.Millisecond); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// The estimate has a range where unusable rounds may be replaced, and benchmarks take longer than asked.
func TestStudyTimeOfReplacements(t *testing.T) {
	env := &Env{Drivers: all.Set(), Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}
	s, err := study.Find("so-you-wanna-go-fast")
	if err != nil {
		t.Fatal(err)
	}
	for length, replaces := range map[string]int{study.Quick: 0, study.Full: 30} {
		p, err := env.planStudy(s, studyOptions{length: length})
		if err != nil {
			t.Fatal(err)
		}
		c := &p.cells[0]
		if got := c.takes(); got != benchTimes*c.Takes {
			t.Errorf("%s: a benchmark of %v takes %v", length, c.Takes, got)
		}
		for replace, want := range map[int]int{-1: replaces, 0: 0, 2: 2} {
			if got := p.mostReplaced(c, replace); got != want {
				t.Errorf("%s, --replace %d: %d rounds, want %d", length, replace, got, want)
			}
			if got := strings.Contains(p.estimate(p.places, replace), "at most if unusable rounds are replaced"); got != (want > 0) {
				t.Errorf("%s, --replace %d: %s", length, replace, p.estimate(p.places, replace))
			}
		}
	}
}
