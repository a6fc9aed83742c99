// Package coordinator carries out one scenario on the agents of a fleet: it finds them, sends each its
// segment, has all start at one instant, and collects what they record until the last one ends.
//
// How a scenario is divided and how records become a result is not its business: see [Divider] and [Collector].
package coordinator
