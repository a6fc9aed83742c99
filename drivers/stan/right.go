package stan

import (
	"sixnines/driver"
	"sixnines/drivers/internal/natswire"
)

// rights are those of an account of the NATS server. Whoever subscribes names the channel in a request, and the streaming server
// sends it what it asks for: which channels an account reads cannot be limited. The library's own inboxes have no prefix.
func rights(prefix string) []driver.Right {
	own, _ := natswire.Subjects(prefix)
	all := []driver.Right{
		{Name: "publish", Value: "_STAN.discover.>", For: "logging in to the streaming server, and pings"},
		{Name: "publish", Value: "_STAN.pub.*." + own, For: "messages"},
		{Name: "publish", Value: "_STAN.sub.*", For: "consumers, of any channel"},
		{Name: "publish", Value: "_STAN.subclose.*", For: "consumers"},
		{Name: "publish", Value: "_STAN.unsub.*", For: "consumers"},
		{Name: "publish", Value: "_STAN.close.*"},
		{Name: "publish", Value: "_INBOX.>", For: "acknowledgements of consumers, heartbeats"},
		{Name: "subscribe", Value: "_INBOX.>", For: "deliveries and answers"},
		{Name: "subscribe", Value: "_STAN.acks.>", For: "acknowledgements of messages"},
	}
	if prefix != "" {
		all = append(all, driver.Right{Name: "subscribe", Value: own, For: "answers"})
	}
	return all
}
