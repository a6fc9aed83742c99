package driver

import (
	"context"
	"strings"
	"time"
)

// Cleaner is implemented by sessions that can list what runs have left at the broker, and remove it. Nothing has been provisioned.
type Cleaner interface {
	// Leftovers returns what is at the broker under names that a run with Target.Prefix makes, see [Naming.OfRun]: that of runs that
	// are under way, too.
	Leftovers(ctx context.Context) ([]Leftover, error)
	// Remove removes one of them. That it is gone already is no error.
	Remove(ctx context.Context, l Leftover) error
}

// Leftover is something that a run has made at a broker.
type Leftover struct {
	What string // in the broker's terms: "topic", "stream"
	Name string
	// Used is when it was made or last written, as the broker says; zero: it does not say.
	Used time.Time
	// Ours says that a run has made it beyond doubt, see [Naming.Marked]: another's name may look like a run's.
	Ours bool
}

// runLength is how many hexadecimal digits the names of runs have.
const runLength = 8

// OfRun reports whether a name at the broker is one that a run with the prefix makes: the prefix or our mark, the eight
// hexadecimal digits of a run, and a separator or the end. Others may have names that begin with the same prefix, and go on
// with eight digits as well: a date, an order's number.
func (n Naming) OfRun(prefix, name string) bool {
	rest, ok := strings.CutPrefix(name, n.Begins(prefix))
	if !ok || len(rest) < runLength || strings.Trim(rest[:runLength], "0123456789abcdef") != "" {
		return false
	}
	rest = strings.TrimPrefix(rest[runLength:], "-c") // of connections that come and go
	return rest == "" || strings.HasPrefix(rest, n.Separator)
}

// Marked reports whether names of runs with the prefix have our mark in them, so that they cannot be another's.
func (n Naming) Marked(prefix string) bool { return prefix == "" }
