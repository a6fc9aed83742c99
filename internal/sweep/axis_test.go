package sweep

import (
	"math"
	"slices"
	"strings"
	"testing"

	"sixnines/scenario"
)

func TestParseAxis(t *testing.T) {
	for text, want := range map[string]struct{ key, values string }{
		"size=256B,1KiB":                                           {"workload.size", "256B 1KiB"},
		"rate=1k/s..64k/s:log:7":                                   {"workload.rate", "1k/s 2000/s 4000/s 8000/s 16000/s 32000/s 64k/s"},
		"rate=1k/s..4k/s:log:5":                                    {"workload.rate", "1k/s 1414/s 2000/s 2828/s 4k/s"},
		"rate=1/min..3/min:lin:5":                                  {"workload.rate", "1/min 1.5/min 2/min 2.5/min 3/min"},
		"rate=0.5/s..1.5/s:lin:3":                                  {"workload.rate", "0.5/s 1/s 1.5/s"},
		"rate=0.001/s..0.01/s:log:3":                               {"workload.rate", "0.001/s 273/24h 0.01/s"},
		"rate=10/s..20/s:log:3":                                    {"workload.rate", "10/s 14.14/s 20/s"},
		"rate=100/3s..200/3s:lin:3":                                {"workload.rate", "100/3s 150/3s 200/3s"},
		"workload.size=256B..64KiB:log:5":                          {"workload.size", "256B 1KiB 4KiB 16KiB 64KiB"},
		"producers=1..8:log:10":                                    {"workload.producers", "1 2 3 4 5 6 8"}, // those that fall together are one
		"duration=1s..10s:lin:4":                                   {"phases.duration", "1s 4s 7s 10s"},
		"work=100us..1ms:log:3":                                    {"workload.consumer.work", "100us 316.2µs 1ms"},
		"workload.arrivals.amplitude=0.0..1:lin:4":                 {"workload.arrivals.amplitude", "0.0 0.333333 0.666667 1"},
		"option.linger=0ms,5ms":                                    {"target.options.linger", "0ms 5ms"},
		"arrivals=step:1/s@1s,2/s@1s;constant":                     {"workload.arrivals", "step:1/s@1s,2/s@1s constant"},
		"arrivals=poisson,burst:100@1s":                            {"workload.arrivals", "poisson burst:100@1s"},
		"arrivals=ramp:1/s..5/s,constant":                          {"workload.arrivals", "ramp:1/s..5/s constant"},
		"connections={producers: 1, consumers: 2}, {producers: 4}": {"workload.connections", "{producers: 1, consumers: 2} {producers: 4}"},
	} {
		a, err := ParseAxis(text)
		if got := strings.Join(a.Values, " "); err != nil || a.Key != want.key || got != want.values {
			t.Errorf("%s is over %s: %s, %v, want over %s: %s", text, a.Key, got, err, want.key, want.values)
		}
	}
}

func TestParseAxisErrors(t *testing.T) {
	for text, want := range map[string]string{
		"rate":                             "names no field (an axis looks like rate=1k/s..64k/s:log:13",
		"=1":                               "names no field",
		"rte=1/s":                          "did you mean rate?",
		"workload.rte=1/s":                 `unknown key "rte" in workload (did you mean rate?)`,
		"rate=":                            "there are no values",
		"rate=1/s,,2/s":                    "has an empty value",
		"rate=1/s,2/s,1/s":                 "has 1/s twice",
		"rate=1k/s..64k/s":                 "does not say how many values (write such as 1k/s..64k/s:log:7 or :lin:7)",
		"rate=1k/s..64k/s:log":             "does not say how many values",
		"rate=64k/s..1k/s:log:3":           "is empty (write the lower end first: 1k/s..64k/s)",
		"rate=1k/s..1000/s:log:3":          "has one value",
		"rate=1k/s..2k/s:quad:3":           "lin for equal steps or log for equal factors",
		"rate=1k/s..2k/s:lin:1":            "write 2 or more",
		"rate=1k/s..2k/s:lin:x":            "write 2 or more",
		"rate=1/s..1M/s:log:1000000":       "1000000 values are too many (at most 10000)",
		"rate=1k/s..2KiB:lin:3":            "write both ends with units of one kind",
		"rate=1000..2KiB:lin:3":            "write both ends with units of one kind",
		"rate=..2k/s:lin:3":                "lacks one of its ends",
		"producers=0..8:log:3":             "cannot begin at 0 (begin above zero, or write lin)",
		"pattern=publish..roundtrip:lin:3": "is no end of a range",
		"producers=1KiB,2KiB":              "not a whole number",
		"size=16B..64B:lin:4":              "too small",
		"pattern=deliver,delivr":           "deliver",
	} {
		_, err := ParseAxis(text)
		switch {
		case err == nil:
			t.Errorf("%s: no error, want %s", text, want)
		case !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%s: %v, want one line with %s", text, err, want)
		case !strings.Contains(err.Error(), strings.Split(text, "=")[0]):
			t.Errorf("%s: %v does not name the field", text, err)
		}
	}
}

