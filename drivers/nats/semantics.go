package nats

import "sixnines/driver"

// ServerInfo implements driver.ServerInfo.
func (s *session) ServerInfo() map[string]string { return s.client.ServerInfo() }

// semantics reports the settings in effect. Slow consumers are the
// library's.
func (s *session) semantics(slow bool) driver.Semantics {
	consumption := "push, delivered on the goroutine that reads"
	if slow || !s.client.Direct() {
		consumption = "push, unlimited queue in the library"
	}
	return driver.Semantics{
		Durability:     "none, messages are not stored",
		Replication:    "none",
		Acknowledgment: "none",
		Ordering:       "per producer and topic",
		Delivery:       "at most once",
		Batching:       s.client.Batching(),
		Consumption:    consumption,
		Transport:      s.client.Transport(),
		Settings:       s.client.Settings(),
		Warnings:       s.client.Warnings(),
	}
}
