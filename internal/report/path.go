package report

import (
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
	"sixnines/scenario"
)

// pathLines describes the path to the broker that the whole run had; nil if the run left the path as it was.
func pathLines(n *result.Network) []entryText {
	if n == nil {
		return nil
	}
	out := []entryText{{"path", askedText(n, "each way") + ", by " + strings.Join(meansOf(n), " and "), "for the whole run, given by sixnines"}}
	if n.Before != nil && n.During != nil {
		out = append(out, entryText{"round trip", median(n.Before) + " without, " + median(n.During) + " with it",
			"the median of handshakes before the load, as the kernel timed them (TCP_INFO): the path alone"})
	}
	return out
}

// askedText is what a network was to be like; each is said of conditions that both directions have.
func askedText(n *result.Network, each string) string {
	text := conditionsText(n.Asked)
	if n.Profile != "" {
		text = plain(n.Profile) + ": " + text
	}
	switch {
	case n.Direction != "" && n.Direction != "both":
		return text + ", packets " + plain(strings.Replace(n.Direction, "-", " ", 1)) + " only"
	case each != "":
		return text + ", " + each
	}
	return text
}

// meansOf lists by which means a network was made, each once.
func meansOf(n *result.Network) (all []string) {
	for _, m := range n.Means {
		if !slices.Contains(all, plain(m.Means)) {
			all = append(all, plain(m.Means))
		}
	}
	return all
}

// conditionsText lists conditions of one direction.
func conditionsText(c result.Conditions) string {
	var all []string
	if c.Delay > 0 {
		text := "delay " + duration(c.Delay)
		if c.Jitter > 0 {
			text += " ± " + duration(c.Jitter)
		}
		all = append(all, text)
	}
	if c.Loss > 0 {
		all = append(all, "loss "+spell.PercentText(c.Loss))
	}
	if c.Reorder > 0 {
		all = append(all, "reordered "+spell.PercentText(c.Reorder))
	}
	if c.Rate > 0 {
		all = append(all, "rate "+scenario.BitRate(c.Rate).String())
	}
	return strings.Join(all, ", ")
}
