package result

// Metric names one latency distribution of a run.
type Metric string

// The metrics. Each is the difference between two instants of the same
// message; response counts from the instant the message was due, service from
// the instant it was handed to the client.
const (
	LagOwn            Metric = "lag.own"            // the generator's own delay in sending
	LagBlocked        Metric = "lag.blocked"        // delay in sending imposed by a blocked send or a full in-flight limit
	LagReceive        Metric = "lag.receive"        // delivered messages and replies: return of the read − arrival in this machine, by the kernel's receive time stamp; a part of the service time
	LagReceiveAck     Metric = "lag.receive.ack"    // the same of acknowledgements
	PublishResponse   Metric = "publish.response"   // acked − intended
	PublishService    Metric = "publish.service"    // acked − sent
	DeliveryResponse  Metric = "delivery.response"  // received − intended, message × consumer
	DeliveryService   Metric = "delivery.service"   // received − sent, message × consumer
	DeliveryLast      Metric = "delivery.last"      // slowest consumer − intended, per message
	RoundTripResponse Metric = "roundtrip.response" // replied − intended
	RoundTripService  Metric = "roundtrip.service"  // replied − sent

	// ProbeService is what [Header.ServiceMetric] was, in the measured window, for
	// the messages of a probe: a producer and a consumer at a low rate, in a
	// process and on a topic of their own, beside the load at the same broker.
	ProbeService Metric = "probe.service"

	// The stages of a service time, of a sample of the messages and only where
	// the engine's own connections show them: an upper bound each where a client
	// writes or reads several messages at a time.
	StageClient   Metric = "stage.client"   // written to the socket − sent
	StageBroker   Metric = "stage.broker"   // arrival of what came back in this machine − written; where that is not known, its read − written
	StageReceive  Metric = "stage.receive"  // its read − its arrival; 0 where that is not known
	StageCallback Metric = "stage.callback" // received, acked or replied − its read
)

// Metrics lists all metrics in the order in which reports show them.
func Metrics() []Metric {
	return []Metric{DeliveryResponse, DeliveryService, DeliveryLast, RoundTripResponse, RoundTripService,
		PublishResponse, PublishService, ProbeService, LagOwn, LagBlocked, LagReceive, LagReceiveAck, StageClient, StageBroker, StageReceive, StageCallback}
}

// IsResponse reports whether m counts from the intended instant.
func (m Metric) IsResponse() bool {
	return m == PublishResponse || m == DeliveryResponse || m == DeliveryLast || m == RoundTripResponse
}

// OfConnection reports whether m holds what the engine's connections saw, and no
// instant of the client's.
func (m Metric) OfConnection() bool {
	switch m {
	case LagReceive, LagReceiveAck, StageClient, StageBroker, StageReceive, StageCallback:
		return true
	}
	return false
}

// IsLatency reports whether m is a response time or the service time of one:
// what a run is made for, and not a part of it.
func (m Metric) IsLatency() bool {
	return m.IsResponse() || m == PublishService || m == DeliveryService || m == RoundTripService
}

// OfGenerator reports whether m holds nothing but what happened within the
// generator: no broker has a part in it.
func (m Metric) OfGenerator() bool {
	return m == LagOwn || m == LagReceive || m == LagReceiveAck || m == StageClient || m == StageReceive || m == StageCallback
}

// Service returns the service metric that belongs to a response metric, or "".
func (m Metric) Service() Metric {
	switch m {
	case PublishResponse:
		return PublishService
	case DeliveryResponse:
		return DeliveryService
	case RoundTripResponse:
		return RoundTripService
	}
	return ""
}
