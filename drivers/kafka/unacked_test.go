package kafka_test

import (
	"context"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"sixnines/internal/brokers"
)

// unacked counts the records of a run's topics that its groups have not
// committed, by way of the listener for nodes, which asks for no login.
func unacked(t *testing.T, c *brokers.Cluster) func(run string) (int, error) {
	return func(run string) (int, error) {
		t.Helper()
		client, err := kgo.NewClient(kgo.SeedBrokers(c.Info["internal"]))
		if err != nil {
			return 0, err
		}
		defer client.Close()
		admin := kadm.NewClient(client)
		groups, err := admin.ListGroups(context.Background())
		if err != nil {
			return 0, err
		}
		open := int64(0)
		for _, group := range groups.Groups() {
			if !strings.Contains(group, run) {
				continue
			}
			lags, err := admin.Lag(context.Background(), group)
			if err != nil {
				return 0, err
			}
			if err := lags.Error(); err != nil {
				return 0, err
			}
			open += lags[group].Lag.Total()
		}
		return int(open), nil
	}
}
