package nsq_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// directory stands for nsqlookupd, whose answers it gives: to the first question that it knows of no topic yet.
type directory struct {
	*httptest.Server
	asked   atomic.Int64
	removed chan string // names of topics
}

func newDirectory(t *testing.T, all ...*brokers.Cluster) *directory {
	d := &directory{removed: make(chan string, 10)}
	type producer struct {
		Host string `json:"broadcast_address"`
		TCP  int    `json:"tcp_port"`
		HTTP int    `json:"http_port"`
	}
	var answer struct {
		Producers []producer `json:"producers"`
	}
	for _, c := range all {
		host, tcp, err1 := net.SplitHostPort(brokertest.Address(t, c.URL))
		_, web, err2 := net.SplitHostPort(strings.TrimPrefix(c.Info["http"], "http://"))
		p := producer{Host: host}
		var err3, err4 error
		p.TCP, err3 = strconv.Atoi(tcp)
		p.HTTP, err4 = strconv.Atoi(web)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Fatal(err)
		}
		answer.Producers = append(answer.Producers, p)
	}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/topic/delete":
			d.removed <- r.FormValue("topic")
		case r.URL.Path != "/lookup" || r.FormValue("topic") == "", d.asked.Add(1) == 1:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `{"message":"TOPIC_NOT_FOUND"}`)
		default:
			json.NewEncoder(w).Encode(answer)
		}
	}))
	t.Cleanup(d.Close)
	return d
}

// Consumers find all nsqds that have a topic, by either client. They make nothing there that stays.
func TestLookupd(t *testing.T) {
	all := []*brokers.Cluster{brokertest.Start(t, "nsq", brokers.Options{}), brokertest.Start(t, "nsq", brokers.Options{})}
	do := func(c *brokers.Cluster, what, body string) {
		t.Helper()
		answer, err := http.Post(c.Info["http"]+what, "", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", what, answer.Status)
		}
	}
	// channels are those of the topic at an nsqd.
	channels := func(c *brokers.Cluster) (names []string) {
		t.Helper()
		answer, err := http.Get(c.Info["http"] + "/stats?format=json&topic=orders")
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var said struct {
			Topics []struct {
				Channels []struct {
					Name string `json:"channel_name"`
				} `json:"channels"`
			} `json:"topics"`
		}
		if err := json.NewDecoder(answer.Body).Decode(&said); err != nil || len(said.Topics) != 1 {
			t.Fatalf("%+v, %v", said, err)
		}
		for _, c := range said.Topics[0].Channels {
			names = append(names, c.Name)
		}
		return names
	}
	for _, c := range all {
		do(c, "/topic/create?topic=orders", "")
		do(c, "/channel/create?topic=orders&channel=audit", "")
	}
	do(all[0], "/channel/create?topic=orders&channel=here", "")
	for _, client := range []string{"direct", "library"} {
		t.Run(client, func(t *testing.T) {
			both, one := newDirectory(t, all...), newDirectory(t, all[0])
			gone := httptest.NewServer(http.NotFoundHandler())
			gone.Close()
			target := driver.Target{URL: all[0].URL, Given: true, Options: map[string]any{"client": client, "lookupd": gone.URL + "," + both.URL}}
			s := open(t, target)
			if _, err := s.Provision(t.Context(), driver.Topology{Topics: []string{"orders"}, Groups: []string{"audit", "here"}, Consumers: 2}); err != nil {
				t.Fatal(err)
			}
			if c, err := s.Consumer(t.Context(), driver.ConsumerSpec{ID: 2, Topics: []string{"orders"}, Group: "here"}, func(driver.Message) {}); !errors.Is(err, driver.ErrNoTopic) {
				t.Errorf("a channel that one nsqd lacks: %v, %v", c, err)
			}
			var shared, alone sessiontest.Counter
			sessiontest.Consume(t, s, driver.ConsumerSpec{Topics: []string{"orders"}, Group: "audit"}, shared.Deliver)
			own := sessiontest.Consume(t, s, driver.ConsumerSpec{ID: 1, Topics: []string{"orders"}}, alone.Deliver)
			for _, c := range all {
				do(c, "/pub?topic=orders", "hello")
			}
			shared.Await(t, 2)
			alone.Await(t, 2)
			if err := own.Close(t.Context()); err != nil {
				t.Error(err)
			}
			for k, want := range []int{2, 1} {
				if names := channels(all[k]); len(names) != want {
					t.Errorf("nsqd %d has the channels %q", k, names)
				}
			}
			// A topic of the run's own, whose name nsqlookupd would keep.
			mine := open(t, driver.Target{URL: all[0].URL, Options: map[string]any{"client": client, "lookupd": one.URL}})
			if _, err := mine.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Groups: []string{"g"}, Producers: 1, Consumers: 1, MaxSize: 5}); err != nil {
				t.Fatal(err)
			}
			var got, acks sessiontest.Counter
			sessiontest.Consume(t, mine, driver.ConsumerSpec{Group: "g"}, got.Deliver)
			if err := sessiontest.Produce(t, mine, &acks).Send(1, []byte("hello")); err != nil {
				t.Fatal(err)
			}
			got.Await(t, 1)
			if err := mine.Deprovision(t.Context()); err != nil {
				t.Error(err)
			}
			select {
			case name := <-one.removed:
				if name != "s9.test.t0" {
					t.Errorf("the name %q was removed", name)
				}
			default:
				t.Error("nsqlookupd keeps the name")
			}
		})
	}
	refused(t, driver.Target{URL: all[0].URL, Options: map[string]any{"lookupd": "ftp://host"}}, driver.ErrOption, "lookupd")
	silent := open(t, driver.Target{URL: all[0].URL, Options: map[string]any{"lookupd": "127.0.0.1:1"}})
	if _, err := silent.Provision(t.Context(), driver.Topology{Topics: []string{"t0"}, Consumers: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Consumer(t.Context(), driver.ConsumerSpec{Topics: []string{"t0"}}, func(driver.Message) {}); !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "nsqlookupd") {
		t.Error(err)
	}
	if err := silent.Deprovision(t.Context()); err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") {
		t.Errorf("what is left at nsqlookupd is not said: %v", err)
	}
}
