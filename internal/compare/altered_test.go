package compare

import (
	"strings"
	"testing"

	"sixnines/internal/actioncost"
	"sixnines/internal/judge"
	"sixnines/result"
)

// A run whose seal is that of other lines is in no figure, and in no cost of an action: neither side gains by a file that was
// changed.
func TestAlteredRunsAreLeftOut(t *testing.T) {
	a, b := steady(10, 1, func(side, n int, r *result.Run) {
		killed(r, int64(1e9)+int64(side)*2e9+int64(n)*1e6, 0)
		r.Header.Sealed = true
		r.Summary.Seal, r.Counted = &result.Seal{SHA256: "x"}, &result.Seal{SHA256: "x"}
		if side == 1 && n == 3 {
			r.Counted.SHA256 = "y"
		}
		if how := judge.RefuseAltered(r); (how != "") != (side == 1 && n == 3) {
			t.Errorf("run %d of side %d is altered: %q", n, side, how)
		}
	})
	c := compared(t, a, b, standard())
	if len(c.Pairs) != 9 || len(c.Left) != 2 || !strings.Contains(c.Left[0].Why+c.Left[1].Why, "changed after it was written") {
		t.Errorf("%d pairs, left out %+v", len(c.Pairs), c.Left)
	}
	if c.Gate.Answer != Open {
		t.Errorf("a gate without that pair: %s", c.Gate.Answer)
	}
	if r := costRow(t, c, actioncost.Unavailable); r.A.Runs != 10 || r.B.Runs != 9 {
		t.Errorf("costs of %+v and %+v", r.A, r.B)
	}
}
