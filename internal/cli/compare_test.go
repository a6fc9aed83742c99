package cli

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sixnines/drivers/all"
	"sixnines/internal/resultfile"
	"sixnines/result"
	"sixnines/scenario"
)

// writeSet writes results whose percentiles are factor times those of another
// set, named PREFIX00.jsonl and so on; change may alter each before it is
// written.
func writeSet(t *testing.T, dir, prefix string, runs int, factor float64, change func(n int, h *result.Header, s *result.Summary)) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	noise := rand.New(rand.NewPCG(uint64(prefix[len(prefix)-1]), uint64(prefix[0])))
	for n := range runs {
		scale := factor * (1 + 0.02*noise.Float64())
		d := &result.Distribution{Count: 1e5, Samples: 1e5, Min: 1e4, Max: int64(9e6 * scale),
			Figures: map[result.Percentile]result.Figure{}}
		for i, p := range []string{"50", "75", "90", "95", "99", "99.9"} {
			v := 80e3 * scale * float64(int(1)<<i) * (1 + 0.01*float64(i)*noise.Float64())
			d.Figures[result.Percentile(p)] = result.Figure{Value: int64(v), Interval: &result.Bounds{Low: int64(0.99 * v), High: int64(1.01 * v)}}
		}
		h := result.Header{Type: "header", Format: result.Format, Version: result.Version, ID: fmt.Sprintf("%08x%08x", noise.Uint32(), n),
			Started: time.Date(2026, 11, 21, 0, n, int(prefix[0])%60, 0, time.UTC), Tool: result.Tool{Name: "sixnines", Version: "test"},
			Scenario: json.RawMessage(`{"workload":{"rate":"1000/s"}}`), Mode: result.ModeOpen, Pattern: "deliver", Driver: "nats", Ack: "none",
			Rate: 1000, Size: 256, Window: 10 * time.Second, Interval: time.Second, Slot: 100 * time.Millisecond}
		s := result.Summary{Type: "summary", Verdict: result.Verdict{Status: result.Valid, Reasons: []result.Reason{}},
			Counters: result.Counters{Scheduled: 10000, Sent: 10000, Unknown: 10000}, Rate: result.Rate{Asked: 1000, Sent: 1000, WorstSecond: 1},
			Histograms: map[result.Metric]*result.Distribution{result.DeliveryResponse: d}, End: int64(10 * time.Second)}
		if change != nil {
			change(n, &h, &s)
		}
		w, err := resultfile.Create(filepath.Join(dir, fmt.Sprintf("%s%02d.jsonl", prefix, n)))
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Header(h); err != nil {
			t.Fatal(err)
		}
		if err := w.Summary(s); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// asAB makes runs those of an arm of an ab.
func asAB(arm string) func(int, *result.Header, *result.Summary) {
	return func(n int, h *result.Header, _ *result.Summary) {
		h.Trial = &result.Trial{Set: "0123456789abcdef", Kind: result.TrialAB, Arm: arm, Pair: n + 1, Index: 2*n + 1, Of: 12}
	}
}

// comparisons is a directory of sets to compare.
func comparisons(t *testing.T) string {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	writeSet(t, in("base"), "b", 8, 1, nil)
	writeSet(t, in("same"), "s", 8, 1, nil)
	writeSet(t, in("slow"), "l", 8, 1.3, nil)
	writeSet(t, in("few"), "f", 5, 3, nil)
	writeSet(t, in("bad"), "x", 8, 1, func(_ int, _ *result.Header, s *result.Summary) {
		s.Verdict = result.Verdict{Status: result.Invalid, Reasons: []result.Reason{{Status: result.Invalid, Code: "throttled", Found: "throttled", Try: "ask for more"}}}
	})
	writeSet(t, in("noisy"), "n", 8, 1, func(n int, _ *result.Header, s *result.Summary) {
		d := s.Histograms[result.DeliveryResponse]
		for p := range d.Figures {
			d.Update(p, func(f *result.Figure) { f.Value = f.Value * int64(6+n*3%8) / 8 })
		}
	})
	writeSet(t, in("lossy"), "y", 8, 1, func(n int, _ *result.Header, s *result.Summary) {
		s.Counters.Expected, s.Counters.Missing, s.Counters.MissingUnknown = 10000, int64(n/7), int64(n/7)
	})
	writeSet(t, in("losing"), "z", 8, 1, func(n int, _ *result.Header, s *result.Summary) {
		s.Counters.Expected, s.Counters.Missing, s.Counters.MissingUnknown = 10000, 7, 7
	})
	writeSet(t, in("big"), "g", 8, 1, func(_ int, h *result.Header, _ *result.Summary) { h.Size = 1024 })
	writeSet(t, in("publish"), "p", 8, 1, func(_ int, _ *result.Header, s *result.Summary) {
		s.Histograms = map[result.Metric]*result.Distribution{result.PublishResponse: s.Histograms[result.DeliveryResponse]}
	})
	writeSet(t, in("ab"), "pair-a", 6, 1, asAB("A"))
	writeSet(t, in("ab"), "pair-b", 6, 1.3, func(n int, h *result.Header, s *result.Summary) {
		asAB("B")(n, h, s)
		h.Scenario = json.RawMessage(`{"workload":{"rate":"1000/s"},"target":{"options":{"linger":"5ms"}}}`)
	})
	writeSet(t, in("out/before/set"), "h", 8, 1, nil)
	writeSet(t, in("out/after/set"), "i", 8, 1.3, nil)
	writeSet(t, in("aa"), "pair-c", 6, 1, asAB("A"))
	writeSet(t, in("aa"), "pair-d", 6, 1, asAB("B"))
	if err := os.Mkdir(in("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeSet(t, in("spare"), "q", 1, 1, nil)
	text, err := os.ReadFile(in("spare/q00.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for name, text := range map[string]string{"cut.jsonl": lines[0] + lines[1][:20], "half.jsonl": lines[0][:40], "text.jsonl": "hello\n"} {
		if err := os.WriteFile(in(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCompare(t *testing.T) {
	env := Env{Dir: comparisons(t)}
	for _, tt := range []struct {
		args   string
		code   int
		stdout string
	}{
		{"base slow", exitOK, "SLOWER  B is slower than A by more than 5 % at p50"},
		{"slow base", exitOK, "FASTER  B is faster than A by more than 5 %"},
		{"base same --min-effect 10%", exitOK, "NO DIFFERENCE THAT MATTERS"},
		{"base slow --gate", exitThreshold, "SLOWER"},
		{"slow base --gate", exitOK, "FASTER"},
		{"base same --gate --min-effect 10%", exitOK, "NO DIFFERENCE"},
		{"base slow --gate --min-effect 50%", exitOK, "within ±50 %"},
		{"base noisy --gate", exitThreshold, "NOT DECIDED"},
		{"base noisy --gate --allow-undecided", exitOK, "NOT DECIDED"},
		{"base slow --gate --allow-undecided", exitThreshold, "SLOWER"},
		{"base lossy --gate --min-effect 10%", exitThreshold, "undecided   lost: messages lost: A none, B 1 in 1 run"},
		{"base lossy --gate --min-effect 10% --allow-undecided", exitOK, "NO DIFFERENCE"},
		{"lossy base --gate --min-effect 10%", exitOK, "NO DIFFERENCE"},
		{"base losing --gate --min-effect 10% --allow-undecided", exitThreshold, "regression  lost: messages lost: A none, B 56 in 8 runs"},
		{"base same --gate --min-effect 10% --percentile 50,99.99", exitThreshold, "no figures"},
		{"base same --gate --min-effect 10% --percentile 50", exitOK, "NO DIFFERENCE"},
		{"base few --gate --allow-undecided", exitOK, "Not enough runs to decide: 5 of 6 pairs"},
		{"base/b*.jsonl -- slow/l00.jsonl slow/l01.jsonl slow/l02.jsonl slow/l03.jsonl slow/l04.jsonl slow/l05.jsonl", exitOK, "no partner"},
		{"base/b*.jsonl slow/*.jsonl", exitOK, "SLOWER"},
		{"base few", exitOK, "Not enough runs to decide: 5 of 6 pairs"},
		{"base/b00.jsonl slow/l00.jsonl", exitOK, "Not enough runs to decide: 1 of 6 pairs"},
		{"base few --gate", exitThreshold, "Not enough runs to decide: 5 of 6 pairs"},
		{"base bad --gate", exitThreshold, "NOTHING TO COMPARE"},
		{"base publish --gate", exitThreshold, "nothing can be judged"},
		{"base cut.jsonl", exitFailure, "cut short"},
		{"base bad", exitFailure, "INVALID: throttled"},
		{"base big", exitOK, "NOT RANKED  Not ranked: A and B differ in size"},
		{"base big --rank-unlike", exitOK, "Ranked despite decisive differences"},
		{"ab", exitOK, "B changes  option.linger=5ms"},
		{"ab --full", exitOK, "from run to run"},
		{"ab --gate", exitThreshold, "SLOWER"},
		{"aa", exitOK, "A/A  No false alarm"},
		{"out/before out/after --gate", exitThreshold, "SLOWER"},
		{"base slow --markdown", exitOK, "| p99 |"},
		{"base slow --percentile p99,50", exitOK, "at p50 and p99."},
	} {
		code, out, errs := invoke(t, env, append([]string{"compare"}, strings.Fields(tt.args)...)...)
		if code != tt.code || !strings.Contains(out, tt.stdout) {
			t.Errorf("compare %s: exit code %d, want %d, with %q on\n%s%s", tt.args, code, tt.code, tt.stdout, out, errs)
		}
		if tt.code == exitThreshold && !strings.Contains(errs, "regression: ") && !strings.Contains(errs, "the gate cannot be decided: ") {
			t.Errorf("compare %s: stderr %q does not say why", tt.args, errs)
		}
	}
	// What is undecided is said, with what to do, or that it is allowed.
	for args, want := range map[string]string{
		"base noisy --gate":                   "sixnines: the gate cannot be decided: p50, p75, p90, p95, p99, p99.9: a change of more than 5 % is neither shown nor ruled out\nhint: make more pairs, judge fewer percentiles",
		"base noisy --gate --allow-undecided": "undecided, but allowed: p50, p75, p90, p95, p99, p99.9: a change of more",
		"base lossy --gate --min-effect 10%":  "sixnines: the gate cannot be decided: lost: messages lost: A none, B 1 in 1 run",
	} {
		if _, _, errs := invoke(t, env, append([]string{"compare"}, strings.Fields(args)...)...); !strings.HasPrefix(errs, want) {
			t.Errorf("compare %s: %q does not begin with %q", args, errs, want)
		}
	}
	code, out, errs := invoke(t, env, "compare", "base", "slow", "--json", "--gate")
	var c struct {
		Gate struct {
			Answer string
			Judged []struct{ Of, Percentile, Answer string }
		}
		Outcome     string
		Pairs       []any
		Regressions []string
		Metrics     []struct {
			Judged bool
			Rows   []struct {
				Shift struct{ Ratio, Lo, Hi float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitThreshold || c.Outcome != "slower" || len(c.Pairs) != 8 ||
		len(c.Regressions) != 6 || c.Gate.Answer != "worse" || c.Gate.Judged[5].Percentile != "99.9" || c.Gate.Judged[5].Answer != "worse" || c.Gate.Judged[6].Of != "rate_kept" || !c.Metrics[0].Judged || c.Metrics[0].Rows[0].Shift.Lo < 1.2 {
		t.Errorf("exit code %d, %v, %s%s", code, err, out, errs)
	}
}

// TestComparePage writes the page, once.
func TestComparePage(t *testing.T) {
	dir := comparisons(t)
	code, _, errs := invoke(t, Env{Dir: dir}, "compare", "base", "slow", "--html", "page.html")
	text, err := os.ReadFile(filepath.Join(dir, "page.html"))
	if code != exitOK || err != nil || !strings.Contains(string(text), "slower than A by more than") {
		t.Errorf("exit code %d, %v\n%s", code, err, errs)
	}
	code, out, errs := invoke(t, Env{Dir: dir}, "compare", "base", "slow", "--html", "page.html")
	if code != exitUsage || out != "" || !strings.Contains(errs, "already exists") {
		t.Errorf("written over: exit code %d\n%s", code, errs)
	}
	// Where none can be written, that is said before there is anything to lose.
	for _, args := range [][]string{{"compare", "base", "slow"}, {"ab", "mem", "--duration", "10m"}} {
		code, out, errs = invoke(t, Env{Dir: dir}, append(args, "--html", "no/page.html")...)
		if code != exitUsage || out != "" || !strings.Contains(errs, "no/page.html") || !strings.Contains(errs, "hint: create the directory first") {
			t.Errorf("%s: exit code %d\n%s%s", args, code, out, errs)
		}
	}
}

// What is wrong is said in two lines, and nothing else is printed.
func TestCompareWrongUsage(t *testing.T) {
	env := Env{Dir: comparisons(t)}
	for args, want := range map[string]string{
		"":                                   "needs results",
		"base":                               "base is only one set",
		"base slow same":                     "which of the 3 names belong to A",
		"-- base slow":                       "one side of -- is empty",
		"base slow --":                       "one side of -- is empty",
		"base base":                          "are the same run",
		"base/b00.jsonl base/b00.jsonl":      "are the same run",
		"base empty":                         "contains no results",
		"out base":                           "out holds the results of 2 series: out/after/set, out/before/set",
		"base none*.jsonl":                   `no result matches "none*.jsonl"`,
		"base ab":                            "holds both arms",
		"ab aa":                              "holds both arms",
		"base big --gate":                    "A and B differ in size",
		"base slow --metric x":               `--metric cannot be "x"`,
		"base slow --metric publish.service": "is not measured in any run",
		"base slow --percentile 98":          `--percentile cannot be "98"`,
		"base slow --min-effect 5":           "percentage",
		"base slow --min-effect -5%":         "percentage",
		"base slow --json --markdown":        "exclude each other",
		"base -- slow --gate":                "--gate is a flag",
		"base slow --html base/b00.jsonl":    "already exists",
		"base slow --allow-undecided":        "--allow-undecided needs --gate",
	} {
		code, out, errs := invoke(t, env, append([]string{"compare"}, strings.Fields(args)...)...)
		lines := strings.Split(strings.TrimSpace(errs), "\n")
		if code != exitUsage || out != "" || len(lines) != 2 || !strings.HasPrefix(lines[1], "hint: ") || !strings.Contains(lines[0], want) {
			t.Errorf("compare %s: exit code %d, want %q on\n%s%s", args, code, want, out, errs)
		}
	}
	for args, want := range map[string]string{
		"base none.jsonl": "none.jsonl does not exist",
		"base half.jsonl": "half.jsonl",
		"base text.jsonl": "text.jsonl",
	} {
		code, out, errs := invoke(t, env, append([]string{"compare"}, strings.Fields(args)...)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "hint: ") {
			t.Errorf("compare %s: exit code %d\n%s%s", args, code, out, errs)
		}
	}
	// No common metric: nothing to judge, and said.
	code, out, errs := invoke(t, env, "compare", "base", "publish")
	if code != exitOK || !strings.Contains(out, "nothing can be judged") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
}

// TestABBeside makes both runs of each pair at the same time: their windows begin half a gap apart. Six of the pairs have
// A on both sides.
func TestABBeside(t *testing.T) {
	dir := t.TempDir()
	code, _, errs := invoke(t, Env{Dir: dir}, "ab", "mem", "--beside", "--pairs", "6", "--replace", "0", "--duration", "100ms", "--warmup", "0s", "--rate", "200/s")
	if code == exitUsage {
		t.Fatal(errs)
	}
	second := map[string]int{}
	for pair := 1; pair <= 12; pair++ {
		var starts [2]int64
		other := []string{"A2", "B"}[pair%2]
		for i, arm := range []string{"A", other} {
			files, err := filepath.Glob(filepath.Join(dir, "results", "ab-*", fmt.Sprintf("pair-%02d-%s.jsonl", pair, arm)))
			if err != nil || len(files) != 1 {
				t.Fatalf("%v, %v", files, err)
			}
			run, err := result.Load(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if x := run.Header.Trial; !x.Beside || x.Arm != arm || x.Pair != pair || x.Control != (other == "A2") ||
				x.Design == nil || x.Design.Reason != result.DesignAsked || x.Design.Controls != 6 || !slices.Equal(x.Design.Looks, []int{6}) {
				t.Errorf("%+v", x)
			}
			starts[i] = run.Header.Clock.Start
		}
		switch starts[1] - starts[0] {
		case 2_500_000:
			second[other]++
		case -2_500_000:
			second["A, "+other]++
		default:
			t.Errorf("pair %d: B's window begins %d ns after A's", pair, starts[1]-starts[0])
		}
	}
	if second["B"] != 3 || second["A2"] != 3 || second["A, B"] != 3 || second["A, A2"] != 3 {
		t.Errorf("the second of the pairs: %v", second)
	}
}

// TestAB makes the runs of an A/A, as short as they can be: what comes of it
// depends on the machine, but not which runs there are.
func TestAB(t *testing.T) {
	if testing.Short() {
		t.Skip("TestABInterrupted does the same with more at a time")
	}
	dir := t.TempDir()
	code, out, errs := invoke(t, Env{Dir: dir}, "ab", "mem", "--design", "apart", "--pairs", "6", "--replace", "0", "--duration", "100ms", "--warmup", "0s", "--rate", "200/s",
		"--option", "delay=1ms", "--json", "--slo", "delivery.response p50 < 100us")
	// An objective is judged as that of run is: none of these can be met, and in so short
	// runs none may be decided.
	if code == exitOK || !regexp.MustCompile(`objective (missed|undecided|without meaning).*: B: delivery\.response p50 < 100µs: in `).MatchString(errs) {
		t.Errorf("exit code %d, and no objective on\n%s", code, errs)
	}
	if code != exitThreshold && code != exitFailure { // no run may be fit to be compared
		t.Fatalf("exit code %d\n%s%s", code, out, errs)
	}
	var c struct{ Kind, Outcome string }
	if err := json.Unmarshal([]byte(out), &c); err != nil || c.Kind != "A/A" {
		t.Fatalf("%v, %+v\n%s%s", err, c, out, errs)
	}
	for _, want := range []string{"6 pairs of runs in random order take 1.2 s", "pair 6 of 6", "sixnines compare results"} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not in %s", want, errs)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "results", "ab-*", "pair-*.jsonl"))
	if err != nil || len(files) != 12 {
		t.Fatalf("%v, %v", files, err)
	}
	sets, places, first := map[string]bool{}, map[int]string{}, map[string]int{}
	for _, f := range files {
		run, err := result.Load(f)
		if err != nil {
			t.Fatal(err)
		}
		trial := run.Header.Trial
		if trial == nil || trial.Kind != result.TrialAB || trial.Of != 12 || !strings.HasSuffix(f, fmt.Sprintf("pair-%02d-%s.jsonl", trial.Pair, trial.Arm)) {
			t.Fatalf("%s: %+v", f, trial)
		}
		sets[trial.Set] = true
		places[trial.Index] = trial.Arm
		if trial.Index%2 == 1 {
			first[trial.Arm]++
		}
	}
	if len(sets) != 1 || len(places) != 12 || first["A"] != 3 || first["B"] != 3 {
		t.Errorf("sets %v, places %v, first %v", sets, places, first)
	}
	again, text, errs := invoke(t, Env{Dir: dir}, "compare", filepath.Dir(strings.TrimPrefix(files[0], dir+"/")), "--json")
	// compare decides no objectives: each run has, and says so.
	if again != code && (code != exitThreshold || again != exitOK) || text != out {
		t.Errorf("compared again: exit code %d\n%s\nis not\n%s%s", again, text, out, errs)
	}
}

func TestArms(t *testing.T) {
	a := &app{Env: Env{Drivers: all.Set()}}
	var onlyA, onlyB overrides
	for _, x := range []struct {
		to   *overrides
		text string
	}{{&onlyA, "rate=2k/s"}, {&onlyB, "option.delay=5ms"}, {&onlyB, "record.digits=2"}, {&onlyB, "--size=1KiB"}} {
		if err := armFlag(x.to, "--x").Set(x.text); err != nil {
			t.Fatal(err)
		}
	}
	arms, _, err := a.arms([]string{"mem"}, nil, [2][]scenario.Override{onlyA.list, onlyB.list})
	if err != nil {
		t.Fatal(err)
	}
	sa, sb := arms[0].scenario, arms[1].scenario
	if sa.Workload.Rate.String() != "2000/s" || sb.Workload.Rate.String() != "1000/s" || sb.Target.Options["delay"] != "5ms" || sb.Record.Digits != 2 ||
		sb.Workload.Size.String() != "1KiB" || sa.Target.Options["delay"] != nil {
		t.Errorf("%+v\n%+v", sa, sb)
	}
	for args, want := range map[string]string{
		"ab mem --pairs 5":                     "5 pairs",
		"ab":                                   "needs A",
		"ab mem mem mem":                       "one too many",
		"ab nothing":                           `no driver "nothing"`,
		"ab - ":                                "stdin",
		"ab mem --b rate":                      "no key or no value",
		"ab mem --b rate=fast":                 "fast",
		"ab mem --b nosuch=1":                  "nosuch",
		"ab mem --json --markdown":             "exclude each other",
		"ab mem --beside --design apart":       "--beside and --design apart exclude each other",
		"ab mem --design both":                 `--design cannot be "both"`,
		"ab mem --for 3m --pairs 10":           "--for and --pairs exclude each other",
		"ab mem --for 1s --dry-run":            "is too short",
		"ab mem --for 3m --dry-run --resume x": "--dry-run and --resume exclude each other",
		"ab mem --gate --b rate=2k/s":          "--gate could never fail: B changes workload.rate: 1000/s → 2000/s",
		"ab mem --gate --b pattern=roundtrip":  "workload.pattern: deliver → roundtrip",
	} {
		dir := t.TempDir()
		code, out, errs := invoke(t, Env{Dir: dir}, strings.Fields(args)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) || !strings.Contains(errs, "hint: ") {
			t.Errorf("%s: exit code %d, want %q on\n%s%s", args, code, want, out, errs)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left %v behind", args, left)
		}
	}
}

// A directory of many series is refused in one line that can be read.
func TestFew(t *testing.T) {
	names := strings.Split("abcdefgh", "")
	if got := few(names); got != "a, b, c, d, e and 3 more" {
		t.Error(got)
	}
	if got := few(names[:6]); got != "a, b, c, d, e, f" {
		t.Error(got)
	}
}
