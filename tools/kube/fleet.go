package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

// The fleet's names, as its manifests have them, and how many agents it has.
const (
	namespace   = "sixnines"
	coordinator = "job/sixnines-coordinator"
	agents      = "sixnines-agents"
	agentCount  = 3
	brokerNode  = "nats"
)

// fleets carries out the runs and checks what they leave.
func (t *trial) fleets(ctx context.Context, c *cluster) error {
	broker, err := t.broker(ctx, c)
	if err != nil {
		return fmt.Errorf("the broker: %w", err)
	}
	f := &fleet{trial: t, cluster: c, dir: filepath.Join(t.Out, "manifests")}
	if err := f.write(ctx, load{"nats", "nats://" + broker + ":4222"}); err != nil {
		return err
	}
	whole, err := f.run(ctx, "whole", nil)
	if err == nil {
		err = f.check(whole, "")
	}
	if err != nil {
		return fmt.Errorf("the run of the whole fleet: %w", err)
	}
	if err := f.apart(ctx); err != nil {
		return err
	}
	if err := f.measureKafka(ctx); err != nil {
		return fmt.Errorf("the run with Kafka: %w", err)
	}
	lost := fmt.Sprintf("%s-%d", agents, agentCount-1)
	short, err := f.run(ctx, "short", func() error { return f.remove(ctx, lost) })
	if err == nil {
		err = f.check(short, lost)
	}
	if err != nil {
		return fmt.Errorf("the run that loses an agent: %w", err)
	}
	if err := f.overIndex(ctx); err != nil {
		return err
	}
	_, err = c.kubectl(ctx, "delete", "-k", f.dir, "--timeout=90s")
	if err != nil {
		return fmt.Errorf("the fleet is not removed: %w", err)
	}
	say("the fleet is removed")
	return nil
}

// broker starts the broker and returns its address.
func (t *trial) broker(ctx context.Context, c *cluster) (string, error) {
	if err := c.apply(ctx, "nats.yaml", t.image()); err != nil {
		return "", err
	}
	if _, err := c.kubectl(ctx, "-n", "brokers", "wait", "--for=condition=Ready", "pod/nats", "--timeout=60s"); err != nil {
		return "", err
	}
	// There is no DNS in this cluster.
	return c.kubectl(ctx, "-n", "brokers", "get", "service", "nats", "-o", "jsonpath={.spec.clusterIP}")
}

// apply applies a file of this program.
func (c *cluster) apply(ctx context.Context, name string, value any) error {
	file := filepath.Join(c.dir, name)
	if err := fill(name, file, value); err != nil {
		return err
	}
	_, err := c.kubectl(ctx, "apply", "-f", file)
	return err
}

// fill writes a file of this program with a value in it.
func fill(name, to string, value any) error {
	t, err := template.ParseFS(files, "files/"+name)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := t.Execute(&text, value); err != nil {
		return err
	}
	return os.WriteFile(to, text.Bytes(), 0o644)
}

// fleet is what the manifests in dir describe.
type fleet struct {
	*trial
	*cluster
	dir string
}

// load is what a fleet measures.
type load struct{ Driver, URL string }

// write writes the manifests, by the program itself.
func (f *fleet) write(ctx context.Context, l load) error {
	file := filepath.Join(f.Out, "scenario.yaml")
	if err := fill("scenario.yaml", file, l); err != nil {
		return err
	}
	_, err := output(exec.CommandContext(ctx, f.Sixnines, "fleet", "manifests", file, "--agents", fmt.Sprint(agentCount), "--image", f.image(), "--cpu", "300m", "--memory", "256Mi", "-o", f.dir))
	return err
}

// measureKafka has the same agents measure a Kafka, as docs/kubernetes.md says how another scenario is run.
func (f *fleet) measureKafka(ctx context.Context) error {
	scenario := filepath.Join(f.dir, "scenario.yaml")
	was, err := os.ReadFile(scenario)
	if err != nil {
		return err
	}
	broker, err := f.kafka(ctx, f.cluster)
	if err != nil {
		return err
	}
	if err := fill("scenario.yaml", scenario, load{"kafka", broker + ":9092"}); err != nil {
		return err
	}
	file, err := f.run(ctx, "kafka", nil)
	if err == nil {
		err = f.check(file, "")
	}
	if err != nil {
		return err
	}
	return os.WriteFile(scenario, was, 0o644)
}

