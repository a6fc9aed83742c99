package rabbittest

import (
	"fmt"

	amqp "github.com/rabbitmq/amqp091-go"

	"sixnines/driver"
	"sixnines/driver/drivertest"
)

// Observing returns what takes the next of the deliveries that AMQP's client has, for
// a drivertest.Harness. They end with their connection.
func Observing(deliveries <-chan amqp.Delivery) func() (drivertest.Observed, error) {
	return func() (o drivertest.Observed, err error) {
		d, ok := <-deliveries
		if !ok {
			return o, driver.ErrClosed
		}
		o = drivertest.Observed{Payload: d.Body, Headers: map[string]string{}}
		for name, value := range d.Headers {
			o.Headers[name] = fmt.Sprint(value)
		}
		return o, nil
	}
}
