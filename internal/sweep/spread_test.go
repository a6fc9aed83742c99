package sweep

import (
	"slices"
	"testing"
)

// A lower bound qualifies what it may move: the median only if it ranks below it, and the
// end of an interval only if it is not beyond.
func TestSpreadOfLowerBounds(t *testing.T) {
	number := func(v int64) Sample {
		return Sample{Value: float64(v), Figure: Figure{Value: v, Low: v - 1, High: v + 1}}
	}
	atLeast := func(v int64) Sample {
		return Sample{Value: float64(v), Figure: Figure{Value: v, AtLeast: true}}
	}
	open := func(v int64) Sample {
		x := number(v)
		x.Figure.Open = true
		return x
	}
	slow := Sample{Figure: Figure{Missing: "unstable"}}
	six := []Sample{number(10), number(20), number(30), number(40), number(50)}
	for _, tt := range []struct {
		name    string
		samples []Sample
		want    Spread
	}{
		{"above the median", []Sample{number(10), number(20), atLeast(90)}, Spread{Value: 20, Low: 9, High: 90, Runs: 3, Open: true}},
		{"the median", []Sample{number(10), atLeast(20), number(90)}, Spread{Value: 20, Low: 9, High: 91, Runs: 3, AtLeast: true, Open: true}},
		{"below the median", []Sample{atLeast(10), number(20), number(90)}, Spread{Value: 20, Low: 10, High: 91, Runs: 3, AtLeast: true, Open: true}},
		{"as large as the median", []Sample{atLeast(20), number(20), number(10)}, Spread{Value: 20, Low: 9, High: 21, Runs: 3, Open: true}},
		{"only an end within a run", []Sample{open(10), number(20), number(90)}, Spread{Value: 20, Low: 9, High: 91, Runs: 3, Open: true}},
		{"ends within runs do not matter to the median's interval", append(slices.Clone(six), open(60)), Spread{Value: 30, Low: 10, High: 60, Bounded: true, Runs: 6}},
		{"the end of the median's interval", append(slices.Clone(six), atLeast(60)), Spread{Value: 30, Low: 10, High: 60, Bounded: true, Runs: 6, Open: true}},
		{"below a run that was overloaded", append(slices.Clone(six), slow), Spread{Value: 30, Low: 10, High: 51, Bounded: true, Above: "unstable", Runs: 5}},
	} {
		if got := SpreadOf(tt.samples, len(tt.samples)); got != tt.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}
