package brokers_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/brokers"
)

// fakePkgConfig makes a pkg-config of the given shell script beside a compiler,
// and a home that has nothing else on its PATH.
func fakePkgConfig(t *testing.T, script string) brokers.Home {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{"pkg-config": script, "gcc": "exit 0"} {
		if script == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return brokers.Home{Dir: filepath.Join(dir, "home"), Environ: []string{"PATH=" + dir}}
}

func TestZeroMQIsFoundByPkgConfig(t *testing.T) {
	p := brokers.ZeroMQ()
	in, err := p.Find(t.Context(), fakePkgConfig(t, `case $1 in --modversion) echo 4.3.4;; *) echo /usr/lib;; esac`))
	if err != nil || in.Version != "4.3.4" || in.Path != "/usr/lib" {
		t.Errorf("%+v, %v", in, err)
	}
	for name, script := range map[string]string{"no pkg-config": "", "no libzmq": "exit 1"} {
		h := fakePkgConfig(t, script)
		if _, err := p.Find(t.Context(), h); !errors.Is(err, brokers.ErrNotInstalled) {
			t.Errorf("%s: %v", name, err)
		}
		steps, err := p.Plan(t.Context(), h)
		if err != nil || len(steps) != 1 || !strings.Contains(steps[0].String(), "libzmq3-dev") {
			t.Errorf("%s: the plan is %v, %v", name, steps, err)
		}
	}
}

func TestZeroMQHasNothingToRun(t *testing.T) {
	o := brokers.Options{Home: brokers.Home{Dir: t.TempDir()}}
	if _, err := brokers.Start(t.Context(), brokers.ZeroMQ(), o); !errors.Is(err, brokers.ErrBrokerless) {
		t.Errorf("started: %v", err)
	}
	if _, err := brokers.Up(t.Context(), brokers.ZeroMQ(), o); !errors.Is(err, brokers.ErrBrokerless) {
		t.Errorf("up: %v", err)
	}
}
