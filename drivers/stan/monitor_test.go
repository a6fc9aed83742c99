package stan_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// monitor asks a server's monitoring.
type monitor struct{ url string }

func (m monitor) read(page string, into any) error {
	answer, err := http.Get(m.url + "/streaming/" + page)
	if err != nil {
		return err
	}
	defer http.DefaultClient.CloseIdleConnections()
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", page, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// channel is what the server holds of a channel.
type channel struct {
	Name          string
	Msgs          int
	Subscriptions []struct {
		ClientID string `json:"client_id"`
		Queue    string `json:"queue_name"`
		Durable  bool   `json:"is_durable"`
		Pending  int    `json:"pending_count"`
	}
}

func (m monitor) channels(run string) (found []channel, err error) {
	var all struct{ Channels []channel }
	if err := m.read("channelsz?subs=1&limit=100000", &all); err != nil {
		return nil, err
	}
	for _, c := range all.Channels {
		if strings.Contains(c.Name, run) {
			found = append(found, c)
		}
	}
	return found, nil
}

// leftovers lists channels, subscriptions and clients with run in their names.
func (m monitor) leftovers(run string) ([]string, error) {
	channels, err := m.channels(run)
	if err != nil {
		return nil, err
	}
	var left []string
	for _, c := range channels {
		left = append(left, fmt.Sprintf("channel %s with %d subscriptions", c.Name, len(c.Subscriptions)))
	}
	var all struct{ Clients []struct{ ID string } }
	if err := m.read("clientsz?limit=100000", &all); err != nil {
		return nil, err
	}
	for _, c := range all.Clients {
		if strings.Contains(c.ID, run) {
			left = append(left, "client "+c.ID)
		}
	}
	return left, nil
}

// unacked counts the messages that were delivered and not acknowledged.
func (m monitor) unacked(run string) (int, error) {
	channels, err := m.channels(run)
	n := 0
	for _, c := range channels {
		for _, s := range c.Subscriptions {
			n += s.Pending
		}
	}
	return n, err
}
