package report

import (
	"fmt"
	"slices"
	"strings"

	"sixnines/internal/spell"
	"sixnines/result"
)

// networksOf returns the conditions that a run's network had with what was counted and measured:
// those of the whole run, then those of actions in order of time.
func networksOf(run *result.Run) (all []*result.Network) {
	for _, n := range networkRecords(run) {
		all = append(all, n.Network)
	}
	return all
}

// networkRecord is a network with the number of its action, 0: it is of the whole run.
type networkRecord struct {
	*result.Network
	action int
}

func networkRecords(run *result.Run) (all []networkRecord) {
	if n := run.Header.Network; n != nil {
		all = append(all, networkRecord{n, 0})
	}
	for i := range run.Events {
		e := &run.Events[i]
		switch {
		case e.Workload != run.Header.Workload && e.Workload != "":
		case e.Network != nil && len(all) > 0 && all[0].action == 0: // what was counted until the end
			all[0].Network = e.Network
		case e.Action == nil || e.Action.Network == nil:
		default:
			n := networkRecord{e.Action.Network, e.Action.Number}
			if i := slices.IndexFunc(all, func(x networkRecord) bool { return x.action == n.action }); i >= 0 {
				all[i] = n // the event at its end has the counts
			} else {
				all = append(all, n)
			}
		}
	}
	return all
}

// networkTable has the conditions of networks with what was counted and measured; nil without any.
func networkTable(s *subject) *table {
	all := networkRecords(s.run)
	if len(all) == 0 {
		return nil
	}
	x := &table{Name: "Conditions of the network", Head: columnHeads("lllrrrll", "of", "each way", "by", "round trip before", "during", "after", "lost", "means"), Even: true, Spill: true,
		Caption: "Round trips are medians of TCP handshakes over the path, timed by the kernel; those before the conditions are the path's floor. Lost: packets dropped by the condition loss, of all packets, counted where they were dropped. " +
			"Means: the rate of the limiter, and how much later than due packets left, on average and at most."}
	for _, n := range all {
		name := "the whole run"
		for _, a := range s.stretches() {
			if a.Number == n.action {
				name = fmt.Sprint(n.action) + " " + actionHead(&a)
			}
		}
		var lost, means []string
		if len(n.Followed) > 0 {
			means = append(means, "also for connections to "+strings.Join(n.Followed, ", ")+", of which the broker told clients")
		}
		if n.Unknown != "" {
			means = append(means, "it is not known whether they hold for all connections: "+n.Unknown)
		}
		for _, m := range n.Means {
			if slices.Contains(m.Gave, "loss") && m.Packets > 0 {
				lost = append(lost, fmt.Sprintf("%s of %s %s (%s)", count(m.Lost), count(m.Packets), plain(m.Way), spell.Share(float64(m.Lost)/float64(m.Packets))))
			}
			if m.Overflow > 0 {
				lost = append(lost, count(m.Overflow)+" "+plain(m.Way)+" because its queue was full")
			}
			if m.Rate > 0 {
				means = append(means, fmt.Sprintf("%s: %s Mbit/s", plain(m.Way), spell.Number(m.Rate/1e6)))
			}
			if m.Late != 0 || m.LateMost != 0 {
				means = append(means, plain(m.Way)+": late by "+duration(m.Late)+", at most "+duration(m.LateMost))
			}
		}
		x.add(name, askedText(n.Network, ""), strings.Join(meansOf(n.Network), ", "), median(n.Before), median(n.During), median(n.After), orDash(lost), orDash(means))
	}
	return x
}

// median is that of handshakes.
func median(r *result.RoundTrips) string {
	switch {
	case r == nil:
		return "n/a"
	case r.Tried == r.Failed:
		return "none of " + count(int64(r.Tried)) + " came back"
	case r.Failed > 0:
		return duration(r.P50) + " (" + count(int64(r.Failed)) + " of " + count(int64(r.Tried)) + " failed)"
	}
	return duration(r.P50)
}

func orDash(all []string) string {
	if len(all) == 0 {
		return "–"
	}
	return strings.Join(all, "; ")
}
