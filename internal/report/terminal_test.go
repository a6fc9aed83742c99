package report

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/google/go-cmp/cmp"

	"sixnines/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares output with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got; go test -update writes it anew):\n%s", name, diff)
	}
}

// terminal is the full report.
func terminal(t *testing.T, opt Options, runs ...*result.Run) string {
	t.Helper()
	opt.Full = true
	var b bytes.Buffer
	if err := Terminal(&b, runs, opt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTerminalGolden(t *testing.T) {
	acked := openRun()
	acked.acked, acked.lost = true, 17
	for _, test := range []struct {
		name string
		opt  Options
		runs []*result.Run
	}{
		{"terminal.txt", Options{Width: 110}, []*result.Run{openRun().make()}},
		{"terminal-lost.txt", Options{Width: 110}, []*result.Run{acked.make()}},
		{"terminal-stall-narrow-ascii.txt", Options{Width: 72, ASCII: true}, []*result.Run{stalledRun().make()}},
		{"terminal-open-closed.txt", Options{Width: 110}, []*result.Run{stalledRun().make(), closedRun().make()}},
		{"terminal-rich.txt", Options{Width: 110}, []*result.Run{richRun()}},
		{"terminal-rich-narrow.txt", Options{Width: 80}, []*result.Run{richRun()}},
		{"terminal-repeats.txt", Options{Width: 130}, repeatedRuns(7)},
		{"terminal-repeats-few.txt", Options{Width: 80}, repeatedRuns(3)},
		{"terminal-colour.txt", Options{Width: 110, Color: true}, []*result.Run{closedRun().make()}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, test.name, []byte(terminal(t, test.opt, test.runs...)))
		})
	}
}

func TestTerminalKeepsToTheWidth(t *testing.T) {
	acked := stalledRun()
	acked.acked, acked.lost = true, 17
	for _, runs := range [][]*result.Run{{acked.make()}, {stalledRun().make(), closedRun().make(), openRun().make()}, {richRun()}, {richRun(), richRun()}, repeatedRuns(3)} {
		for _, width := range []int{64, 72, 80, 100, 140} {
			for _, l := range strings.Split(terminal(t, Options{Width: width}, runs...), "\n") {
				if w := lipgloss.Width(l); w > width {
					t.Errorf("%d runs, width %d: a line takes %d: %q", len(runs), width, w, l)
				}
			}
		}
	}
}

func TestTerminalNeutralisesWhatTheFileSays(t *testing.T) {
	run := openRun().make()
	evil := "a\x1b[2Jb\r\n\u202ec\x9b0m"
	run.Header.Name, run.Header.Driver, run.Header.Pattern, run.Header.Managed, run.Header.ID, run.Path = evil, evil, evil, evil, evil, evil
	run.Header.Broker = map[string]string{"server": evil, "version": evil}
	run.Header.Semantics = result.Semantics{Durability: evil, Warnings: []string{evil}}
	run.Header.SetupTimes = []result.SetupTime{{Name: evil}}
	run.Damaged = evil
	run.Summary.Verdict = result.Verdict{Status: result.Status(evil), Reasons: []result.Reason{
		{Status: result.Status(evil), Text: evil, Code: result.ReasonCode(evil), Metric: result.Metric(evil), Percentile: result.Percentile(evil)},
		{Status: result.Suspect, Text: evil, Code: result.ReasonCode(evil), Metric: result.DeliveryResponse, Percentile: "50"}}}
	run.Summary.Throughput = &result.Throughput{Until: evil}
	run.Summary.Objectives = []result.Objective{{Text: evil, Outcome: evil, Found: evil}}
	run.Summary.Attribution = []result.Attribution{{Metric: result.DeliveryResponse, Messages: 1, Causes: []result.Cause{{Source: evil, Text: evil, Named: true}}}}
	for _, opt := range []Options{{}, {ASCII: true}} {
		for _, r := range terminal(t, opt, run, run) + screenText(t, opt, run) + screenText(t, opt, run, run) {
			if r != '\n' && unicode.IsControl(r) || r == '\u202e' || opt.ASCII && r > '~' {
				t.Fatalf("%+v: the report holds %U", opt, r)
			}
		}
	}
}

func TestTerminalWithholdsPercentilesOfAnOverloadedRun(t *testing.T) {
	run := openRun().make()
	run.Summary.Verdict.Status = result.Unstable
	text := terminal(t, Options{}, run)
	if !strings.Contains(text, "n/a (unstable)") || !strings.Contains(text, "OVERLOAD") {
		t.Errorf("an overloaded run shows steady-state percentiles:\n%s", text)
	}
}

func TestTerminalOfNothing(t *testing.T) {
	if err := Terminal(io.Discard, nil, Options{}); !errors.Is(err, errNoRuns) {
		t.Errorf("error %v, want errNoRuns", err)
	}
	// A file of which only the header was written.
	text := terminal(t, Options{}, &result.Run{Header: result.Header{Driver: "nats"}})
	for _, want := range []string{"CUT SHORT"} {
		if !strings.Contains(text, want) {
			t.Errorf("a run cut short before its first interval does not say %q:\n%s", want, text)
		}
	}
}

// Names of runs that differ in their ends only are told apart in the heads of columns:
// they go on in the next line and are not cut.
func TestTerminalLongNames(t *testing.T) {
	a, b := openRun().make(), openRun().make()
	a.Header.Name, b.Header.Name = "orders-of-the-whole-company-in-zone-one", "orders-of-the-whole-company-in-zone-two"
	_, table, _ := strings.Cut(terminal(t, Options{Width: 120}, a, b), "DELIVERY")
	for _, want := range []string{"zone-one", "zone-two"} {
		if head, _, _ := strings.Cut(table, "p50"); !strings.Contains(head, want) || strings.Contains(head, "…") {
			t.Errorf("%s is not in the heads\n%s", want, head)
		}
	}
}
