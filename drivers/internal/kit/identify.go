package kit

import (
	"fmt"

	"sixnines/driver"
)

// Identify is what a server says of itself by the properties that AMQP has for it, with
// the protocol that is spoken with it.
func Identify[V any](protocol string, properties map[string]V) driver.Server {
	s := driver.Server{Protocol: protocol, More: map[string]string{}}
	for name, value := range properties {
		switch text := fmt.Sprint(value); name {
		case "product":
			s.Product = text
		case "version":
			s.Version = text
		case "platform", "cluster_name":
			s.More[name] = text
		}
	}
	return s
}
