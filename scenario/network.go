package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/spell"
	"sixnines/internal/strict"
)

// Conditions is what a path does to packets in one direction. The zero value does nothing.
type Conditions struct {
	Delay   time.Duration `yaml:"delay,omitempty" doc:"how much later each packet arrives, one way; where it holds for both directions, a round trip takes twice as long" min:"1us" max:"10s"`
	Jitter  time.Duration `yaml:"jitter,omitempty" doc:"how far the delay of a packet may be from delay, earlier or later, drawn evenly; packets keep their order" min:"1us" max:"10s"`
	Loss    Share         `yaml:"loss,omitempty" doc:"share of packets that are lost, drawn independently" max:"100%"`
	Reorder Share         `yaml:"reorder,omitempty" doc:"share of packets that are not delayed, so that they overtake those before them; needs delay" max:"100%"`
	Rate    BitRate       `yaml:"rate,omitempty" doc:"what the path carries at most, in bits of IP packets a second; packets queue for up to 100ms, or 256KiB if that is more, and are dropped beyond" min:"8kbit" max:"100gbit"`
}

// IsZero reports whether the conditions do nothing.
func (c Conditions) IsZero() bool { return c == Conditions{} }

// Network is what the path between clients and brokers is like, for a time or for a whole run.
type Network struct {
	Profile    string `yaml:"profile,omitempty" doc:"a network by name, whose figures apply where no others are given" enum:"lan,cross-zone,cross-region,wan,4g,lossy-wifi,satellite"`
	Conditions `yaml:",inline"`
	Direction  Direction `yaml:"direction,omitempty" doc:"for which packets they hold: those to the brokers, those from them, or both; default both" enum:"both,to-brokers,from-brokers"`
	Between    []Party   `yaml:"between,omitempty" doc:"the two ends of the path; default [clients, brokers]. [brokers, brokers] is the path between the nodes of a cluster, which must be in namespaces" enum:"clients,brokers"`
}

// Direction says for which packets conditions hold.
type Direction string

// The directions.
const (
	BothDirections Direction = "both"
	ToBrokers      Direction = "to-brokers"
	FromBrokers    Direction = "from-brokers"
)

// Party is one end of a path.
type Party string

// The parties.
const (
	Clients Party = "clients"
	Brokers Party = "brokers"
)

// Resolved returns the network with every default: the figures of its profile where it has
// none of its own, and its direction and ends.
func (n Network) Resolved() Network {
	if p, ok := ProfileOf(n.Profile); ok {
		fill(&n.Delay, p.Conditions.Delay)
		fill(&n.Jitter, p.Conditions.Jitter)
		fill(&n.Loss, p.Conditions.Loss)
		fill(&n.Reorder, p.Conditions.Reorder)
		fill(&n.Rate, p.Conditions.Rate)
	}
	fill(&n.Direction, BothDirections)
	if len(n.Between) == 0 {
		n.Between = []Party{Clients, Brokers}
	}
	return n
}

// Problem says what is wrong with a network; no cause: nothing is. key is the one that the
// cause is about, empty for the whole.
func (n Network) Problem() (key, cause, hint string) {
	r := n.Resolved()
	switch {
	case r.IsZero():
		return "", "the action network has no conditions", "give it one of delay, loss and rate, or a profile: " + strings.Join(profileNames(), ", ")
	case r.Jitter > r.Delay:
		return "jitter", fmt.Sprintf("with a jitter of %s on a delay of %s, packets would arrive before they are sent", formatDuration(r.Jitter), formatDuration(r.Delay)), "make delay at least as long as jitter"
	case r.Reorder > 0 && r.Delay == 0:
		return "reorder", "reordering sends some packets without the delay of the others, and no delay is given", "give delay, such as delay: 5ms"
	case len(r.Between) != 2 || !slices.Contains(r.Between, Brokers):
		return "between", "there is no path between these ends", "write between: [clients, brokers] or [brokers, brokers]"
	case n.Direction != "" && n.Direction != BothDirections && r.Among():
		return "direction", "between the nodes of a cluster every packet goes both to a broker and from one", "leave direction out"
	}
	return "", "", ""
}

// Words names the two ends of the path and its direction, for people.
func (n Network) Words() string {
	switch r := n.Resolved(); {
	case r.Among():
		return "brokers and brokers"
	case r.Direction != BothDirections:
		return "packets " + strings.Replace(string(r.Direction), "-", " ", 1)
	}
	return "clients and brokers"
}

// network checks the conditions of the whole run.
func (v *validator) network() {
	if v.s.Network != nil {
		v.conditions(v.s.Network, networkKey)
	}
}

const networkKey = "network"

// conditions checks a network that is written at a key.
func (v *validator) conditions(n *Network, key string) {
	if of, cause, hint := n.Problem(); cause != "" {
		at := key
		if of != "" {
			at = strict.Join(key, of)
		}
		v.fail(cause, hint, at, key)
	}
	v.networkBetween(n, key)
}

// checkNetwork checks the conditions of an act.
func checkNetwork(v *validator, a *Act) {
	v.conditions(a.Network, strict.Join(a.key, string(ActionNetwork)))
	v.refuse(v.s.Network != nil, "an action network at "+a.At.String()+", and a network for the whole run: a packet cannot be under both",
		"leave network out, and let actions that follow each other say what the path is like at each time", a.key, networkKey)
	for _, b := range OfKind(v.s.Acts(), ActionNetwork) {
		if b.key != a.key && b.At.After <= a.At.After && a.At.After < b.End() {
			v.fail(fmt.Sprintf("two actions network at the same time, at %s and at %s", b.At, a.At), "start the second when the first has ended, or write one with the conditions of both", a.key, b.key)
			break
		}
	}
}

