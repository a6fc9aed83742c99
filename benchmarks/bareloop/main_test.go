//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

func startServer(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server is not ready")
	}
	return s.ClientURL()
}

func TestEveryMessageIsMeasured(t *testing.T) {
	url := startServer(t)
	for _, buffer := range []string{"0", "1"} {
		var stdout, stderr bytes.Buffer
		code := run([]string{"-url", url, "-rate", "2000", "-duration", "250ms", "-warmup", "50ms",
			"-write-buffer", buffer, "-checksum"}, &stdout, &stderr)
		if code != 0 {
			t.Fatalf("write buffer %s: exit %d: %s", buffer, code, &stderr)
		}
		var f figures
		if err := json.Unmarshal(stdout.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		if f.Counters.Scheduled != 500 || f.Counters.Received != 500 || f.Counters.Sent != 500 || !f.Counters.intact() {
			t.Errorf("write buffer %s: %+v", buffer, f.Counters)
		}
		response, service, lag := f.Histograms["delivery.response"], f.Histograms["delivery.service"], f.Histograms["lag.own"]
		if response.Count != 500 || lag.Min < 0 || service.Min <= 0 {
			t.Errorf("write buffer %s: %+v", buffer, f.Histograms)
		}
		// response = lag + service holds for each message, so also for the means.
		if d := response.Mean - service.Mean - lag.Mean; d > 1e-3 || d < -1e-3 {
			t.Errorf("write buffer %s: means differ by %v ns", buffer, d)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range []string{
		"-rate 0", "-rate 10000001", "-rate x", "-size 31", "-duration 0s", "-warmup -1s", "-write-buffer -1",
		"-subject a.*", "-subject=", "-rate 1 -duration 10ms -warmup 10ms", "-rate 10000000 -duration 1h", "-bogus", "word",
	} {
		var stdout, stderr bytes.Buffer
		if code := run(strings.Fields(args), &stdout, &stderr); code != exitUsage {
			t.Errorf("%s: exit %d, want %d", args, code, exitUsage)
		}
		if stdout.Len() > 0 || stderr.Len() == 0 {
			t.Errorf("%s: stdout %q, stderr %q", args, &stdout, &stderr)
		}
	}
}

func TestNoServer(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-url", "nats://127.0.0.1:1"}, &stdout, &stderr); code != exitFailure {
		t.Errorf("exit %d, want %d: %s", code, exitFailure, &stderr)
	}
}

func TestDueIsTheExactFloor(t *testing.T) {
	exact := func(n, rate uint64) bool {
		l := load{rate: rate%10_000_000 + 1}
		n %= l.rate * 86400
		want := new(big.Int).Mul(new(big.Int).SetUint64(n), big.NewInt(1e9))
		want.Quo(want, new(big.Int).SetUint64(l.rate))
		due := l.due(n)
		// Message n is due before any later offset and not before its own.
		return want.Int64() == due && l.dueBefore(time.Duration(due)) <= n && l.dueBefore(time.Duration(due)+1) > n
	}
	if err := quick.Check(exact, &quick.Config{MaxCount: 10000}); err != nil {
		t.Error(err)
	}
}

func TestHarmIsCounted(t *testing.T) {
	l := load{rate: 1000, size: envelopeSize, duration: 5 * time.Millisecond}
	fresh := func() *trial {
		return &trial{load: l, id: 7, start: 1000, finished: make(chan struct{}),
			intended: touched(5), sent: touched(5), received: touched(5)}
	}
	message := func(n byte, intended int64, run byte) []byte {
		p := make([]byte, envelopeSize)
		p[offSequence], p[offRun] = n, run
		for i := range 8 {
			p[offIntended+i] = byte(intended >> (8 * i))
		}
		return p
	}
	good := func(n byte) []byte { return message(n, 1000+int64(n)*1e6, 7) }
	for name, test := range map[string]struct {
		payloads [][]byte
		want     counters
	}{
		"all":         {[][]byte{good(0), good(1), good(2), good(3), good(4)}, counters{}},
		"missing":     {[][]byte{good(0), good(1), good(4)}, counters{Missing: 2}},
		"duplicated":  {[][]byte{good(0), good(0), good(1), good(2), good(3), good(4)}, counters{Duplicated: 1}},
		"reordered":   {[][]byte{good(0), good(2), good(1), good(3), good(4)}, counters{Reordered: 1}},
		"foreign run": {[][]byte{good(0), message(1, 1000+1e6, 8), good(1), good(2), good(3), good(4)}, counters{Foreign: 1}},
		"size":        {[][]byte{{1}, good(0), good(1), good(2), good(3), good(4)}, counters{Foreign: 1}},
		"sequence":    {[][]byte{good(9), good(0), good(1), good(2), good(3), good(4)}, counters{Corrupted: 1}},
		"intended":    {[][]byte{message(0, 999, 7), good(0), good(1), good(2), good(3), good(4)}, counters{Corrupted: 1}},
	} {
		tr := fresh()
		for _, p := range test.payloads {
			tr.record(p, 1)
		}
		test.want.Scheduled, test.want.Received = 5, 5-test.want.Missing
		if got := tr.figures().Counters; got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}
