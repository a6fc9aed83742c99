package brokertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sixnines/internal/brokers"
)

// RabbitMQControl runs rabbitmqctl at the first node and returns the lines that it prints.
func RabbitMQControl(t testing.TB, c *brokers.Cluster, args ...string) ([]string, error) {
	t.Helper()
	p, _ := brokers.Lookup("rabbitmq")
	in, err := p.Find(t.Context(), Home(t))
	if err != nil {
		return nil, err
	}
	_, port, _ := strings.Cut(c.Info["epmd"], ":")
	run := exec.CommandContext(t.Context(), filepath.Join(in.Path, "sbin", "rabbitmqctl"), append([]string{"--quiet", "--node", "rabbit-1@localhost"}, args...)...)
	run.Env = append(os.Environ(), "HOME="+c.Info["home"], "ERL_EPMD_PORT="+port, "RABBITMQ_CONF_ENV_FILE="+c.Dir+"/none", "RABBITMQ_LOG_BASE="+c.Dir)
	out, err := run.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s", args, err, out)
	}
	var lines []string
	for line := range bytes.Lines(out) {
		lines = append(lines, strings.TrimSpace(string(line)))
	}
	return lines, nil
}
