package cli

import (
	"strings"

	"sixnines/internal/spell"
)

// percentFlag is a flag that takes a share as a percentage.
type percentFlag struct {
	share       float64
	least, most float64 // what it may be
	flag        string  // its name: "--min-effect"
	example     string  // a value: "5%"
}

func (p *percentFlag) String() string { return spell.PercentText(p.share) }
func (p *percentFlag) Type() string   { return "PERCENT" }

func (p *percentFlag) Set(text string) error {
	if share, err := spell.ParsePercent(strings.ReplaceAll(text, " ", "")); err == nil && share >= p.least && share <= p.most {
		p.share = share
		return nil
	}
	return wrongUsage("write it as "+p.flag+" "+p.example, "%s cannot be %q: it takes a percentage from %s to %s", p.flag, text, spell.PercentText(p.least), spell.PercentText(p.most))
}
