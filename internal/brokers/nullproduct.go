package brokers

import (
	"context"
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

	"sixnines/internal/nullbroker"
	"sixnines/internal/spell"
)

// nullCommand is the argument by which [Serve] becomes the null broker.
const nullCommand = "null"

// Serve is the main function of the processes of all built-in brokers. With the
// first argument "null" it runs the null broker, see [nullbroker.Main], with "nsqauth" what a secured nsqd asks, else the
// NATS server, see [ServeNATS]. It returns the process's exit code.
func Serve(stdin io.Reader, stderr io.Writer, args []string) int {
	if len(args) > 0 && args[0] == nullCommand {
		return nullbroker.Main(stdin, stderr, args[1:])
	}
	if len(args) > 0 && args[0] == nsqAuthCommand {
		return serveNSQAuth(stdin, stderr, args[1:])
	}
	return ServeNATS(stdin, stderr, args)
}

// Null is the null broker, see package nullbroker. It is part of this program:
// [Home.Self] runs it. Its settings are delay, server, seed and log.
func Null() Product {
	return Product{
		Name:     "null",
		Diskless: "it keeps nothing on disk",
		Summary:  "does nothing, or delays and queues messages as configured: for the noise floor and for tests of the tool; built in",
		Drivers:  []string{"null"},
		Clusters: []int{1},
		Starts:   1500 * time.Millisecond,
		find: func(_ context.Context, h Home) (Installation, error) {
			if len(h.Self) == 0 {
				return Installation{}, errors.New("the null broker is built in, but this program cannot start itself as one")
			}
			return Installation{Version: nullVersion, Path: h.Self[0], Origin: builtIn}, nil
		},
		plan: func(context.Context, Home) ([]Step, error) {
			return nil, errors.New("the null broker is built in; nothing needs to be installed")
		},
		deploy: deployNull,
	}
}

// nullVersion is the version of the null broker's protocol and behaviour.
const nullVersion = "2"

func deployNull(_ context.Context, in Installation, o *Options) (*deployment, error) {
	switch {
	case o.TLS != nil:
		return nil, errors.New("the null broker does not encrypt")
	case o.User != "" || o.Password != "":
		return nil, errors.New("the null broker has no logins")
	case o.MaxMessage > nullbroker.MaxPayload:
		return nil, fmt.Errorf("messages of up to %s were requested, but it carries at most %s", spell.Size(o.MaxMessage), spell.Size(nullbroker.MaxPayload))
	}
	settings, err := nullSettings(o.Settings)
	if err != nil {
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
	address := places[0].at(ports[0])
	command := append(append([]string(nil), o.Home.Self...), nullCommand, "-listen", address,
		"-delay", settings["delay"], "-seed", settings["seed"])
	d := &deployment{url: "null://" + address, settings: settings, info: map[string]string{}}
	if server := settings["server"]; server != "" {
		command = append(command, "-server", server)
	}
	if file := settings["log"]; file != "" {
		command = append(command, "-log", file)
		d.info["log"] = file
	}
	if o.Detach {
		command = append(command, "-detach")
	}
	d.nodes = []process{{name: "null-1", place: places[0], command: command, env: o.Home.Environ, dir: filepath.Join(o.Dir, "null-1"),
		log: filepath.Join(o.Dir, "null-1.log"), ready: func(ctx context.Context) error { return greetedByNull(ctx, address) }}}
	return d, nil
}

// nullSettings checks the settings and adds defaults. It makes the log's path, relative
// to this process's working directory, absolute; the file must not exist. Errors wrap
// [ErrSetting].
func nullSettings(asked map[string]string) (map[string]string, error) {
	s := map[string]string{"delay": "none", "seed": "1"}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		value := strings.TrimSpace(asked[name])
		switch name {
		case "delay", "server":
			law, err := nullbroker.ParseLaw(value)
			if err != nil {
				return nil, fmt.Errorf("%w %s: %w", ErrSetting, name, err)
			}
			value = law.String()
		case "seed":
			if _, err := strconv.ParseUint(value, 10, 64); err != nil {
				return nil, fmt.Errorf("%w seed: %q is not a whole number from 0 to 18446744073709551615", ErrSetting, value)
			}
		case "log":
			path, err := logPath(value)
			if err != nil {
				return nil, fmt.Errorf("%w log: %w", ErrSetting, err)
			}
			value = path
		default:
			return nil, fmt.Errorf("%w %s: the settings of the null broker are delay, server, seed and log", ErrSetting, name)
		}
		s[name] = value
	}
	return s, nil
}

func logPath(value string) (string, error) {
	if value == "" {
		return "", errors.New("give the name of a file")
	}
	path, err := filepath.Abs(value)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return "", fmt.Errorf("%s exists; remove it, or name another file", path)
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a directory", filepath.Dir(path))
	}
	return path, nil
}

func greetedByNull(ctx context.Context, address string) error {
	c, err := dial(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = nullbroker.Greet(c)
	return err
}
