// The live trials are made from outside: internal/cli, which their child
// processes run, imports this package.
package selftest_test

import (
	"context"
	"os"
	"testing"

	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/cli"
	"sixnines/internal/selftest"
	"sixnines/result"
	"sixnines/scenario"
)

// isTool makes the test binary the sixnines command.
const isTool = "SIXNINES_SELFTEST_IS_TOOL"

func TestMain(m *testing.M) {
	if os.Getenv(isTool) != "" {
		executable, err := os.Executable()
		if err != nil {
			panic(err)
		}
		os.Exit(cli.Main(context.Background(), cli.Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			Environ: os.Environ(), Executable: executable, Drivers: all.Set(), Tool: cli.BuiltTool()}))
	}
	os.Exit(m.Run())
}

// shortBench is a bench for trials in their short form.
func shortBench(t *testing.T) *selftest.Bench {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), isTool+"=1", brokers.HomeVariable+"="+t.TempDir())
	return &selftest.Bench{Short: true, Attempts: 2, Load: selftest.Load{Rate: scenario.PerSecond(1000), Size: 256, Pattern: scenario.Deliver}, Drivers: all.Set(), Tool: result.Tool{Name: "sixnines", Version: "test"},
		Executable: executable, Environ: environ, Dir: t.TempDir(),
		Home:     brokers.Home{Environ: environ, Self: []string{executable, "__broker"}},
		Progress: func(text string) { t.Log(text) }}
}

// TestTrials makes every trial in its short form, with real brokers, processes
// and times. A trial that the machine disturbed is not assessed, and the test says so.
func TestTrials(t *testing.T) {
	for _, trial := range selftest.All() {
		t.Run(trial.Name, func(t *testing.T) {
			if testing.Short() && (trial.Timed || trial.Name == "intervals") {
				t.Skip("times and sums, of which the race detector only makes more")
			}
			r := selftest.Run(t.Context(), shortBench(t), []selftest.Trial{trial}, selftest.Observer{}).Trials[0]
			for _, f := range r.Figures {
				t.Logf("%-12s %s: %s (expected %s, tolerance %s) %s", f.Verdict, f.What, f.Found, f.Expected, f.Tolerance, f.Reason)
			}
			for _, a := range r.Attempts {
				t.Log(a)
			}
			t.Logf("%s after %v: %s", r.Verdict, r.Took, r.Reason)
			if r.Verdict == selftest.Failed {
				t.Error(r.Reason)
			}
		})
	}
}
