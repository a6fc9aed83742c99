// Package churn opens connections on a schedule beside those of a load's messages, keeps each open for a time, and closes it: what
// a broker meets when clients come and go. Each is timed from the instant at which it was due, and each that is refused or never
// answered is counted.
//
// A connection is a consumer or a producer of the driver's with a connection number of its own, so it is made as those of the load
// are. It uses another session and a topic that gets no messages: the load's accounts do not know it.
package churn
