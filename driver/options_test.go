package driver_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
)

type level string

type options struct {
	Buffer   driver.ByteSize `option:"write_buffer" doc:"size of the buffer" min:"1" max:"1MiB"`
	Wait     time.Duration   `option:"wait" doc:"a pause" min:"1ms"`
	Name     string          `option:"name"`
	Mode     level           `option:"mode" enum:"fast,safe"`
	Password string          `option:"password" secret:"true"`
	Retry    bool            `option:"retry"`
	Count    int             `option:"count" min:"-1"`
	Small    uint8           `option:"small"`
	Share    float64         `option:"share" min:"0" max:"1"`
	Hosts    []string        `option:"hosts"`
	Modes    []level         `option:"modes" enum:"fast,safe"`
	internal int
}

func defaults() options {
	return options{Buffer: 32 << 10, Wait: 250 * time.Millisecond, Mode: "fast", Password: "s3cret", Count: 3,
		Share: 0.5, Hosts: []string{"a", "b"}, internal: 7}
}

func TestDecodeOptions(t *testing.T) {
	for name, test := range map[string]struct {
		in   map[string]any
		want func(o *options)
	}{
		"nothing": {nil, func(*options) {}},
		"yaml": {map[string]any{"write_buffer": 512, "wait": "1s", "name": "x", "mode": "safe", "password": "p", "retry": true,
			"count": -1, "small": 255, "share": 1, "hosts": []any{"c"}, "modes": []any{"safe", "fast"}},
			func(o *options) {
				o.Buffer, o.Wait, o.Name, o.Mode, o.Password, o.Retry = 512, time.Second, "x", "safe", "p", true
				o.Count, o.Small, o.Share, o.Hosts, o.Modes = -1, 255, 1, []string{"c"}, []level{"safe", "fast"}
			}},
		"command line": {map[string]any{"write_buffer": "64KiB", "wait": "2ms", "name": "17", "retry": "false",
			"count": "12", "small": "0", "share": "0.25", "hosts": "x, y", "modes": "safe"},
			func(o *options) {
				o.Buffer, o.Wait, o.Name, o.Retry = 64<<10, 2*time.Millisecond, "17", false
				o.Count, o.Small, o.Share, o.Hosts, o.Modes = 12, 0, 0.25, []string{"x", "y"}, []level{"safe"}
			}},
		"json": {map[string]any{"write_buffer": 1024.0, "count": 5.0, "share": 0.0, "hosts": []string{}},
			func(o *options) { o.Buffer, o.Count, o.Share, o.Hosts = 1024, 5, 0, []string{} }},
		"other integers": {map[string]any{"count": uint64(9), "small": int64(8)},
			func(o *options) { o.Count, o.Small = 9, 8 }},
		"no hosts": {map[string]any{"hosts": ""}, func(o *options) { o.Hosts = []string{} }},
	} {
		t.Run(name, func(t *testing.T) {
			got, want := defaults(), defaults()
			test.want(&want)
			if err := driver.DecodeOptions(test.in, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestDecodeOptionsRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		key   string
		value any
		words []string // what the error must say
	}{
		"unknown":           {"write_bufer", 1, []string{`"write_bufer"`, `did you mean write_buffer?`}},
		"wrong case":        {"Retry", true, []string{`did you mean retry?`}},
		"like nothing":      {"zzz", 1, []string{`"zzz"`, "the options are count, hosts, mode"}},
		"no unit":           {"wait", 5, []string{`"wait"`, "5 is not a duration such as 250ms"}},
		"no duration":       {"wait", "soon", []string{`"soon"`, "at least 1ms"}},
		"too short":         {"wait", "1us", []string{"at least 1ms"}},
		"too large":         {"write_buffer", "2MiB", []string{"a size", "(1 to 1MiB)"}},
		"too small":         {"write_buffer", 0, []string{"(1 to 1MiB)"}},
		"odd size":          {"write_buffer", "1.5B", []string{"a size"}},
		"number for string": {"name", 17, []string{"put it in quotes"}},
		"bool for string":   {"name", true, []string{"put it in quotes"}},
		"list for string":   {"name", []any{"x"}, []string{"a string"}},
		"not in enum":       {"mode", "medium", []string{`"medium"`, "one of fast, safe"}},
		"mistyped in enum":  {"mode", "fsat", []string{"did you mean fast?"}},
		"not in enum, list": {"modes", "fast,medium", []string{"a list of fast, safe"}},
		"yes":               {"retry", "yes", []string{"true or false"}},
		"one":               {"retry", 1, []string{"true or false"}},
		"fraction":          {"count", 1.5, []string{"a whole number"}},
		"word for number":   {"count", "many", []string{`"many"`, "a whole number"}},
		"below":             {"count", -2, []string{"at least -1"}},
		"overflow":          {"small", 256, []string{"a whole number"}},
		"negative":          {"small", -1, []string{"a whole number"}},
		"share":             {"share", 1.01, []string{"(0 to 1)"}},
		"not a number":      {"share", "NaN", []string{"a number"}},
		"null":              {"count", nil, []string{"has no value"}},
		"mixed list":        {"hosts", []any{"a", 1}, []string{"a list of strings"}},
		"empty in list":     {"hosts", "a,,b", []string{"a list of strings"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := defaults()
			err := driver.DecodeOptions(laid(test.key, test.value), &got)
			if !errors.Is(err, driver.ErrOption) {
				t.Fatalf("error %v does not wrap ErrOption", err)
			}
			for _, words := range test.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error %q does not say %q", err, words)
				}
			}
			if !reflect.DeepEqual(got, defaults()) {
				t.Errorf("options were changed in spite of the error: %+v", got)
			}
		})
	}
}

func TestDecodeOptionsHidesSecrets(t *testing.T) {
	o := defaults()
	err := driver.DecodeOptions(map[string]any{"password": []any{"hunter2"}}, &o)
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %v shows the secret, or there is none", err)
	}
}

