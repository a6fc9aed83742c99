package wire

import "strconv"

// Service is the name by which agents are found, see package micro of nats.go.
const Service = "sixnines-agent"

// ServiceVersion is the version that an agent's service has: that of the protocol. The program's is in [Hello].
const ServiceVersion = "1.0.0"

// HelloKey is the key of the service's metadata under which an agent's encoded [Hello] is.
const HelloKey = "hello"

// root begins all subjects.
const root = "sixnines.fleet.1."

// Request is what an agent is asked for.
type Request string

// The requests, each with the kind of its message. All are answered by an [Answer] but those said otherwise.
const (
	RequestPlan    Request = "plan"
	RequestGo      Request = "go"
	RequestClock   Request = "clock"
	RequestStop    Request = "stop"
	RequestConfirm Request = "confirm"
	RequestStatus  Request = "status" // Ask, answered by a Status
	RequestTime    Request = "time"   // a question of package clocksync, answered by its answer
	RequestPeer    Request = "peer"
	RequestStamps  Request = "stamps" // Ask, answered by Stamps
)

// RequestSubject is where an agent takes a request.
func RequestSubject(id string, r Request) string { return root + "agent." + id + "." + string(r) }

// StatusSubject is where an agent of a run says its [Status]; agent "*": all of them.
func StatusSubject(run, id string) string { return root + "run." + run + ".status." + id }

// PulseSubject is where a run's coordinator says its [Pulse].
func PulseSubject(run string) string { return root + "run." + run + ".pulse" }

// RecordSubject is where an agent of a run sends its records, which the run's stream keeps; agent "*":
// all of them.
func RecordSubject(run, id string) string { return root + "run." + run + ".record." + id }

// ManifestSubject is where a run's coordinator sends its [Manifest], which the run's stream keeps.
func ManifestSubject(run string) string { return root + "run." + run + ".manifest" }

// streamPrefix begins the names of streams.
const streamPrefix = "SIXNINES-FLEET-" // the version follows

// StreamName is the name of a run's stream.
func StreamName(run string) string { return streamPrefix + strconv.Itoa(Protocol) + "-" + run }
