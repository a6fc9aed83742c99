package sweep

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"strings"

	"sixnines/internal/spell"
	"sixnines/scenario"
)

// Grid is every combination of the values of its axes. Cells are computed on demand: a grid
// of a million cells needs only the memory of its axes.
type Grid struct {
	Axes []Axis
}

// NewGrid combines axes. It returns an error if two are over the same field, or one over a
// part of the other's.
func NewGrid(axes ...Axis) (Grid, error) {
	for i, a := range axes {
		if len(a.Values) == 0 {
			return Grid{}, fmt.Errorf("the axis %s has no values (%s)", a.Name, axisForm)
		}
		for _, b := range axes[:i] {
			if a.Key == b.Key || strings.HasPrefix(a.Key, b.Key+".") || strings.HasPrefix(b.Key, a.Key+".") {
				return Grid{}, fmt.Errorf("two axes are over %s (write all of its values in one)", b.Key)
			}
		}
	}
	return Grid{Axes: axes}, nil
}

// Len is the number of cells: 1 without axes, and at most [math.MaxInt].
func (g Grid) Len() int {
	n := uint64(1)
	for _, a := range g.Axes {
		hi, lo := bits.Mul64(n, uint64(len(a.Values)))
		if hi != 0 || lo > math.MaxInt {
			return math.MaxInt
		}
		n = lo
	}
	return int(n)
}

// Cell returns the cell i, from 0 to Len−1: the values of the last axis change
// fastest.
func (g Grid) Cell(i int) Cell {
	c := make(Cell, len(g.Axes))
	for k := len(g.Axes) - 1; k >= 0; k-- {
		a := g.Axes[k]
		c[k] = Coordinate{Name: a.Name, Key: a.Key, Value: a.Values[i%len(a.Values)]}
		i /= len(a.Values)
	}
	return c
}

// Cells yields the cells in order, with their indices.
func (g Grid) Cells() iter.Seq2[int, Cell] {
	return func(yield func(int, Cell) bool) {
		for i := range g.Len() {
			if !yield(i, g.Cell(i)) {
				return
			}
		}
	}
}

// Cell is one combination: a coordinate for each axis, in their order.
type Cell []Coordinate

// Coordinate is the value of one axis.
type Coordinate struct {
	Name  string `json:"name"` // see [Axis]
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Text is the value for output. Rates are written in messages a second in one notation, so
// that 1k/s and 2000/s become 1,000/s and 2,000/s; anything else is as it was written.
func (x Coordinate) Text() string {
	if r, err := scenario.ParseRate(x.Value); err == nil && strings.Contains(x.Value, "/") {
		return spell.Rate(r.Float())
	}
	return x.Value
}

// Text writes the cell for output, such as "rate=1,000/s size=256B".
func (c Cell) Text() string {
	words := make([]string, len(c))
	for i, x := range c {
		words[i] = x.Name + "=" + x.Text()
	}
	return strings.Join(words, " ")
}

// Overrides returns the overrides that turn a scenario into that of the cell.
func (c Cell) Overrides() []scenario.Override {
	all := make([]scenario.Override, len(c))
	for i, x := range c {
		all[i] = scenario.Override{Key: x.Key, Value: x.Value, Flag: "the axis " + x.Name}
	}
	return all
}

// String is such as "rate=1k/s size=256B": the values as they were written, which identify
// the cells of a series when it is resumed.
func (c Cell) String() string {
	words := make([]string, len(c))
	for i, x := range c {
		words[i] = x.Name + "=" + x.Value
	}
	return strings.Join(words, " ")
}
