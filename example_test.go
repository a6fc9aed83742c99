package sixnines_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"sixnines"
	"sixnines/drivers/all"
	"sixnines/result"
	"sixnines/scenario"
)

// A scenario in Go, run against the broker inside the process. For a real
// broker name its driver and address.
func ExampleRun() {
	s := &scenario.Scenario{
		Target:   scenario.Target{Driver: "mem"},
		Workload: scenario.Workload{Rate: scenario.PerSecond(2000), Producers: 2, Consumers: 3},
		Phases:   scenario.Phases{Warmup: 100 * time.Millisecond, Duration: 500 * time.Millisecond},
	}
	run, err := sixnines.Run(context.Background(), s, all.Set())
	if err != nil {
		fmt.Println(err)
		return
	}
	c := run.Counters
	fmt.Printf("%d sent, %d delivered to 3 consumers, %d missing, %d duplicated\n", c.Sent, c.Received, c.Missing, c.Duplicated)
	d := run.Summary.Histograms[result.DeliveryResponse]
	fmt.Println("p99 within the extremes:", d.Min <= d.Figures[result.P99].Value && d.Figures[result.P99].Value <= d.Max)
	// Output:
	// 1000 sent, 3000 delivered to 3 consumers, 0 missing, 0 duplicated
	// p99 within the extremes: true
}

// A scenario that is wrong says where and why, before anything is connected.
func ExampleRun_mistake() {
	s, err := scenario.Parse("load.yaml", []byte("target: {driver: mem}\nworkload:\n  rate: 100/s\n  loop: closed\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = sixnines.Run(context.Background(), s, all.Set())
	fmt.Println(err)
	// Output:
	// impossible scenario: load.yaml:3:9: a closed loop has no rate (leave out workload.rate, or choose loop: open)
}

// An HTTP service under an open loop: requests are due when the schedule says,
// however slow the answers are.
func ExampleRunRequester() {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "hello")
	}))
	defer service.Close()
	s := &scenario.Scenario{
		Target:   scenario.Target{URL: service.URL},
		Workload: scenario.Workload{Rate: scenario.PerSecond(200)},
		Phases:   scenario.Phases{Warmup: 100 * time.Millisecond, Duration: 500 * time.Millisecond},
	}
	client := service.Client()
	run, err := sixnines.RunRequester(context.Background(), s, func() (sixnines.Requester, error) {
		return sixnines.RequesterFunc(func(ctx context.Context) error {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, service.URL, nil)
			if err != nil {
				return err
			}
			answer, err := client.Do(request)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			_, err = io.Copy(io.Discard, answer.Body)
			return err
		}), nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %d requests, %d answered, %d failed\n", run.Header.Mode, run.Counters.Scheduled, run.Counters.Acked, run.Counters.Nacked)
	// Output:
	// open loop: 100 requests, 100 answered, 0 failed
}