func axis(t *testing.T, text string) Axis {
	t.Helper()
	a, err := ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string][]float64{
		"rate=60/min,2/s":                  {1, 2},
		"size=1KiB,1MB":                    {1024, 1e6},
		"duration=1m,100ms":                {60, 0.1},
		"rate=1000,2K,6/min":               {1000, 2000, 0.1},
		"rate=1k..3k:lin:3":                {1000, 2000, 3000},
		"size=64,1K,1m":                    {64, 1024, 1 << 20},
		"producers=1k,2k":                  {1000, 2000},
		"option.write_buffer=1K..4K:log:3": {1024, 2048, 4096},
		"producers=1,10":                   {1, 10},
		"pattern=deliver,publish":          nil,
		"option.linger=5ms,5":              nil,
	} {
		got, ok := axis(t, text).Numbers()
		if !slices.Equal(got, want) || ok != (want != nil) {
			t.Errorf("%s: %v, %v", text, got, ok)
		}
	}
}

func TestGrid(t *testing.T) {
	g, err := NewGrid(axis(t, "rate=1k/s..4k/s:log:3"), axis(t, "size=256B,1KiB"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, c := range g.Cells() {
		if i != len(got) {
			t.Errorf("cell %d comes as number %d", i, len(got))
		}
		got = append(got, c.String())
	}
	want := "rate=1k/s size=256B, rate=1k/s size=1KiB, rate=2000/s size=256B, rate=2000/s size=1KiB, rate=4k/s size=256B, rate=4k/s size=1KiB"
	if s := strings.Join(got, ", "); s != want || g.Len() != 6 {
		t.Errorf("%d cells: %s", g.Len(), s)
	}
	var s scenario.Scenario
	if err := s.Apply(g.Cell(3).Overrides()...); err != nil || s.Workload.Rate.Float() != 2000 || s.Workload.Size != scenario.FixedSize(scenario.KiB) {
		t.Errorf("the scenario of %s: %v, %v, %v", g.Cell(3), s.Workload.Rate, s.Workload.Size, err)
	}
	if empty, err := NewGrid(); err != nil || empty.Len() != 1 || empty.Cell(0).String() != "" {
		t.Errorf("no axes: %d cells, %v", empty.Len(), err)
	}
	for _, pair := range [][2]string{{"rate=1/s", "workload.rate=2/s"}, {"arrivals=poisson", "arrivals.kind=poisson"}} {
		second := pair[1]
		if !strings.HasPrefix(second, "workload.") {
			second = "workload." + second
		}
		if _, err := NewGrid(axis(t, pair[0]), axis(t, second)); err == nil || !strings.Contains(err.Error(), "two axes are over") {
			t.Errorf("%v: %v", pair, err)
		}
	}
}

// A grid is counted without being built.
func TestGridOfManyCells(t *testing.T) {
	a := axis(t, "rate=1/s..10M/s:log:1000")
	b := axis(t, "size=32B..1MiB:log:1000")
	g, err := NewGrid(a, b)
	if err != nil || g.Len() != len(a.Values)*len(b.Values) || g.Len() < 900_000 {
		t.Errorf("%d cells, %v", g.Len(), err)
	}
	var many []Axis
	for range 16 {
		many = append(many, Axis{Name: "x", Key: string(rune('a' + len(many))), Values: make([]string, maxValues)})
	}
	if g, err := NewGrid(many...); err != nil || g.Len() != math.MaxInt {
		t.Errorf("%d cells, %v", g.Len(), err)
	}
}

// A rate is shown in one spelling, anything else as it was written.
func TestCoordinateText(t *testing.T) {
	for value, want := range map[string]string{"1k/s": "1,000/s", "2000/s": "2,000/s", "10/min": "0.1667/s", "max": "max", "1KiB": "1KiB", "step:1/s@1s": "step:1/s@1s", "file:a/s": "file:a/s"} {
		if got := (Coordinate{Value: value}).Text(); got != want {
			t.Errorf("%s is shown as %s, want %s", value, got, want)
		}
	}
}
