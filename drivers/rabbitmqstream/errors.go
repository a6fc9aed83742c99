package rabbitmqstream

import (
	"errors"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmqstream/wire"
)

// isCode reports whether err is the broker's answer with the code.
func isCode(err error, code wire.Code) bool {
	var e *wire.Error
	return errors.As(err, &e) && e.Code == code
}

// The schemes of URLs.
const (
	plainScheme     = "rabbitmq-stream"
	encryptedScheme = "rabbitmq-stream+tls"
)

// protocol is the broker's protocol of streams.
func protocol() *rabbit.Protocol {
	return &rabbit.Protocol{
		Errors:  kit.Errors{Driver: product, Class: classOf},
		Schemes: []kit.Scheme{{Name: plainScheme, Port: "5552"}, {Name: encryptedScheme, Port: "5551", TLS: true}},
		Hint:    "is it the port of the plugin rabbitmq_stream, which is not AMQP's? if it wants TLS, give a rabbitmq-stream+tls:// URL",
		Passes:  passes,
	}
}

// errNoLeader says that a stream has none.
var errNoLeader = errors.New("the stream has no leader")

// passes reports whether an error is temporary: a stream has no leader yet, or the
// broker cannot elect one yet.
func passes(err error) bool {
	return isCode(err, wire.NotAvailable) || isCode(err, wire.InternalError) || errors.Is(err, errNoLeader)
}

// classOf returns the class of an error of package wire, nil for others.
func classOf(err error) error {
	var e *wire.Error
	if errors.As(err, &e) {
		return classOfCode(e.Code)
	}
	return nil
}

func classOfCode(code wire.Code) error {
	switch code {
	case wire.NoStream:
		return driver.ErrNoTopic
	case wire.NoMechanism, wire.LoginFailed, wire.LoginError, wire.LoopbackOnly, wire.NoVHost:
		return driver.ErrUnauthorized
	case wire.AccessRefused:
		return driver.ErrForbidden
	case wire.FrameTooLarge:
		return driver.ErrTooLarge
	case wire.PreconditionFailed, wire.InternalError:
		return driver.ErrRejected
	case wire.OK, wire.NotAvailable:
		return driver.ErrNotConnected
	}
	return driver.ErrRejected
}

// wrap adds what was being done, and the class.
func wrap(err error, format string, args ...any) error {
	return protocol().Wrap(err, format, args...)
}
