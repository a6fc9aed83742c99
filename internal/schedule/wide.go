package schedule

import (
	"math/big"
	"math/bits"
)

// wide is an unsigned integer of 192 bits, least significant word first.
// Operations wrap on overflow; callers must exclude it.
type wide [3]uint64

func wideOf(x *big.Int) wide {
	var w wide
	word := new(big.Int)
	mask := new(big.Int).SetUint64(1<<64 - 1)
	for i := range w {
		w[i] = word.And(word.Rsh(x, uint(64*i)), mask).Uint64()
	}
	return w
}

func (w wide) mul(y uint64) wide {
	h0, l0 := bits.Mul64(w[0], y)
	h1, l1 := bits.Mul64(w[1], y)
	l2 := w[2] * y
	m1, c := bits.Add64(l1, h0, 0)
	m2, _ := bits.Add64(l2, h1, c)
	return wide{l0, m1, m2}
}

func (w wide) add(x wide) wide {
	r0, c := bits.Add64(w[0], x[0], 0)
	r1, c := bits.Add64(w[1], x[1], c)
	r2, _ := bits.Add64(w[2], x[2], c)
	return wide{r0, r1, r2}
}

func (w wide) sub(x wide) wide {
	r0, b := bits.Sub64(w[0], x[0], 0)
	r1, b := bits.Sub64(w[1], x[1], b)
	r2, _ := bits.Sub64(w[2], x[2], b)
	return wide{r0, r1, r2}
}

// atMost reports w ≤ x.
func (w wide) atMost(x wide) bool {
	_, b := bits.Sub64(x[0], w[0], 0)
	_, b = bits.Sub64(x[1], w[1], b)
	_, b = bits.Sub64(x[2], w[2], b)
	return b == 0
}
