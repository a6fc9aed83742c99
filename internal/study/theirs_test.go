package study

import (
	"strings"
	"testing"

	"sixnines/result"
)

// The author's own figures pass each test of the built-in studies, or the test declares a slip.
// Where they print nothing that a test compares, the test says what there is instead. Passes are
// counted, so that figures that no longer match a test are noticed.
func TestAuthorsPassTheirOwnTests(t *testing.T) {
	numbers := map[string]int{"commit-logs": 13, "kafka-events": 8, "latency-is-wrong": 13, "message-queue-latency": 4, "rabbitmq-performance": 3, "so-you-wanna-go-fast": 20}
	all, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		passed := 0
		for _, c := range s.Conclusions {
			for i := range c.Tests {
				x := &c.Tests[i]
				found := s.Theirs(x)
				if (found.Verdict == Disagrees) != (x.Slip != "") {
					t.Errorf("%s, %s: %s: %+v", s.Name, c.Name, x, found)
				}
				if decides := x.Kind != KindUndecidable && x.Kind != KindSteady; decides && found.Verdict == Undecidable && s.Original != nil && x.Unprinted == "" && s.Original.Unprinted == "" {
					t.Errorf("%s, %s: %s: the author's own figures are missing: add them to figures, give them as theirs, or say as unprinted what there is instead", s.Name, c.Name, x)
				}
				if found.Verdict == Agrees {
					passed++
				}
			}
		}
		if want := numbers[s.Name]; passed < want {
			t.Errorf("%s: the author's numbers pass %d tests, want %d or more", s.Name, passed, want)
		}
	}
}

// A claimed factor is not called confirmed by a small part of it: what a test asks is at least the
// root of what the author found, or an order of magnitude.
func TestFactorsAreThoseClaimed(t *testing.T) {
	all, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, c := range s.Conclusions {
			for i := range c.Tests {
				x := &c.Tests[i]
				a, one := s.printed(x.A, first(x.Figures))
				b, other := s.printed(x.B, first(x.Figures))
				if x.Kind != KindRatio || !one || !other || x.Slip != "" || x.Theirs != "" {
					continue
				}
				factor := a / b
				switch {
				case x.AtLeast != nil && *x.AtLeast > 1 && *x.AtLeast < 10 && *x.AtLeast**x.AtLeast*1.3 < factor,
					x.AtMost != nil && factor < 0.5 && *x.AtMost > factor*2.1 && *x.AtMost > 0.1:
					t.Errorf("%s, %s: %s, where the author found %.4g", s.Name, c.Name, x, factor)
				}
			}
		}
	}
}

func first(figures []string) string {
	if len(figures) == 0 {
		return ""
	}
	return figures[0]
}

const printedText = smallText + `
original: {author: A, title: T, setting: s, versions: v}
figures:
  - {source: table, unit: ms, columns: [p50, p99], rows: {x/r-100: [1, 4.0], x/r-200: [2, .nan], x/r-400: [3, 9], y/r-100: [2, 4.2]}}
  - {source: text, cell: y/r-200, words: quick, figure: rate.received, value: 500, unit: /s}
  - {source: text, cell: y/r-400, words: quicker, figure: rate.received, value: 900, unit: /s}
conclusions:
  - name: it
    claim: it is so
    tests:
`

