package rabbit

import (
	"time"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Options are those that connections by a protocol of our own have.
type Options struct {
	VHost       string          `option:"vhost" doc:"virtual host; empty: the path of the URL, else /"`
	User        string          `option:"user" doc:"user name; empty: the URL's, else guest"`
	Password    string          `option:"password" doc:"password of user" secret:"true"`
	Login       string          `option:"login" enum:"plain,external" doc:"plain: user and password; external: by the client's certificate"`
	Heartbeat   time.Duration   `option:"heartbeat" doc:"interval of heartbeats in whole seconds, or the broker's if that is smaller; 0: none" min:"0s" max:"18h"`
	WriteBuffer driver.ByteSize `option:"write_buffer" doc:"bytes that are collected before they are written; 1: each message is written at once, on the sender's thread; 0: 1 where the load is paced, 64KiB flat out; for client direct" min:"0" max:"64MiB"`
	Name        string          `option:"name" doc:"name of the connections at the broker; the run, role and number of each are added"`
	kit.ConnectOptions
}

// Naming is that of exchanges, queues and streams.
func Naming() driver.Naming {
	return driver.Naming{Separator: ".", Allowed: "._-:=@", Longest: 100, ListedBy: "rabbitmqctl list_queues name"}
}

// DefaultOptions returns the defaults.
func DefaultOptions() Options {
	return Options{
		Login:          "plain",
		Heartbeat:      60 * time.Second,
		Name:           "sixnines",
		ConnectOptions: kit.ConnectOptions{ConnectTimeout: 10 * time.Second, ReconnectWait: 50 * time.Millisecond},
	}
}

// Config returns how connections log in, with frames of at most frameMax bytes (0: the
// server's limit), for a paced load or, with batch, an unpaced one.
func (o *Options) Config(frameMax driver.ByteSize, batch bool) Config {
	return Config{VHost: o.VHost, User: o.User, Password: o.Password, External: o.Login == "external", Name: o.Name,
		FrameMax: int(frameMax), Heartbeat: o.Heartbeat, WriteBuffer: kit.WriteBuffer(o.WriteBuffer, batch), ConnectOptions: o.ConnectOptions}
}
