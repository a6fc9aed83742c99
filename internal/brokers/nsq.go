package brokers

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"time"
)

// The version that is built, and the prefix of its directory below the home.
const (
	nsqVersion = "1.3.0"
	nsqPrefix  = "nsq-" // the version follows
)

// NSQ is nsqd, one node without nsqlookupd. The names in Options.Settings are
// those of its flags, without dashes before them.
func NSQ() Product {
	return Product{
		Name:     "nsq",
		Summary:  "NSQ: nsqd, topics and channels",
		Drivers:  []string{"nsq"},
		Secures:  []string{"nsq"},
		Clusters: []int{1},
		Starts:   1500 * time.Millisecond,
		Variable: "NSQD",
		find:     func(ctx context.Context, h Home) (Installation, error) { return findProgram(ctx, h, nsqd()) },
		plan:     func(_ context.Context, h Home) ([]Step, error) { return planNSQ(h, nsqVersion), nil },
		versions: &versions{prefix: nsqPrefix, usual: nsqVersion, oldest: "1.2.1", find: versionedProgram(nsqd()), plan: planNSQ},
		deploy:   deployNSQ,
	}
}

func nsqd() program {
	return program{
		product: "nsq", name: "nsqd", variable: "NSQD", built: []string{nsqPrefix + nsqVersion, "nsqd"},
		version: []string{"-version"}, before: "nsqd v", after: " ", // nsqd v1.3.0 (built w/go1.21.5)
	}
}

// planNSQ builds nsqd in a module of its own: the program's module has a
// replacement, with which Go does not install it directly.
func planNSQ(h Home, version string) []Step {
	partial := h.Path(nsqPrefix + version + ".partial")
	return []Step{{
		Doc:     "build nsqd " + version + " with Go",
		Command: []string{"go", "build", "-mod=mod", "-o", "nsqd", "github.com/nsqio/nsq/apps/nsqd"},
		Dir:     partial,
		Env:     []string{"GOWORK=off", "GOFLAGS="},
		Files: map[string]string{"go.mod": `module nsqbuild

go 1.21

require github.com/nsqio/nsq v` + version + `

replace github.com/judwhite/go-svc => github.com/mreiferson/go-svc v1.2.2-0.20210815184239-7a96e00010f6
`},
		Moves: map[string]string{partial: h.Path(nsqPrefix + version)},
	}}
}

func deployNSQ(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if o.account == nil && (o.User != "" || o.Password != "") {
		return nil, fmt.Errorf("nsqd has no logins; it asks the server that the setting auth-http-address names")
	}
	if err := refuse(o.Settings, "tcp-address", "http-address", "config"); err != nil {
		return nil, err
	}
	ports, err := o.ports(4)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	at := places[0]
	address, control := at.at(ports[0]), at.at(ports[1])
	dir := filepath.Join(o.Dir, "data")
	info := map[string]string{"http": "http://" + control}
	settings := map[string]string{
		"tcp-address":       address,
		"http-address":      control,
		"broadcast-address": at.ip(),
		"data-path":         dir,
		"log-level":         "warn",
	}
	if o.MaxMessage > 0 {
		settings["max-msg-size"] = strconv.Itoa(o.MaxMessage)
		// A command holds a message, or several, and their lengths.
		settings["max-body-size"] = strconv.Itoa(max(5<<20, o.MaxMessage+1<<20))
	}
	if o.TLS != nil {
		settings["tls-cert"], settings["tls-key"] = o.TLS.Cert, o.TLS.Key
		settings["tls-required"] = "tcp-https" // the HTTP control port stays plain
		settings["https-address"] = at.at(ports[2])
		info["https"] = "https://" + at.at(ports[2])
		if o.TLS.CA != "" {
			settings["tls-root-ca-file"], settings["tls-client-auth-policy"] = o.TLS.CA, "require-verify"
		}
	}
	var helpers []process
	var login *Access
	if o.account != nil {
		judge, address, err := nsqAuth(o, at, ports[3])
		if err != nil {
			return nil, err
		}
		settings["auth-http-address"] = address
		helpers, login = []process{judge}, &Access{Files: map[string]string{"auth_secret": o.securedPath(passwordFile)}}
	}
	maps.Copy(settings, o.Settings)
	scheme := "nsq"
	if need := settings["tls-required"]; need != "" && need != "false" {
		scheme = "nsq+tls"
	}
	command := append([]string{in.Path}, flags("-", settings)...)
	node := process{name: "nsqd", place: at, command: command, env: o.Home.Environ, dir: dir, log: filepath.Join(o.Dir, "nsqd.log"),
		ready: func(ctx context.Context) error {
			if err := listens(address)(ctx); err != nil {
				return err
			}
			_, err := fetch(ctx, "http://"+control+"/ping") // an error status if nsqd is unhealthy
			return err
		}}
	return &deployment{
		// The driver makes and removes topics by HTTP.
		url:      scheme + "://" + address + "/?http=" + control,
		info:     info,
		settings: among(settings, "max-msg-size", "mem-queue-size", "sync-every", "sync-timeout"),
		helpers:  helpers,
		nodes:    []process{node},
		login:    login,
	}, nil
}
