package judge

import (
	"testing"

	"sixnines/result"
)

// What several runs show together says which of them were made again, and changes nothing else.
func TestTogetherSaysWhatWasMadeAgain(t *testing.T) {
	met := []result.Objective{{Text: "lost == 0", Outcome: string(Met), Found: "0"}}
	failed := []result.Attempt{{Ending: result.AttemptFailed, Error: "the broker is gone"}}
	twice := append([]result.Attempt{{Ending: result.AttemptCut}}, failed...)
	for _, tt := range []struct {
		found   []Shown
		planned int
		outcome Outcome
		want    string
	}{
		{[]Shown{{met, nil}, {met, nil}}, 2, Met, "in each of 2 runs"},
		{[]Shown{{met, nil}, {met, failed}}, 2, Met, "in each of 2 runs; run 2 was made again: it failed before (the broker is gone)"},
		{[]Shown{{met, twice}, {met, failed}}, 2, Met, "in each of 2 runs; run 1 was made again 2 times: the last attempt before it failed (the broker is gone), as was one more"},
		{[]Shown{{met, []result.Attempt{{Ending: result.AttemptCut}}}}, 1, Met, "0; run 1 was made again: it was ended early before"},
		{[]Shown{{met, []result.Attempt{{Ending: result.AttemptKilled}}}}, 1, Met, "0; run 1 was made again: it was killed before"},
		{[]Shown{{met, []result.Attempt{{Ending: result.AttemptStopped}}}}, 1, Met, "0; run 1 was made again: it was stopped ahead of its window before"},
		{[]Shown{{met, []result.Attempt{{Ending: result.AttemptLost}}}}, 1, Met, "0; run 1 was made again: it lost its file before"},
		{[]Shown{{met, failed}}, 2, Undecided, "met in 1 run, but 2 were planned"},
	} {
		if o := Together("lost == 0", tt.found, tt.planned); o.Outcome != string(tt.outcome) || o.Found != tt.want {
			t.Errorf("%s: %q, want %s: %q", o.Outcome, o.Found, tt.outcome, tt.want)
		}
	}
}