// run applies the manifests and has a coordinator lead a run, whose result it returns. during, if not nil, is called when all
// agents measure.
func (f *fleet) run(ctx context.Context, name string, during func() error) (string, error) {
	began := time.Now()
	if _, err := f.kubectl(ctx, "-n", namespace, "delete", coordinator, "--ignore-not-found", "--timeout=60s"); err != nil {
		return "", err
	}
	if _, err := f.kubectl(ctx, "apply", "-k", f.dir); err != nil {
		return "", err
	}
	if during != nil {
		if err := f.until(ctx, 2*time.Minute, func() bool { return f.measuring(ctx) == agentCount }); err != nil {
			return "", fmt.Errorf("the agents do not measure: %w", err)
		}
		if err := during(); err != nil {
			return "", err
		}
	}
	var state struct {
		Status struct {
			Succeeded, Failed int
		}
	}
	err := f.until(ctx, 2*time.Minute, func() bool {
		text, err := f.kubectl(ctx, "-n", namespace, "get", coordinator, "-o", "json")
		return err == nil && json.Unmarshal([]byte(text), &state) == nil && state.Status.Succeeded+state.Status.Failed > 0
	})
	if err != nil {
		return "", fmt.Errorf("the coordinator does not end: %w", err)
	}
	log, err := f.kubectl(ctx, "-n", namespace, "logs", coordinator)
	if err != nil {
		return "", err
	}
	// A container's output and its errors are one log: records are the lines that are objects.
	var result, errs strings.Builder
	for line := range strings.Lines(log + "\n") {
		if strings.HasPrefix(line, "{") {
			result.WriteString(line)
		} else {
			errs.WriteString(line)
		}
	}
	if during != nil && (state.Status.Failed == 0 || !strings.Contains(errs.String(), agents)) {
		return "", fmt.Errorf("the coordinator does not fail and name the agent: %s", errs.String())
	}
	file := filepath.Join(f.Out, name+".jsonl")
	if err := os.WriteFile(file, []byte(result.String()), 0o644); err != nil {
		return "", err
	}
	say("%s: the result is there after %.1f s (coordinator: %d succeeded, %d failed) %s", name, time.Since(began).Seconds(), state.Status.Succeeded, state.Status.Failed, strings.TrimSpace(errs.String()))
	return file, nil
}

// seen is an agent, as the program lists it.
type seen struct {
	Name, State string
	Records     uint64
}

// measuring is how many agents have recorded some of a run that goes on.
func (f *fleet) measuring(ctx context.Context) (n int) {
	address, err := f.kubectl(ctx, "-n", namespace, "get", "pod", "-l", "app.kubernetes.io/name=sixnines-control", "-o", "jsonpath={.items[0].status.podIP}")
	if err != nil {
		return 0
	}
	pin, err := os.ReadFile(filepath.Join(f.dir, "secrets", "pin"))
	if err != nil {
		return 0
	}
	text, err := output(exec.CommandContext(ctx, f.Sixnines, "fleet", "list", "--json", "--fleet", "tls://"+address+":4222", "--pin", string(pin), "--token-file", filepath.Join(f.dir, "secrets", "token")))
	var all []seen
	if err != nil || json.Unmarshal(text, &all) != nil {
		return 0
	}
	for _, a := range all {
		if a.State == "running" && a.Records > 20 { // a tenth of the window
			n++
		}
	}
	return n
}

// remove removes the pod of an agent, which has a second to end.
func (f *fleet) remove(ctx context.Context, name string) error {
	index := name[strings.LastIndex(name, "-")+1:]
	_, err := f.kubectl(ctx, "-n", namespace, "delete", "pod", "-l", "app.kubernetes.io/name="+agents+",batch.kubernetes.io/job-completion-index="+index, "--now")
	if err == nil {
		say("%s is deleted in mid-run", name)
	}
	return err
}