// networkBetween checks that the broker can have conditions between its nodes.
func (v *validator) networkBetween(n *Network, key string) {
	v.refuse(n.Among() && v.s.Target.URL != "", "the path between nodes needs a broker that is started for the run", "leave target.url out, or write between: [clients, brokers]", strict.Join(key, "between"))
	v.refuse(n.Among() && v.s.Target.URL == "" && v.s.Target.Nodes < 2, "the path between nodes needs several, but the broker has one", "give target.nodes, such as nodes: 3", strict.Join(key, "between"))
}

// Among reports whether the path is the one between the nodes of a cluster.
func (n Network) Among() bool { return len(n.Between) == 2 && !slices.Contains(n.Between, Clients) }

// Profile is a network by name.
type Profile struct {
	Name       string
	Conditions Conditions // of each direction
	What       string     // what such a network is
	Source     string     // of its figures; where it says "chosen" they are not measurements
}

// Profiles lists the networks that have a name. Figures that a source gives as round trips are
// halved here, since Conditions has one way.
func Profiles() []Profile {
	const ms = time.Millisecond
	return []Profile{
		{Name: "lan", Conditions: Conditions{Delay: 250 * time.Microsecond}, What: "two machines in one data centre",
			Source: "round trip of 500 µs: J. Dean, \"Designs, Lessons and Advice from Building Large Distributed Systems\", LADIS 2009, \"Numbers everyone should know\""},
		{Name: "cross-zone", Conditions: Conditions{Delay: 500 * time.Microsecond}, What: "two availability zones of a cloud region",
			Source: "round trips of 0.5 to 1.5 ms between AWS zones: flashgrid.io, \"Latencies between AWS availability zones\", 27 March 2023; the middle of them"},
		{Name: "cross-region", Conditions: Conditions{Delay: 36 * ms}, What: "two regions of a cloud on one continent, far from each other",
			Source: "round trips of 5 to 72 ms within North America: Microsoft, \"Azure network round-trip latency statistics\", October 2019; the longest of them"},
		{Name: "wan", Conditions: Conditions{Delay: 45 * ms, Loss: 0.005}, What: "a transatlantic line at the limits of its service level agreement",
			Source: "Verizon's transatlantic service level: a round trip of at most 90 ms and 99.5 % of packets delivered, New York to London"},
		{Name: "4g", Conditions: Conditions{Delay: 85 * ms, Rate: 9_000_000}, What: "a phone on 4G",
			Source: "WebPageTest's connectivity profile 4G: 9 Mbit/s, round trip of 170 ms"},
		{Name: "lossy-wifi", Conditions: Conditions{Delay: 3 * ms, Jitter: 2 * ms, Loss: 0.01, Reorder: 0.001, Rate: 30_000_000}, What: "a crowded wireless network",
			Source: "chosen: no figures that hold in general are known"},
		{Name: "satellite", Conditions: Conditions{Delay: 279 * ms}, What: "a geostationary satellite",
			Source: "279 ms for one hop at the edge of the view area, so a round trip of at least 558 ms: RFC 2488, section 2"},
	}
}

// ProfileOf returns the profile of a name; false: no profile has it.
func ProfileOf(name string) (Profile, bool) {
	all := Profiles()
	i := slices.IndexFunc(all, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return Profile{}, false
	}
	return all[i], true
}

func profileNames() (all []string) {
	for _, p := range Profiles() {
		all = append(all, p.Name)
	}
	return all
}

// Share is a part of a whole, 0 to 1. Its text is in percent: 0.1%.
type Share float64

// ParseShare reads a share. Its errors are of type [*Error], without a position.
func ParseShare(s string) (Share, error) {
	f, err := spell.ParsePercent(strings.ReplaceAll(s, " ", ""))
	if err != nil || f < 0 || f > 1 {
		return 0, wrong(quote(s)+" is not a share of packets", "write a percentage from 0% to 100%, such as 0.1%")
	}
	return Share(f), nil
}

// String returns the share as [ParseShare] reads it back.
func (s Share) String() string { return spell.PercentText(float64(s)) }

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (s Share) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Share) UnmarshalText(text []byte) error { return set(s, text, ParseShare) }

// BitRate is a number of bits a second. Its text has a unit, a power of 1000: 100mbit.
type BitRate int64

// bitUnits are the units of a BitRate, the largest first.
func bitUnits() []struct {
	name string
	bits BitRate
} {
	return []struct {
		name string
		bits BitRate
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1}}
}

// ParseBitRate reads a rate in bits a second. Units may have capital letters, and /s after
// them. Its errors are of type [*Error], without a position.
func ParseBitRate(s string) (BitRate, error) {
	const hint = "write it in bits a second, such as 100mbit, 1gbit or 2.5mbit"
	text := strings.ToLower(strings.ReplaceAll(s, " ", ""))
	text = strings.TrimSuffix(text, "/s")
	for _, u := range bitUnits() {
		number, ok := strings.CutSuffix(text, u.name)
		if !ok {
			continue
		}
		n, scale, err := spell.Plain(number)
		if err != nil {
			break
		}
		if bits := float64(n) / float64(scale) * float64(u.bits); bits <= 1e15 {
			return BitRate(bits + 0.5), nil
		}
	}
	return 0, wrong(quote(s)+" is not a network rate", hint)
}

// String returns the rate in its largest unit that needs no fraction, as [ParseBitRate] reads
// it back.
func (r BitRate) String() string {
	for _, u := range bitUnits() {
		if r >= u.bits && r%u.bits == 0 {
			return strconv.FormatInt(int64(r/u.bits), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(r), 10) + "bit"
}

// MarshalText implements [encoding.TextMarshaler], for YAML and JSON alike.
func (r BitRate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (r *BitRate) UnmarshalText(text []byte) error { return set(r, text, ParseBitRate) }
