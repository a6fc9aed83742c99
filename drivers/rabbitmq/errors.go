package rabbitmq

import (
	"errors"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
	"sixnines/drivers/internal/rabbit"
	"sixnines/drivers/rabbitmq/wire"
)

// The codes with which a broker closes connections and channels.
const (
	contentTooLarge    = 311
	connectionForced   = 320
	accessRefused      = 403
	notFound           = 404
	resourceLocked     = 405
	preconditionFailed = 406
	resourceError      = 506
	notAllowed         = 530
	notImplemented     = 540
	internalError      = 541
)

// protocol is AMQP 0-9-1 as the broker speaks it.
func protocol() *rabbit.Protocol {
	return &rabbit.Protocol{
		Errors:  kit.Errors{Driver: product, Class: classOf},
		Schemes: []kit.Scheme{{Name: "amqp", Port: "5672"}, {Name: "amqps", Port: "5671", TLS: true}},
		Hint:    "if the server wants TLS there, give an amqps:// URL",
		Passes:  passes,
	}
}

// deprecated is what a broker says of a feature that it has no more, such as transient queues in 4.3.
const deprecated = "is deprecated"

// passes reports whether an error goes away by itself: a queue's node or virtual
// host is not up, or its replicas have not agreed yet.
func passes(err error) bool {
	var ours *wire.Error
	var library *amqp.Error
	code, text := 0, ""
	switch {
	case errors.As(err, &ours):
		code, text = int(ours.Code), ours.Text
	case errors.As(err, &library):
		code, text = library.Code, library.Reason
	}
	switch code {
	case internalError:
		return !strings.Contains(text, deprecated)
	case notFound, notAllowed:
		return strings.Contains(text, "is down")
	}
	return false
}

// classOf returns the class of an error of either client, nil for others.
func classOf(err error) error {
	var ours *wire.Error
	var library *amqp.Error
	switch {
	case errors.As(err, &ours):
		return classOfCode(int(ours.Code), ours.Text)
	case errors.As(err, &library) && (library.Server || library.Code == accessRefused || library.Code == notAllowed):
		return classOfCode(library.Code, library.Reason)
	}
	return nil
}

func classOfCode(code int, text string) error {
	switch code {
	case contentTooLarge:
		return driver.ErrTooLarge
	case accessRefused:
		if strings.Contains(text, "access to") {
			return driver.ErrForbidden
		}
		return driver.ErrUnauthorized
	case resourceLocked:
		return driver.ErrUnauthorized
	case notFound:
		return driver.ErrNoTopic
	case notAllowed:
		if strings.Contains(text, "vhost") || strings.Contains(text, "access to") {
			return driver.ErrForbidden
		}
		return driver.ErrUnsupported
	case preconditionFailed:
		if strings.Contains(text, "larger than configured max size") {
			return driver.ErrTooLarge
		}
		return driver.ErrRejected
	case notImplemented:
		return driver.ErrUnsupported
	case internalError:
		if strings.Contains(text, deprecated) {
			return driver.ErrUnsupported
		}
	case resourceError:
		return driver.ErrThrottled
	case connectionForced:
		return driver.ErrNotConnected
	}
	return driver.ErrNotConnected
}

// wrap adds what was being done, and the class, to an error of a client.
func wrap(err error, format string, args ...any) error {
	return protocol().Wrap(err, format, args...)
}
