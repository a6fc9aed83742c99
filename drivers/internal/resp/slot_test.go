package resp

import (
	"slices"
	"testing"
)

func TestSlot(t *testing.T) {
	for key, want := range map[string]int{
		"123456789": 0x31c3, "": 0, // the check value of CRC-16/XMODEM
		"foo": 12182, "{foo}.a": 12182, "a.{foo}": 12182, "a{foo}{bar}": 12182,
		"b": 3300, "{}foo": slotOf("{}" + "foo"), "foo{": slotOf("foo{"),
	} {
		if got := slotOf(key); got != want {
			t.Errorf("%q has slot %d, want %d", key, got, want)
		}
	}
	if slotOf("foo{{bar}}zap") != slotOf("{bar") || slotOf("foo{}{bar}") == slotOf("bar") {
		t.Error("hash tags are what is between the first braces, unless that is nothing")
	}
}

func TestRedirection(t *testing.T) {
	for text, want := range map[string]redirection{
		"MOVED 866 127.0.0.1:7001": {866, "127.0.0.1:7001", false},
		"ASK 866 ::1:7001":         {866, "[::1]:7001", true},
		"MOVED 1 [::1]:7":          {1, "[::1]:7", false},
		"MOVED 0 :7001":            {0, "here:7001", false},
		"MOVED 0 ?:7001":           {0, "here:7001", false},
		"MOVED 16383 a.example:1":  {16383, "a.example:1", false},
	} {
		if got, ok := redirectionOf(text, "here:1"); !ok || got != want {
			t.Errorf("%q: %+v, %t", text, got, ok)
		}
	}
	for _, text := range []string{"", "MOVED", "MOVED 1", "MOVED x a:1", "MOVED 16384 a:1", "MOVED -1 a:1", "MOVED 1 a", "ASKED 1 a:1", "ERR MOVED 1 a:1"} {
		if got, ok := redirectionOf(text, "here:1"); ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if _, ok := redirectionOf("MOVED 1 :7", ""); ok {
		t.Error("no server is known")
	}
}

func TestShard(t *testing.T) {
	server := func(host any, port int64) any { return []any{host, port, []byte("id"), []any{}} }
	got, err := shardOf([]any{int64(0), int64(5460), server([]byte("10.0.0.1"), 7), server(nil, 8), server([]byte("x"), 9)}, "here:1")
	if err != nil || got.first != 0 || got.last != 5460 || got.master != "10.0.0.1:7" || len(got.replicas) != 2 || got.replicas[0] != "here:8" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []any{nil, int64(1), []any{}, []any{int64(0), int64(1)}, []any{int64(5), int64(1), server(nil, 1)}, []any{int64(0), int64(slots), server(nil, 1)},
		[]any{int64(0), int64(1), []any{}}, []any{int64(0), int64(1), []any{[]byte("h"), []byte("x")}}} {
		if got, err := shardOf(bad, "here:1"); err == nil {
			t.Errorf("%v: %+v", bad, got)
		}
	}
}

func TestReplicasOfACluster(t *testing.T) {
	got, err := replicasIn(`a 127.0.0.1:1@2,host myself,master - 0 0 1 connected 0-5460 [93->-b]
b 127.0.0.1:3@4 master - 0 0 2 connected 5461-16383
c 127.0.0.1:5@6 slave a 0 0 1 connected
d ::1:7@8,,shard-id=x slave,fail a 0 0 1 disconnected
e 127.0.0.1:9@10 slave b 0 0 1 connected
f :0@0 slave,noaddr a 0 0 1 disconnected
`, "here:1")
	if err != nil || !slices.Equal(got, []Replica{{"127.0.0.1:5", false}, {"[::1]:7", true}, {"here:0", true}}) {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := replicasIn("a 127.0.0.1:1@2 master\n", "here:1"); err == nil {
		t.Errorf("%+v", got)
	}
}
