package cli

import (
	"strings"

	"sixnines/internal/spell"
)

// percentFlag is a flag that takes a share as a percentage.
type percentFlag struct {
	share       float64
	least, most float64 // what it may be
	flag        string  // its name, with an example: "--min-effect 5%"
}

func (p *percentFlag) String() string { return spell.PercentText(p.share) }
func (p *percentFlag) Type() string   { return "PERCENT" }

func (p *percentFlag) Set(text string) error {
	if share, err := spell.ParsePercent(strings.ReplaceAll(text, " ", "")); err == nil && share >= p.least && share <= p.most {
		p.share = share
		return nil
	}
	name, _, _ := strings.Cut(p.flag, " ")
	return wrongUsage("write it as "+p.flag, "%s cannot be %q: it takes a percentage from %s to %s", name, text, spell.PercentText(p.least), spell.PercentText(p.most))
}
