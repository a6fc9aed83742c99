package compare

import (
	"strings"
	"testing"

	"sixnines/result"
)

// A run whose seal is that of other lines is in no figure: neither side gains by a file that was changed.
func TestAlteredRunsAreLeftOut(t *testing.T) {
	a, b := steady(10, 1, func(side, n int, r *result.Run) {
		r.Header.Sealed = true
		r.Summary.Seal, r.Counted = &result.Seal{SHA256: "x"}, &result.Seal{SHA256: "x"}
		if n == 4 { // of a run that was just made, whose seal is in its file
			r.Summary.Seal, r.Counted = nil, nil
		}
		if side == 1 && n == 3 {
			r.Counted.SHA256 = "y"
		}
	})
	c := compared(t, a, b, standard())
	if len(c.Pairs) != 9 || len(c.Left) != 2 || !strings.Contains(c.Left[0].Why+c.Left[1].Why, "changed after it was written") {
		t.Errorf("%d pairs, left out %+v", len(c.Pairs), c.Left)
	}
}
