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
	var means []string
	for _, m := range n.Means {
		if !slices.Contains(means, plain(m.Means)) {
			means = append(means, plain(m.Means))
		}
	}
	text := conditionsText(n.Asked)
	if n.Profile != "" {
		text = plain(n.Profile) + ": " + text
	}
	out := []entryText{{"path", text + ", each way, by " + strings.Join(means, " and "), "for the whole run, given by sixnines"}}
	if n.Direction != "" && n.Direction != "both" {
		out[0].Value = strings.Replace(out[0].Value, "each way", "packets "+plain(strings.Replace(n.Direction, "-", " ", 1))+" only", 1)
	}
	if n.Before != nil && n.During != nil {
		out = append(out, entryText{"round trip", duration(n.Before.P50) + " without, " + duration(n.During.P50) + " with it",
			"the median of handshakes before the load, as the kernel timed them (TCP_INFO): the path alone"})
	}
	return out
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
