package secret

import (
	"maps"
	"testing"
)

func TestWithoutLogins(t *testing.T) {
	for list, want := range map[string]string{
		"nats://h:4222":                    "nats://h:4222",
		"nats://token@h":                   "nats://${SIXNINES_LOGIN}@h",
		"nats://u:p@h,tls://h2, nats://q@": "nats://${SIXNINES_LOGIN}@h,tls://h2, nats://${SIXNINES_LOGIN}@",
		"redis://:p%zz@h/1?x=a@b":          "redis://${SIXNINES_LOGIN}@b", // the password may be p%zz@h/1?x=a
		"redis://:p@s/s@h":                 "redis://${SIXNINES_LOGIN}@h",
		"redis://pa?s@h":                   "redis://${SIXNINES_LOGIN}@h",
		"redis://:pa,ss@h":                 "redis://${SIXNINES_LOGIN},${SIXNINES_LOGIN}@h",
		"redis://u:1,ss@h":                 "redis://${SIXNINES_LOGIN}@h",
		"nats://a:1,u:p@b:2":               "nats://a:1,${SIXNINES_LOGIN}@b:2",
		"redis://u:pass":                   "redis://${SIXNINES_LOGIN}",
		"nats://[::1]:4222,*:1,tcp://:5":   "nats://[::1]:4222,*:1,tcp://:5",
		"ipc:///tmp/x":                     "ipc:///tmp/x",
		"nats://${H}:${P}/x":               "nats://${H}:${P}/x",
		"redis://:p/z@h":                   "redis://${SIXNINES_LOGIN}@h",
		"h1:9092,h2:9092":                  "h1:9092,h2:9092",
		"u:p@h1:9092":                      "${SIXNINES_LOGIN}@h1:9092",
		"nats://${U}:${P:-x@,/}@h":         "nats://${U}:${P}@h",
		"nats://u:${P}@h":                  "nats://${SIXNINES_LOGIN}@h",
		"nats://${H:-a@b}:4222":            "nats://${H:-a@b}:4222",
	} {
		if got := WithoutLogins(list); got != want {
			t.Errorf("%s is shown as %s, want %s", list, got, want)
		}
	}
}

func TestMask(t *testing.T) {
	got := Mask(map[string]string{"requirepass": "a", "default_pass": "b", "authorization.token": "c", "hz": "10"})
	want := map[string]string{"requirepass": "xxxxx", "default_pass": "xxxxx", "authorization.token": "xxxxx", "hz": "10"}
	if !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if Mask(nil) != nil {
		t.Error("something of nothing")
	}
}

func TestConceal(t *testing.T) {
	for text, want := range map[string]string{
		"dial nats://me:hunter2@h: refused": "dial nats://me:xxxxx@h: refused",
		"thehunter2s":                       "thexxxxxs",
		"deep, deeper, deep":                "xxxxx, deeper, xxxxx",
		"nothing":                           "nothing",
	} {
		if got := Conceal(text, []string{"deep", "hunter2", ""}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestSpelled(t *testing.T) {
	isPassword := func(name string) bool { return name == "password" }
	for _, c := range []struct{ key, value, want string }{
		{"target.options.password", "hunter2", "password"},
		{"target.options.password", "literal:@x", "password"},
		{"target.options.password", "env:PW", ""},
		{"target.options.password", "@file", ""},
		{"target.options.password", "${PW}", ""},
		{"target.options.user", "me", ""},
		{"workloads.a.options.password", "hunter2", "password"},
		{"target.settings.requirepass", "x", "requirepass"},
		{"target.settings.requirepass", "env:X", ""},
		{"target.settings.hz", "10", ""},
		{"target.url", "nats://me:pw@h", "the login in the address"},
		{"target.url", "nats://me:${PW}@h", ""},
		{"target.url", "nats://${LOGIN}@h", ""},
		{"target.url", "nats://me@h", ""},
		{"target.url", "nats://h", ""},
		{"target.url", "nats://h?password=x", "the login in the address"},
		{"target.url", "nats://h?password=${X}&y=1", ""},
		{"workload.rate", "1/s", ""},
	} {
		if got := Spelled(c.key, c.value, isPassword); got != c.want {
			t.Errorf("%s=%s exposes %q, want %q", c.key, c.value, got, c.want)
		}
	}
}
