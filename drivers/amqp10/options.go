package amqp10

import (
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are the options of the driver, see driver.DecodeOptions.
type Options struct {
	Routing  string `option:"routing" enum:"auto,anycast,multicast" doc:"anycast: a topic is one queue, which one group shares; multicast: each group, and each consumer on its own, gets every message; auto: multicast on Artemis, elsewhere anycast if there are groups, or option address, and else multicast"`
	Address  string `option:"address" doc:"address to send to, with {run} and {topic} in it, as /queues/{topic}; nothing is made or deleted then; empty: by the broker's product"`
	Source   string `option:"source" doc:"address to consume from, with {run}, {topic}, {group} and {consumer} in it; empty: option address"`
	Settled  bool   `option:"settled" doc:"messages are sent settled, and the broker acknowledges none"`
	Durable  bool   `option:"durable" doc:"messages are durable: written to disk before they are accepted"`
	Credit   int    `option:"credit" doc:"messages that the broker may send to a consumer before it has accepted one" min:"1" max:"65535"`
	AckEvery int    `option:"ack_every" doc:"consumers accept messages after this many, unless the run says otherwise; 1: each at once; 0: none, the broker sends them settled" min:"0" max:"65535"`
	VHost    string `option:"vhost" doc:"RabbitMQ's virtual host; empty: the path of the URL, else the default one"`
	kit.UserOptions
	Login       string          `option:"login" enum:"plain,anonymous,external" doc:"mechanism of SASL; plain: user and password; external: by the client's certificate"`
	IdleTimeout time.Duration   `option:"idle_timeout" doc:"a connection on which the broker is silent, or reads nothing, for so long counts as lost; 0: never" min:"0s" max:"18h"`
	FrameMax    driver.ByteSize `option:"frame_max" doc:"largest frame to take from the broker" min:"1KiB" max:"64MiB"`
	Name        string          `option:"name" doc:"beginning of the connections' container IDs; the run, role and number of each are added"`
	kit.ConnectOptions
}

// The values of options that are asked for by name.
const (
	auto      = "auto"
	anycast   = "anycast"
	plain     = "plain"
	anonymous = "anonymous"
	external  = "external"
)

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Routing:        auto,
		Credit:         1000,
		AckEvery:       1,
		Login:          plain,
		IdleTimeout:    time.Minute,
		FrameMax:       64 << 10,
		Name:           "sixnines",
		ConnectOptions: kit.ConnectOptions{ConnectTimeout: 10 * time.Second, ReconnectWait: 50 * time.Millisecond},
	}
}

// Validate finds options that contradict each other.
func (o *Options) Validate() error {
	wrong := failures().Option
	switch {
	case o.Source != "" && o.Address == "":
		return wrong("source", "it needs address beside it")
	case o.AckEvery > 1 && o.AckEvery > o.Credit/4:
		return wrong("ack_every", "it is more than a quarter of credit; some credit must be left when messages are accepted")
	}
	return nil
}

// Adjust implements driver.Adjuster.
func (o *Options) Adjust(c *driver.Capabilities) {
	if o.Settled {
		c.Ack = driver.AckKindNone
	}
}