// A test of an original's claim is held against the original's figures when a study is read.
func TestTheirs(t *testing.T) {
	for _, tt := range []struct {
		test    string
		refused string // what the error says; empty: the study is taken
		theirs  string // what the figures came to
	}{
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50, p99]}", "", "p50 1.00 ms against 2.00 ms; p99 4.00 ms against 4.20 ms"},
		{"{kind: faster, a: y/r-100, b: x/r-100, figures: [p50]}", "the author's own figures fail this test: p50 2.00 ms against 1.00 ms", ""},
		{"{kind: faster, a: y/r-100, b: x/r-100, figures: [p50], slip: he says it twice}", "", "p50 2.00 ms against 1.00 ms"},
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50], slip: there is none}", "a slip that the author's figures do not show", ""},
		{"{kind: faster, a: x/r-100, b: y/r-100, figures: [p50], unprinted: a chart}", "unprinted, and the author's figures are there", ""},
		{"{kind: faster, a: y/r-400, b: y/r-200, figures: [rate.received]}", "", "rate.received 900/s against 500/s"},
		{"{kind: faster, a: y/r-200, b: y/r-400, figures: [rate.received]}", "fail this test", ""},
		{"{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p99], margin: 0.1}", "", "p99 4.00 ms against 4.20 ms"},
		{"{kind: equivalent, a: x/r-100, b: y/r-100, figures: [p50], margin: 0.9}", "fail this test", ""},
		{"{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 2}", "", "p50 2.00 ms against 1.00 ms"},
		{"{kind: ratio, a: y/r-100, b: x/r-100, figures: [p50], at_least: 2.1}", "fail this test", ""},
		{"{kind: ratio, a: x/r-100, b: y/r-100, figures: [p99/p50], at_most: 1.5}", "fail this test", ""},
		{"{kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_least: 2}", "", ""},
		{"{kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_least: 2, unprinted: a chart}", "", ""},
		{`{kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_least: 2, theirs: "2.5"}`, "", "2.5 times"},
		{`{kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_most: 0.1, theirs: "0.38"}`, "fail this test: 0.38 times", ""},
		{`{kind: ratio, a: y/r-200, b: x/r-100, figures: [p50], at_most: 0.1, theirs: 62 %}`, "is no number of the author's", ""},
		{"{kind: below, cells: [x/r-100, x/r-400], figures: [p50], bound: 4ms}", "", "p50 1.00 ms of x/r-100; p50 3.00 ms of x/r-400"},
		{"{kind: below, cells: [x/r-100, x/r-400], figures: [p50], bound: 3ms}", "fail this test", ""},
		{"{kind: above, cells: [x/r-100], figures: [p50], bound: 1.5ms}", "fail this test", ""},
		{"{kind: below, cells: [y/r-200], figures: [p99], bound: 1ms, theirs: 0.66ms}", "", "p99 660 µs"},
		{"{kind: below, cells: [y/r-200], figures: [p99], bound: 1ms, theirs: 1.66ms}", "fail this test", ""},
		{"{kind: monotone, cells: [x/r-100, x/r-200, x/r-400], figures: [p50], direction: rising}", "", "p50 1.00 ms, 2.00 ms, 3.00 ms"},
		{"{kind: monotone, cells: [x/r-100, x/r-200, x/r-400], figures: [p50], direction: falling}", "fail this test", ""},
		{"{kind: monotone, cells: [x/r-100, x/r-200, x/r-400], figures: [p99], direction: rising}", "", ""},
		{"{kind: share, cells: [x/r-100, x/r-400], figures: [p99], at_least: 5ms, share: 0.5}", "", ""}, // a bound of a share is a number
		{"{kind: share, cells: [x/r-100, x/r-400], figures: [p99/p50], at_least: 3.5, share: 0.5}", "", "1 of 2 cells"},
		{"{kind: share, cells: [x/r-100, x/r-400], figures: [p99/p50], at_least: 3.5, share: 1}", "fail this test", ""},
		{"{kind: arithmetic, function: any-beyond, of: [99, 69], value: 0.5, margin: 0.001}", "", "0.5, where any-beyond of [99 69] is 0.5002"},
		{"{kind: arithmetic, function: any-beyond, of: [99, 69], value: 0.6, margin: 0.001}", "fail this test", ""},
		{"{kind: undecidable, why: one machine, needs: two}", "", ""},
		{"{kind: steady, cells: [x/r-100], class: flat}", "", ""},
	} {
		s, err := Parse("small.yaml", []byte(printedText+"      - "+tt.test+"\n"))
		switch {
		case strings.Contains(tt.test, "5ms, share"):
			if err == nil {
				t.Errorf("%s is taken", tt.test)
			}
		case tt.refused != "":
			if err == nil || !strings.Contains(err.Error(), tt.refused) {
				t.Errorf("%s: %v, want %q", tt.test, err, tt.refused)
			}
		case err != nil:
			t.Errorf("%s: %v", tt.test, err)
		default:
			if got := s.Theirs(&s.Conclusions[0].Tests[0]); got.Text != tt.theirs {
				t.Errorf("%s: %q, want %q", tt.test, got.Text, tt.theirs)
			}
		}
	}
}

// What a small machine cannot carry is not decided on it, whatever its rounds look like.
func TestProcessors(t *testing.T) {
	s := small(t, "      - {kind: faster, a: x/r-100, b: y/r-100, figures: [p50], processors: 8}")
	for have, want := range map[string]Verdict{"8": Agrees, "48": Agrees, "2": Undecidable, "": Undecidable} {
		o := outcome(t, s, Default, map[string][]*result.Run{"x/r-100": rounds(fast...), "y/r-100": rounds(slow...)})
		o.Machine = []result.Fact{{Name: result.FactProcessors, Value: have}}
		if f := Decide(o)[0].Tests[0]; f.Verdict != want || (f.Needs == "a machine of 8 processors") != (want == Undecidable) {
			t.Errorf("%q processors: %+v", have, f)
		}
	}
}

// A pause of the senders lies between the intervals in which nothing was sent and these with one
// more at each end.
func TestSenderPause(t *testing.T) {
	for _, tt := range []struct {
		sent      []int64
		low, high float64
		known     bool
	}{
		{[]int64{5, 5, 5}, 0, 2e9, true}, {[]int64{5, 0, 0, 5, 5}, 2e9, 4e9, true}, {[]int64{0, 5, 0, 5, 0, 0, 0}, 1e9, 3e9, true}, {[]int64{5, 0}, 0, 0, false},
	} {
		run := ms(1)
		for i, n := range tt.sent {
			run.Series = append(run.Series, result.Point{Phase: result.PhaseMeasure, Start: int64(i) * 1e9, End: int64(i+1) * 1e9, Counters: result.Counters{Sent: n}})
		}
		if f := Read(run, "sender.pause", ""); f.Low != tt.low || f.High != tt.high || (f.Missing == "") != tt.known {
			t.Errorf("%v: %+v", tt.sent, f)
		}
	}
}

// A row of the page has one verdict on one claim: a conclusion of an original is tested in all its parts, or in none.
// What cannot be tested of it stands with the figures or the caveats.
func TestClaimsAreWhatIsTested(t *testing.T) {
	all, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		for _, c := range s.Conclusions {
			n := 0
			for i := range c.Tests {
				if c.Tests[i].Kind == KindUndecidable {
					n++
				}
			}
			if n > 0 && n < len(c.Tests) {
				t.Errorf("%s, %s: %d of %d tests cannot be decided by any run, and the verdict is of the others", s.Name, c.Name, n, len(c.Tests))
			}
		}
	}
}