func TestDecodeOptionsWithoutAny(t *testing.T) {
	if err := driver.DecodeOptions(nil, nil); err != nil {
		t.Error(err)
	}
	if err := driver.DecodeOptions(map[string]any{"x": 1}, nil); !errors.Is(err, driver.ErrOption) {
		t.Errorf("error %v does not wrap ErrOption", err)
	}
}

func TestDecodeOptionsPanics(t *testing.T) {
	for name, into := range map[string]any{
		"not a pointer": defaults(),
		"not a struct":  new(int),
		"bad type": &struct {
			X complex64 `option:"x"`
		}{},
		"unexported": &struct {
			x int `option:"x"`
		}{},
		"twice": &struct {
			X int `option:"x"`
			Y int `option:"x"`
		}{},
		"former name twice": &struct {
			X int `option:"x"`
			Y int `option:"y" formerly:"x"`
		}{},
		"alias for no value": &struct {
			X string `option:"x" enum:"a,b" aliases:"c=d"`
		}{},
		"bad limit": &struct {
			X int `option:"x" min:"one"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			driver.DecodeOptions(map[string]any{"x": 1}, into)
		})
	}
}

func TestDescribeOptions(t *testing.T) {
	o := defaults()
	got := driver.DescribeOptions(&o)
	want := []driver.Option{
		{Name: "write_buffer", Type: "size", Default: "32KiB", Min: "1", Max: "1MiB", Doc: "size of the buffer"},
		{Name: "wait", Type: "duration", Default: "250ms", Min: "1ms", Doc: "a pause"},
		{Name: "name", Type: "string"},
		{Name: "mode", Type: "string", Default: "fast", Enum: []string{"fast", "safe"}},
		{Name: "password", Type: "string", Secret: true},
		{Name: "retry", Type: "boolean", Default: "false"},
		{Name: "count", Type: "whole number", Default: "3", Min: "-1"},
		{Name: "small", Type: "whole number", Default: "0"},
		{Name: "share", Type: "number", Default: "0.5", Min: "0", Max: "1"},
		{Name: "hosts", Type: "list", Default: "a,b"},
		{Name: "modes", Type: "list", Enum: []string{"fast", "safe"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if driver.DescribeOptions(nil) != nil {
		t.Error("nil has options")
	}
	type unset struct {
		Linger time.Duration `option:"linger" min:"0s"`
	}
	if got := driver.DescribeOptions(&unset{-1}); got[0].Default != "" {
		t.Errorf("a default that stands for nothing is described as %q", got[0].Default)
	}
	// What is described as a default can be given back.
	back := map[string]any{}
	for _, option := range got {
		if option.Default != "" {
			back[option.Name] = option.Default
		}
	}
	again := defaults()
	if err := driver.DecodeOptions(back, &again); err != nil || !reflect.DeepEqual(again, defaults()) {
		t.Errorf("defaults given back: %v, %+v", err, again)
	}
}

// login is a part of the options of several drivers.
type login struct {
	User string `option:"user"`
}

func TestEmbeddedOptions(t *testing.T) {
	o := struct {
		First string `option:"first"`
		login
		Last string `option:"last"`
	}{First: "a"}
	if err := driver.DecodeOptions(map[string]any{"user": "ada", "last": "z"}, &o); err != nil || o.User != "ada" || o.First != "a" || o.Last != "z" {
		t.Errorf("%+v, %v", o, err)
	}
	var names []string
	for _, option := range driver.DescribeOptions(&o) {
		names = append(names, option.Name)
	}
	if got := strings.Join(names, " "); got != "first user last" {
		t.Errorf("options %s", got)
	}
}

// renamed has options that were called otherwise before.
type renamed struct {
	Client string        `option:"client" enum:"direct,library" formerly:"publish,receive" aliases:"client=library,amqp=library" doc:"who carries messages"`
	Ways   []string      `option:"ways" enum:"in,out" aliases:"inwards=in"`
	Wait   time.Duration `option:"wait" formerly:"pause"`
	Pass   string        `option:"pass" formerly:"word" secret:"true"`
}

func TestFormerNames(t *testing.T) {
	for name, test := range map[string]struct {
		in   map[string]any
		want renamed
	}{
		"nothing":        {nil, renamed{Client: "direct"}},
		"now":            {map[string]any{"client": "library"}, renamed{Client: "library"}},
		"former value":   {map[string]any{"client": "amqp"}, renamed{Client: "library"}},
		"former key":     {map[string]any{"publish": "client"}, renamed{Client: "library"}},
		"another":        {map[string]any{"receive": "library"}, renamed{Client: "library"}},
		"as it was":      {map[string]any{"receive": "direct"}, renamed{Client: "direct"}},
		"both agree":     {map[string]any{"publish": "client", "receive": "client"}, renamed{Client: "library"}},
		"all agree":      {map[string]any{"publish": "client", "receive": "amqp", "client": "library"}, renamed{Client: "library"}},
		"in a list":      {map[string]any{"ways": "inwards, out"}, renamed{Client: "direct", Ways: []string{"in", "out"}}},
		"of another way": {map[string]any{"pause": "1s", "wait": "1000ms"}, renamed{Client: "direct", Wait: time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			got := renamed{Client: "direct"}
			if err := driver.DecodeOptions(test.in, &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestFormerNamesDisagree(t *testing.T) {
	for name, test := range map[string]struct {
		in     map[string]any
		option string
		words  []string
	}{
		"two former keys": {map[string]any{"publish": "client", "receive": "direct"}, "receive",
			[]string{`"publish"`, `"client"`, "disagree", "one of direct, library"}},
		"former and now":  {map[string]any{"client": "direct", "receive": "client"}, "receive", []string{"disagree", "give client alone"}},
		"secrets":         {map[string]any{"pass": "hunter1", "word": "hunter2"}, "word", []string{"give pass alone"}},
		"wrong value":     {map[string]any{"publish": "clint"}, "publish", []string{"one of direct, library"}},
		"like a former":   {map[string]any{"publis": "client"}, "publis", []string{"the options are client, pass, wait, ways"}},
		"wrong in a list": {map[string]any{"ways": "outwards"}, "ways", []string{"a list of in, out"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := renamed{Client: "direct"}
			err := driver.DecodeOptions(test.in, &got)
			var wrong *driver.OptionError
			if !errors.As(err, &wrong) || wrong.Option != test.option {
				t.Fatalf("error %v is not one of option %s", err, test.option)
			}
			for _, words := range test.words {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error %q does not say %q", err, words)
				}
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Errorf("error %q shows a secret", err)
			}
			if !reflect.DeepEqual(got, renamed{Client: "direct"}) {
				t.Errorf("options were changed in spite of the error: %+v", got)
			}
		})
	}
}

func TestFormerNamesAreHidden(t *testing.T) {
	var names []string
	for _, o := range driver.DescribeOptions(&renamed{Client: "direct"}) {
		names = append(names, o.Name)
		if o.Name == "client" && !reflect.DeepEqual(o.Enum, []string{"direct", "library"}) {
			t.Errorf("client takes %v", o.Enum)
		}
	}
	if !reflect.DeepEqual(names, []string{"client", "ways", "wait", "pass"}) {
		t.Errorf("options %v", names)
	}
	e := driver.Entry{Options: &renamed{}}
	for option, secret := range map[string]bool{"pass": true, "word": true, "client": false, "publish": false, "none": false} {
		if e.Secret(option) != secret {
			t.Errorf("option %s is secret: %v", option, !secret)
		}
	}
	if (driver.Entry{}).Secret("pass") {
		t.Error("a driver without options has a secret")
	}
}

func FuzzDecodeOptions(f *testing.F) {
	for _, s := range []string{"", "1", "64KiB", "1.5MB", "250ms", "true", "a,b", "-1", "1e9", "NaN", "9223372036854775807", "GiB", ".5kB"} {
		f.Add("count", s)
		f.Add("write_buffer", s)
		f.Add("hosts", s)
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		got := defaults()
		if err := driver.DecodeOptions(map[string]any{key: value}, &got); err != nil {
			if !errors.Is(err, driver.ErrOption) || !reflect.DeepEqual(got, defaults()) {
				t.Errorf("%q=%q: %v, %+v", key, value, err, got)
			}
		}
	})
}

// laid returns good options with one laid over them.
func laid(key string, value any) map[string]any {
	all := map[string]any{"count": 5, "name": "new"}
	all[key] = value
	return all
}
