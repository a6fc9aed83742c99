package result

// Metric names one latency distribution of a run.
type Metric string

// The metrics. Each is the difference between two instants of the same
// message; response counts from the instant the message was due, service from
// the instant it was handed to the client.
const (
	LagOwn            Metric = "lag.own"            // the generator's own delay in sending
	LagBlocked        Metric = "lag.blocked"        // delay in sending imposed by a blocked send or a full in-flight limit
	LagReceive        Metric = "lag.receive"        // deliveries and replies: return of the read − arrival in this machine, by the kernel's receive time stamp; a part of the service time
	LagReceiveAck     Metric = "lag.receive.ack"    // the same for acknowledgements
	PublishResponse   Metric = "publish.response"   // acked − intended
	PublishService    Metric = "publish.service"    // acked − sent
	DeliveryResponse  Metric = "delivery.response"  // received − intended, message × consumer
	DeliveryService   Metric = "delivery.service"   // received − sent, message × consumer
	DeliveryLast      Metric = "delivery.last"      // slowest consumer − intended, per message
	RoundTripResponse Metric = "roundtrip.response" // replied − intended
	RoundTripService  Metric = "roundtrip.service"  // replied − sent

	// Of connections that are opened beside those of the messages, see [Connections]: each from the instant at
	// which a connection was due to be opened.
	ConnectionConnect   Metric = "connection.connect"   // until the network connection was made
	ConnectionLogin     Metric = "connection.login"     // until the broker had taken the login
	ConnectionSubscribe Metric = "connection.subscribe" // until the consumer had subscribed

	// ProbeService is the [Header.ServiceMetric] of a probe's messages in the measured
	// window. A probe is a producer and a consumer at a low rate, in their own process and
	// on their own topic, beside the load at the same broker.
	ProbeService Metric = "probe.service"

	// The stages of a service time, for a sample of the messages and only where the
	// engine's own connections show them. Each is an upper bound where a client writes
	// or reads several messages at a time. The answer is the delivery, acknowledgement
	// or reply.
	StageClient   Metric = "stage.client"   // written to the socket − sent
	StageBroker   Metric = "stage.broker"   // arrival of the answer in this machine − written; if the arrival is unknown, read of the answer − written
	StageReceive  Metric = "stage.receive"  // read of the answer − its arrival; 0 if the arrival is unknown
	StageCallback Metric = "stage.callback" // received, acked or replied − read of the answer
)

// Metrics lists all metrics in the order in which reports show them.
func Metrics() []Metric {
	return []Metric{DeliveryResponse, DeliveryService, DeliveryLast, RoundTripResponse, RoundTripService,
		PublishResponse, PublishService, ConnectionConnect, ConnectionLogin, ConnectionSubscribe, ProbeService, LagOwn, LagBlocked, LagReceive, LagReceiveAck, StageClient, StageBroker, StageReceive, StageCallback}
}

// IsResponse reports whether m counts from the intended instant.
func (m Metric) IsResponse() bool {
	return m == PublishResponse || m == DeliveryResponse || m == DeliveryLast || m == RoundTripResponse || m.OfOpening()
}

// OfOpening reports whether m times the opening of connections, and no message.
func (m Metric) OfOpening() bool {
	return m == ConnectionConnect || m == ConnectionLogin || m == ConnectionSubscribe
}

// OfConnection reports whether m is computed from instants that the engine's connections
// saw, without any instant of the client library.
func (m Metric) OfConnection() bool {
	switch m {
	case LagReceive, LagReceiveAck, StageClient, StageBroker, StageReceive, StageCallback:
		return true
	}
	return false
}

// IsLatency reports whether m is a response time or a service time, and not a lag or a
// stage of one.
func (m Metric) IsLatency() bool {
	return m.IsResponse() || m == PublishService || m == DeliveryService || m == RoundTripService
}

// OfGenerator reports whether m measures only the generator: no broker influences it.
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
