package brokers

import (
	"context"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Mosquitto is Eclipse Mosquitto, MQTT 3.1.1 and 5.
//
// It keeps nothing on disk unless Options.Settings has "persistence" "true". The
// limits at which it drops messages are off; Options.Settings can set them again.
func Mosquitto() Product {
	return Product{
		Name:     "mosquitto",
		Summary:  "Eclipse Mosquitto: MQTT 3.1.1 and 5",
		Drivers:  []string{"mqtt"},
		Secures:  []string{"mqtt"},
		Clusters: []int{1},
		Starts:   1500 * time.Millisecond,
		Variable: "MOSQUITTO",
		find:     findMosquitto,
		plan:     planDebian("mosquitto"),
		deploy:   deployMosquitto,
	}
}

func findMosquitto(ctx context.Context, h Home) (Installation, error) {
	return findProgram(ctx, h, program{
		product: "mosquitto", name: "mosquitto", variable: "MOSQUITTO",
		version: []string{"-h"}, before: "mosquitto version ", after: "\n", // mosquitto version 2.0.11
	})
}

func deployMosquitto(_ context.Context, in Installation, o *Options) (*deployment, error) {
	if err := refuse(o.Settings, "listener", "port", "bind_address", "pid_file"); err != nil {
		return nil, err
	}
	ports, err := o.ports(1)
	if err != nil {
		return nil, err
	}
	places, err := o.places(1)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(o.Dir, "data")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	settings := map[string]string{
		"allow_anonymous":      strconv.FormatBool(o.User == ""),
		"persistence":          "false",
		"persistence_location": dir + string(filepath.Separator),
		// It silently drops messages beyond this limit; 0 means no limit.
		"max_queued_messages": "0",
		// With the default of 20 unacknowledged messages per client, a run would measure
		// round trips between client and broker instead of the broker.
		"max_inflight_messages": "0",
		"set_tcp_nodelay":       "true",
		"log_dest":              "stderr",
	}
	if os.Geteuid() == 0 {
		// It would switch to user mosquitto, which may not read these files.
		settings["user"] = "root"
	}
	if o.MaxMessage > 0 {
		settings["message_size_limit"] = strconv.Itoa(o.MaxMessage)
	}
	if o.TLS != nil {
		settings["certfile"], settings["keyfile"] = o.TLS.Cert, o.TLS.Key
		if o.TLS.CA != "" {
			settings["cafile"], settings["require_certificate"] = o.TLS.CA, "true"
		}
	}
	if o.User != "" {
		line, err := mosquittoPassword(o.User, o.Password)
		if err != nil {
			return nil, err
		}
		if a := o.account; a != nil {
			limited, err := mosquittoPassword(a.user, a.password)
			if err != nil {
				return nil, err
			}
			line += "\n" + limited
			rights := o.securedPath("acl")
			text := "user " + o.User + "\ntopic readwrite #\nuser " + a.user + "\n"
			for _, g := range a.grants {
				text += g.Right + " " + g.Of + "\n"
			}
			if err := os.WriteFile(rights, []byte(text), 0o600); err != nil {
				return nil, err
			}
			settings["acl_file"] = rights
		}
		passwords := filepath.Join(o.Dir, "passwords")
		if err := os.WriteFile(passwords, []byte(line+"\n"), 0o600); err != nil {
			return nil, err
		}
		settings["password_file"] = passwords
	}
	maps.Copy(settings, o.Settings)
	address := places[0].at(ports[0])
	// Lines after a listener's line apply to that listener or to the whole broker.
	var text strings.Builder
	fmt.Fprintf(&text, "listener %d %s\n", ports[0], places[0].ip())
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&text, "%s %s\n", name, settings[name])
	}
	config := filepath.Join(o.Dir, "mosquitto.conf")
	if err := os.WriteFile(config, []byte(text.String()), 0o600); err != nil {
		return nil, err
	}
	node := process{name: "mosquitto", place: places[0], command: []string{in.Path, "-c", config}, env: o.Home.Environ, dir: dir,
		log: filepath.Join(o.Dir, "mosquitto.log"), ready: listens(address)}
	scheme := "mqtts"
	if settings["certfile"] == "" && settings["psk_hint"] == "" {
		scheme = "mqtt"
		node.ready = func(ctx context.Context) error { return greetedByMosquitto(ctx, address) }
	}
	return &deployment{url: scheme + "://" + address, nodes: []process{node},
		settings: among(settings, "persistence", "max_queued_messages", "max_inflight_messages", "set_tcp_nodelay", "message_size_limit")}, nil
}

// mosquittoPassword returns a user's line of a password file as Mosquitto 2
// reads it: PBKDF2 with SHA-512. Mosquitto's own program for that would show the
// password on its command line.
func mosquittoPassword(user, password string) (string, error) {
	if strings.ContainsAny(user, ":\r\n") {
		return "", errors.New("a user name must not contain colons or line breaks")
	}
	const iterations = 101
	salt := make([]byte, 12)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	hash, err := pbkdf2.Key(sha512.New, password, salt, iterations, sha512.Size)
	if err != nil {
		return "", err
	}
	encode := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("%s:$7$%d$%s$%s", user, iterations, encode(salt), encode(hash)), nil
}

// greetedByMosquitto returns nil if the broker answers a client's first packet, even with
// a refusal.
func greetedByMosquitto(ctx context.Context, address string) error {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	// CONNECT of MQTT 3.1.1: clean session, no keep-alive, client "ready".
	const connect = "\x10\x11\x00\x04MQTT\x04\x02\x00\x00\x00\x05ready"
	if _, err := io.WriteString(c, connect); err != nil {
		return err
	}
	var answer [4]byte
	if _, err := io.ReadFull(c, answer[:]); err != nil {
		return err
	}
	if answer[0] != 0x20 {
		return fmt.Errorf("it answered with % x, which is not a CONNACK", answer)
	}
	return nil
}
