package nsq

import (
	"fmt"
	"strconv"
	"time"

	"github.com/nsqio/go-nsq"

	"sixnines/driver"
	"sixnines/semantics"
)

// semantics reports the settings in effect.
func (s *session) semantics() driver.Semantics {
	o, id := s.options, s.identity
	sem := driver.Semantics{
		Levels: semantics.Levels{Durability: semantics.Memory, Replication: semantics.Replication{Level: semantics.OneCopy},
			Ordering: semantics.Unordered, Delivery: semantics.AtLeastOnce},
		Client:         semantics.Client{Kind: semantics.Direct, Name: "go-nsq", Version: nsq.VERSION},
		Server:         driver.Server{Product: "nsqd", Version: id.Version, Protocol: "nsq V2"},
		Durability:     "memory of one nsqd, page cache beyond its mem-queue-size",
		Replication:    "none",
		Acknowledgment: "OK: the message is in the topic's queue",
		Redelivery:     time.Duration(id.MsgTimeout) * time.Millisecond,
		Ordering:       "none",
		Delivery:       "at least once",
		Batching:       "none, each message is a PUB written on the sender's thread",
		Consumption:    fmt.Sprintf("push, up to %d unfinished (RDY), finished when delivered and no further message is at hand", s.readyCount(o.MaxInFlight)),
		Transport:      "tcp",
		Settings: map[string]string{
			"write_buffer":          driver.ByteSize(s.writeBuffer).String(),
			"max_in_flight":         strconv.Itoa(s.readyCount(o.MaxInFlight)),
			"heartbeat_interval":    o.HeartbeatInterval.String(),
			"reconnect_wait":        o.ReconnectWait.String(),
			"authentication":        map[bool]string{false: "none", true: "secret"}[id.AuthRequired],
			"topics":                "made by HTTP",
			"sample_rate":           strconv.Itoa(id.SampleRate),
			"server_max_rdy_count":  strconv.Itoa(id.MaxRdyCount),
			"server_msg_timeout":    strconv.Itoa(id.MsgTimeout) + "ms",
			"output_buffer_size":    strconv.Itoa(id.OutputBufferSize),
			"output_buffer_timeout": strconv.Itoa(id.OutputBufferTimeout) + "ms",
			"compression":           "none",
		},
	}
	if s.writeBuffer > 1 {
		sem.Batching = fmt.Sprintf("MPUB of up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.writeBuffer))
	}
	if s.options.library() {
		s.librarySemantics(&sem)
	}
	if len(s.lookupd) > 0 {
		sem.Settings["consumers_connect_to"] = "the nsqds that nsqlookupd names"
	}
	if id.OutputBufferSize <= 1 {
		sem.Settings["output_buffer_size"], sem.Settings["output_buffer_timeout"] = "none", "none"
	}
	switch {
	case id.Deflate:
		sem.Settings["compression"] = "deflate, level " + strconv.Itoa(id.DeflateLevel)
		sem.Warnings = append(sem.Warnings, fmt.Sprintf("deflate: nsqd holds messages back for up to %d ms (output_buffer_timeout)", id.OutputBufferTimeout))
	case id.Snappy:
		sem.Settings["compression"] = "snappy"
	}
	if s.limit > 0 {
		sem.Settings["server_max_msg_size"] = driver.ByteSize(s.limit).String()
	}
	if s.TLS != nil {
		sem.Transport, sem.Encrypted = "tcp, tls", true
	}
	if s.http == "" {
		sem.Settings["topics"] = "ephemeral"
		sem.Durability = "memory of one nsqd"
		sem.Levels.Delivery = semantics.AtMostOnce
		sem.Delivery = "at most once beyond nsqd's mem-queue-size, else at least once"
		sem.Warnings = append(sem.Warnings, "without http_url channels are ephemeral: nsqd throws away what does not fit in its mem-queue-size")
	}
	if id.SampleRate > 0 {
		sem.Levels.Delivery = semantics.AtMostOnce
		sem.Delivery = fmt.Sprintf("%d %% of the messages", id.SampleRate)
		sem.Warnings = append(sem.Warnings, fmt.Sprintf("sample_rate: nsqd withholds %d %% of the messages from consumers", 100-id.SampleRate))
	}
	return sem
}

// librarySemantics says what is different by go-nsq's Producer and Consumer.
func (s *session) librarySemantics(sem *driver.Semantics) {
	sem.Client.Kind = semantics.Library
	sem.Batching = "none, each message is a PUB (PublishAsync) written on a goroutine of go-nsq's"
	if s.writeBuffer > 1 {
		sem.Batching = fmt.Sprintf("MPUB (MultiPublishAsync) of up to %s, until flushed, or 5 to 10 ms", driver.ByteSize(s.writeBuffer))
	}
	sem.Consumption = fmt.Sprintf("push, up to %d unfinished (RDY), each finished when delivered", s.readyCount(s.options.MaxInFlight))
	sem.Warnings = append(sem.Warnings, "go-nsq does not tell which messages were written when a connection is lost: the outcome of all without an answer is unknown")
	if s.http == "" {
		sem.Warnings = append(sem.Warnings, "go-nsq does not wait until a consumer is subscribed, and without http_url its channel is not there before: it may miss the first messages")
	}
}
