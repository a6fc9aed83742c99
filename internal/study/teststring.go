package study

import (
	"fmt"
	"strings"

	"sixnines/internal/spell"
)

// String says in one line what is tested.
func (t *Test) String() string {
	figures := strings.Join(t.Figures, ", ")
	cells := strings.Join(t.Cells, ", ")
	switch t.Kind {
	case KindFaster:
		text := fmt.Sprintf("%s is faster than %s at %s", t.A, t.B, figures)
		if t.Margin > 0 {
			text += fmt.Sprintf(", and not the same within %s", spell.Percent(t.Margin))
		}
		return text
	case KindEquivalent:
		return fmt.Sprintf("%s and %s differ by at most %s at %s", t.A, t.B, spell.Percent(t.Margin), figures)
	case KindRatio:
		return fmt.Sprintf("%s of %s is %s times that of %s", figures, t.A, t.claimed(), t.B)
	case KindBelow, KindAbove:
		return fmt.Sprintf("%s of %s: %s %s", figures, cells, t.Kind, t.Bound)
	case KindMonotone:
		return fmt.Sprintf("%s over %s: %s", figures, cells, t.Direction)
	case KindShare:
		return fmt.Sprintf("%s is %s in %s of %s", figures, t.claimed(), spell.Percent(t.Share), cells)
	case KindSteady:
		return fmt.Sprintf("%s: %s", cells, t.Class)
	case KindNone, KindSome:
		return fmt.Sprintf("%s of %s: %s", figures, cells, t.Kind)
	case KindArithmetic:
		return fmt.Sprintf("%s of %v is %s", t.Function, t.Of, spell.Number(t.Value))
	}
	return "not decidable: " + t.Why
}

// claimed writes the bound AtLeast or AtMost in words.
func (t *Test) claimed() string {
	if t.AtLeast != nil {
		return "at least " + spell.Number(*t.AtLeast)
	}
	return "at most " + spell.Number(*t.AtMost)
}
