package driver

import "fmt"

// Left is an error of [Session.Deprovision]: something of the run is still at the broker. Deprovision joins one for each thing
// that it could not remove.
type Left struct {
	What string // in the broker's terms: "topic", "queue", "stream"
	Name string // at the broker
	Err  error  // why it is still there; it wraps a class
}

// Error names the leftovers, and why they are.
func (l *Left) Error() string { return fmt.Sprintf("%s %s is left: %v", l.What, l.Name, l.Err) }

// Unwrap returns Err.
func (l *Left) Unwrap() error { return l.Err }

// LeaveAll returns a Left for each name, none of which could be removed because of err; nil if err is.
func LeaveAll(err error, what string, names []string) []error {
	var all []error
	for _, name := range names {
		if err != nil {
			all = append(all, &Left{What: what, Name: name, Err: err})
		}
	}
	return all
}

// LeftOf returns what an error of Deprovision says is left.
func LeftOf(err error) (all []*Left) {
	switch x := err.(type) {
	case *Left:
		return []*Left{x}
	case interface{ Unwrap() []error }:
		for _, part := range x.Unwrap() {
			all = append(all, LeftOf(part)...)
		}
	case interface{ Unwrap() error }:
		return LeftOf(x.Unwrap())
	}
	return all
}
