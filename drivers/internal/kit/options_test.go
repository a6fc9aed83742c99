package kit

import (
	"maps"
	"testing"
	"time"
)

func TestSettings(t *testing.T) {
	o := struct {
		UserOptions
		ConnectOptions
		Count int `option:"count"`
	}{UserOptions{"ada", "lovelace"}, ConnectOptions{time.Second, time.Minute}, 3}
	want := map[string]string{"user": "ada", "reconnect_wait": "1m0s", "count": "3"}
	if got := Settings(&o, "user", "count", "reconnect_wait"); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
