package cli

import (
	"math"
	"strconv"
	"strings"
)

// percentFlag is a flag that takes a share as a percentage.
type percentFlag struct {
	share       float64
	least, most float64 // what it may be
	flag        string  // its name, with an example: "--min-effect 5%"
}

func (p *percentFlag) String() string { return percentText(p.share) }
func (p *percentFlag) Type() string   { return "PERCENT" }

func (p *percentFlag) Set(text string) error {
	number, ok := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if share := v / 100; ok && err == nil && share >= p.least && share <= p.most {
		p.share = share
		return nil
	}
	name, _, _ := strings.Cut(p.flag, " ")
	return wrongUsage("write it as "+p.flag, "%s cannot be %q: it takes a percentage from %s to %s", name, text, percentText(p.least), percentText(p.most))
}

// percentText writes a share in per cent.
func percentText(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e9)/1e7, 'f', -1, 64) + "%"
}
