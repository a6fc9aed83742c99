package spelltest

import "testing"

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"sixnines itself was paused for 29.6 ms": 0, "sixnines stood still": 1, "WHAT THE NUMBERS STAND ON": 1, "it broke no promise": 1,
		"accompany": 0, "in an order drawn by lot": 1, "crowded": 1, "--rank-unlike": 0, "nothing that is known of A and B is unlike": 1,
	} {
		if got := Words(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int{
		"2.38 ms of 3,776 messages at 1,000/s, 36 %, 1 KiB": 0, "2.382ms": 1, "after 3m20s": 1, "1h0m0s": 1, "3776 messages": 1, "36% of it": 1,
		"run with --warmup 14s": 0, "delivery.response p99 < 5ms": 0, "p99 ±5%": 0, "2026-11-20 14:02:11 UTC": 0, "run 00f1d2c3b4a59687": 0, "2.400000 s": 0,
		"nats-server 2.15.2": 0, "(RFC 4737)": 0, "nats://127.0.0.1:4222": 0, "p99.9999": 0, "the objective \"lost < 5000\" is met": 0,
	} {
		if got := Numbers(text); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}