// apart checks that no pod of the fleet is on the broker's node.
func (f *fleet) apart(ctx context.Context) error {
	broker, err := f.kubectl(ctx, "-n", "brokers", "get", "pod", brokerNode, "-o", "jsonpath={.spec.nodeName}")
	if err != nil {
		return err
	}
	nodes, err := f.kubectl(ctx, "-n", namespace, "get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}")
	if err != nil {
		return err
	}
	if all := strings.Fields(nodes); len(all) != agentCount+2 || slices.Contains(all, broker) {
		return fmt.Errorf("the broker is on %s, and the fleet on %s", broker, nodes)
	}
	say("the broker is on %s, and no pod of the fleet is", broker)
	return nil
}

// overIndex checks that the index of the agent that was deleted is over, and not tried again. One that has time to end succeeds.
func (f *fleet) overIndex(ctx context.Context) error {
	var job struct {
		Status struct {
			Active                          int
			CompletedIndexes, FailedIndexes string
		}
	}
	err := f.until(ctx, time.Minute, func() bool {
		text, err := f.kubectl(ctx, "-n", namespace, "get", "job", agents, "-o", "json")
		return err == nil && json.Unmarshal([]byte(text), &job) == nil && job.Status.CompletedIndexes+job.Status.FailedIndexes == fmt.Sprint(agentCount-1)
	})
	if err != nil {
		return fmt.Errorf("the index of the agent that was deleted goes on: %+v: %w", job.Status, err)
	}
	if job.Status.Active != agentCount-1 {
		return fmt.Errorf("%d agents are there, not %d", job.Status.Active, agentCount-1)
	}
	return nil
}

// check checks a result: the program verifies it, its counts add up, and it names the agent that was lost, if one was.
func (f *fleet) check(file, lost string) error {
	if out, err := exec.Command(f.Sixnines, "verify", file).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	first, err := firstLine(file)
	if err != nil {
		return err
	}
	var header struct {
		Fleet struct {
			Agents []struct {
				Name string
				Lost bool
				End  int64 `json:"window_end"`
			}
		}
	}
	if err := json.Unmarshal(first, &header); err != nil {
		return err
	}
	var names, gone []string
	var end int64
	for _, a := range header.Fleet.Agents {
		end = max(end, a.End)
	}
	for _, a := range header.Fleet.Agents {
		// An agent that has time to deliver what it recorded ends its window, and one that has none is lost.
		if names = append(names, a.Name); a.Lost || a.End < end {
			gone = append(gone, a.Name)
		}
	}
	text, err := exec.Command(f.Sixnines, "report", file, "--format", "json").Output()
	if err != nil {
		return err
	}
	var report struct {
		Verdict struct {
			Status string
		}
		Counters struct {
			Scheduled, Sent, Received, Expected, Missing uint64
			NotSent                                      uint64 `json:"not_sent"`
		}
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return err
	}
	n := report.Counters
	say("agents %s, lost %q: %s; scheduled %d, sent %d, not sent %d, received %d", strings.Join(names, ", "), gone, report.Verdict.Status, n.Scheduled, n.Sent, n.NotSent, n.Received)
	const scheduled = 300 * 20 // of the scenario
	switch {
	case len(names) != agentCount:
		return fmt.Errorf("there are %d agents in the result, not %d", len(names), agentCount)
	case n.Sent+n.NotSent != n.Scheduled:
		return errors.New("what was not sent is not in the accounts")
	case lost == "" && (len(gone) > 0 || n.Sent != scheduled || n.Received != scheduled):
		return errors.New("messages or agents are missing")
	case lost == "":
		return nil
	case !slices.Equal(gone, []string{lost}):
		return fmt.Errorf("%s was deleted, and the result says %q", lost, gone)
	case n.Sent >= scheduled || n.Sent < scheduled*(agentCount-1)/agentCount:
		return errors.New("what was sent is not what the others have and a part of what was deleted")
	}
	return nil
}

func firstLine(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bufio.NewReader(f).ReadBytes('\n')
}
