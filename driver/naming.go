package driver

import (
	"fmt"
	"strings"
)

// Mark begins the names of what a run makes at a broker, unless the target has a prefix. It is short, since
// each message has its topic's name in it: core NATS flat out took 5.6 million messages a second on a
// subject of one byte, 3.9 million on one of 13 and 3.6 million on one of 20.
const Mark = "s9"

// Naming says what a driver calls things at its broker. The zero value: nothing there has a
// name that could be chosen.
type Naming struct {
	Separator string // between the prefix, the run and a topic
	Allowed   string // the characters that names may have beside ASCII letters and digits
	Longest   int    // a prefix, in bytes
	Parts     bool   // the broker splits names at Separator, and wants no empty part
	// Apart says that the names of groups are not made of the run's: they begin with the prefix by themselves.
	Apart bool
	// GivenTopic is what a topic of the operator's is at the broker, for users ("a subject"), and GivenGroup
	// what a group is, see Target.Given. Empty: the driver uses none.
	GivenTopic, GivenGroup string
	GroupsJoin             bool // a group begins with its first consumer, so that none can be missing
	// ListedBy is what lists the names at the broker where no session is a [Cleaner], as a command; empty: nothing does.
	ListedBy string
}

// TopicName returns what a topic of the target's run is called: its own name, where it is the
// operator's.
func (n Naming) TopicName(t Target, topic string) string {
	if t.Given {
		return topic
	}
	return n.Name(t, topic)
}

// CheckGiven refuses topics and groups of the operator's where the driver cannot use them. The
// error wraps [ErrUnsupported].
func (n Naming) CheckGiven(driver string, topics, groups []string) error {
	refuse := func(what, why string) error {
		return fmt.Errorf("%s: %s that exists: %w: %s", driver, what, ErrUnsupported, why)
	}
	switch {
	case len(topics) > 0 && n.GivenTopic == "":
		return refuse("a topic", "this driver has no topics that others could have made; leave the topic out")
	case len(groups) > 0 && n.GivenGroup == "":
		return refuse("a group", "this driver has no groups that others could have made; leave the group out")
	}
	return nil
}

// Begins returns what names of runs with the prefix begin with.
func (n Naming) Begins(prefix string) string {
	if prefix == "" {
		return Mark + n.Separator
	}
	return prefix
}

// Name returns what something of the target's run is called: the prefix, the run and the
// parts, with separators in between.
func (n Naming) Name(t Target, parts ...string) string {
	return n.Begins(t.Prefix) + strings.Join(append([]string{t.Run}, parts...), n.Separator)
}

// Group returns how a driver is to call a group of a run with the prefix, in
// Topology.Groups and ConsumerSpec.Group.
func (n Naming) Group(prefix, group string) string {
	if !n.Apart {
		return group
	}
	return strings.ReplaceAll(prefix, "/", "-") + group // brokers with levels of topics have none of groups
}

// CheckPrefix refuses a prefix that names at the broker cannot begin with. The error wraps
// [ErrUnsupported] and says what they can.
func (n Naming) CheckPrefix(driver, prefix string) error {
	switch {
	case prefix == "":
		return nil
	case n.Separator == "":
		return fmt.Errorf("%s: prefix %q: %w: this driver makes and uses no names at a broker; leave the prefix out", driver, prefix, ErrUnsupported)
	case len(prefix) > n.Longest || strings.ContainsFunc(prefix, n.odd) || n.Parts && (strings.HasPrefix(prefix, n.Separator) || strings.Contains(prefix, n.Separator+n.Separator)):
		parts := ""
		if n.Parts {
			parts = fmt.Sprintf(", with no empty part between the %q", n.Separator)
		}
		return fmt.Errorf("%s: prefix %q: %w: it may have up to %d letters, digits and characters of %q%s, such as %q",
			driver, prefix, ErrUnsupported, n.Longest, n.Allowed, parts, "bench"+n.Separator)
	}
	return nil
}

// odd reports whether names cannot have the character.
func (n Naming) odd(r rune) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return !strings.ContainsRune(plain, r) && !strings.ContainsRune(n.Allowed, r)
}
