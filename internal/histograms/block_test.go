package histograms

import (
	"math"
	"testing"
)

// The grid has no gaps, and BlockValueOf inverts BlockValue.
func TestBlockGrid(t *testing.T) {
	for v := range BlockValues {
		top := BlockValue(v)
		if BlockValueOf(top) != v {
			t.Fatalf("the value of %d is %d, want %d", top, BlockValueOf(top), v)
		}
		if v < BlockValues-1 && BlockValueOf(top+1) != v+1 {
			t.Fatalf("after %d comes %d, not %d", top, BlockValueOf(top+1), v+1)
		}
	}
	if BlockValue(BlockValues-1) != math.MaxInt64 || BlockValueOf(-5) != 0 {
		t.Errorf("the grid ends at %d", BlockValue(BlockValues-1))
	}
}
