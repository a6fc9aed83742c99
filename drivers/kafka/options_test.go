package kafka

import (
	"errors"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

func TestServers(t *testing.T) {
	for url, want := range map[string]string{
		"host":                     "host:9092",
		"host:1":                   "host:1",
		"kafka://host:1":           "host:1",
		"a:1, b:2,c":               "a:1,b:2,c:9092",
		"kafka://a:1,kafka://b:2":  "a:1,b:2",
		"kafka://a/":               "a:9092",
		"[::1]:9093,[::2]":         "[::1]:9093,[::2]:9092",
		"":                         "",
		"http://host:1":            "",
		"kafka://user:word@host:1": "",
		"host:1/path":              "",
		"a:1,,b:2":                 "",
		"kafka://":                 "",
		"host:9092?acks=1":         "",
	} {
		s, err := newSession(driver.Target{URL: url, Run: "r"}, DefaultOptions())
		if want == "" {
			if !errors.Is(err, driver.ErrOption) || strings.Contains(err.Error(), "word@") {
				t.Errorf("%q: %v", url, err)
			}
		} else if err != nil || s.Address.String() != want {
			t.Errorf("%q: %v; want %q", url, err, want)
		}
	}
}

func TestOptionsThatDoNotGoTogether(t *testing.T) {
	for _, options := range []map[string]any{
		{"idempotence": "on", "acks": "1"},
		{"max_in_flight": 3},
		{"transactions": true, "acks": "1"},
		{"transactions": true, "idempotence": "off"},
		{"transactions": true, "retries": 3},
		{"transactions": true, "version": "0.10.2"},
		{"password": "x"},
		{"compression_level": 3},
		{"compression_level": 3, "compression": "snappy"},
		{"key": "unique", "key_size": 4},
		{"heartbeat_interval": "1m"},
		{"version": "12"},
		{"topic_config": "retention.ms"},
	} {
		o := DefaultOptions()
		err := driver.DecodeOptions(options, &o)
		if err == nil {
			err = o.Validate()
		}
		if !errors.Is(err, driver.ErrOption) {
			t.Errorf("%v: %v", options, err)
		}
	}
	for _, options := range []map[string]any{
		nil,
		{"max_in_flight": 1, "acks": "1"},
		{"max_in_flight": 5},
		{"idempotence": "off", "max_in_flight": 1},
		{"version": "0.8.2", "acks": "all", "max_in_flight": 1},
		{"compression": "zstd", "compression_level": 3},
		{"topic_config": "a=1,b=2=3", "min_insync_replicas": 2},
	} {
		o := DefaultOptions()
		if err := errors.Join(driver.DecodeOptions(options, &o), o.Validate()); err != nil {
			t.Errorf("%v: %v", options, err)
		}
	}
}

func TestLinger(t *testing.T) {
	o := DefaultOptions()
	if paced, flat := o.linger(false), o.linger(true); paced != 0 || flat != batchLinger {
		t.Errorf("lingers %v and %v", paced, flat)
	}
	if err := driver.DecodeOptions(map[string]any{"linger": "0ms"}, &o); err != nil {
		t.Fatal(err)
	}
	if flat := o.linger(true); flat != 0 {
		t.Errorf("lingers %v though told not to", flat)
	}
	o.Linger = time.Second
	if paced := o.linger(false); paced != time.Second {
		t.Errorf("lingers %v", paced)
	}
}
