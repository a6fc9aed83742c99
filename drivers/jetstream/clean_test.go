package jetstream_test

import (
	"testing"

	client "github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/jetstream"
	"sixnines/internal/brokers"
)

func TestLeftoversAreListed(t *testing.T) {
	b := startBroker(t, brokers.Options{})
	for _, prefix := range []string{"", "bench.left."} {
		sessiontest.Cleans(t, jetstream.Entry().Driver, driver.Target{URL: b.URL, Prefix: prefix}, true)
	}
	testOthersAreKept(t, b.URL)
}

// testOthersAreKept makes sure that a stream of another, whose name has a date where a run's has its number, is not taken for
// a run's.
func testOthersAreKept(t *testing.T, url string) {
	nc, err := client.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	streams, err := js.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := streams.CreateStream(t.Context(), js.StreamConfig{Name: "payments-20261101-eu", Storage: js.MemoryStorage}); err != nil {
		t.Fatal(err)
	}
	s := sessiontest.Open(t, jetstream.Entry().Driver, driver.Target{URL: url, Run: "clean", Prefix: "payments."})
	all, err := s.(driver.Cleaner).Leftovers(t.Context())
	if err != nil || len(all) != 1 || all[0].Ours {
		t.Errorf("%+v, %v", all, err)
	}
}
