package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func TestEveryMessageIsAcknowledged(t *testing.T) {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server is not ready")
	}
	var stdout, stderr bytes.Buffer
	code := run([]string{"-client", "nats.go", "-url", s.ClientURL(), "-topic", "a.b", "-rate", "2000",
		"-duration", "250ms", "-warmup", "50ms"}, &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	var f figures
	if err := json.Unmarshal(stdout.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	service, lag := f.Histograms["publish.service"], f.Histograms["lag.own"]
	if f.Counters["acked"] != 500 || service.Count != 500 || service.Min <= 0 || lag.Min < 0 {
		t.Errorf("%+v", f)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]int{
		"-client other -url x":                                  exitUsage,
		"-client nats.go":                                       exitUsage,
		"-client nats.go -url x -rate 0":                        exitUsage,
		"-client nats.go -url x -size 0":                        exitUsage,
		"-client nats.go -url x -duration 0s":                   exitUsage,
		"-client nats.go -url x -duration 1ms -rate 1":          exitUsage,
		"-client nats.go -url x word":                           exitUsage,
		"-client nats.go -url nats://127.0.0.1:1 -duration 1s":  exitFailure,
		"-client amqp091 -url amqp://127.0.0.1:1/ -duration 1s": exitFailure,
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(args), &stdout, &stderr); code != want || stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("%s: exit %d, want %d; stdout %q, stderr %q", args, code, want, &stdout, &stderr)
		}
	}
}
