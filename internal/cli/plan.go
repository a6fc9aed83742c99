package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"sixnines/driver"
	"sixnines/internal/engine"
	"sixnines/internal/judge"
	"sixnines/internal/schedule"
	"sixnines/internal/secret"
	"sixnines/internal/stats"
	"sixnines/result"
	"sixnines/scenario"
)

// plan is what a scenario comes to, before anything is run.
type plan struct {
	Workload   string `json:"workload,omitempty"` // of several, which
	Broker     string `json:"broker"`
	Messages   int64  `json:"messages"`   // in the window; 0: not known before the run
	Exact      bool   `json:"exact"`      // Messages is a number, not the mean of a random one
	Deliveries int64  `json:"deliveries"` // of these messages
	FanOut     fanOut `json:"fan_out"`    // delivery groups for each message
	Bytes      int64  `json:"bytes"`      // of payload sent in the window
	// Percentiles are those that the messages support, by the rule of
	// results; Next is the first that they do not, and what it needs.
	Percentiles []result.Percentile `json:"percentiles"`
	Next        result.Percentile   `json:"next_percentile,omitempty"`
	NextNeeds   int64               `json:"next_needs,omitempty"`
	Agents      []string            `json:"agents,omitempty"`  // of a fleet: who has how many producers, and consumers
	Actions     []string            `json:"actions,omitempty"` // what is to happen in the window, in order
	// Networks says of each action on the network by which means, and why not by better ones.
	Networks []string      `json:"networks,omitempty"`
	Shortest time.Duration `json:"shortest_ns"` // of the whole run
	Longest  time.Duration `json:"longest_ns"`
	Warnings []string      `json:"warnings"`
	Rules    []judge.Rule  `json:"rules"` // of benchmarking, that it does not keep
}

// fanOut is how many delivery groups messages go to.
type fanOut struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
}

// dryRun prints the scenario and its plan: as YAML that can be run again, with
// the plan in comments, or as one JSON object.
func (env *Env) dryRun(s *scenario.Scenario, e driver.Entry, asJSON bool) error {
	parts := s.Parts()
	plans := make([]plan, len(parts))
	for i, part := range parts {
		var err error
		if plans[i], err = possible(part.Scenario, e); err != nil {
			return err
		}
		plans[i].Workload = part.Name
	}
	shown := s.Redacted(e.Secret)
	if asJSON {
		text, err := shown.MarshalJSON()
		if err != nil {
			return fmt.Errorf("dry run: %w", err)
		}
		object := struct {
			Scenario json.RawMessage `json:"scenario"`
			Plan     *plan           `json:"plan,omitempty"`
			Plans    []plan          `json:"plans,omitempty"`
		}{text, &plans[0], nil}
		if len(s.Workloads) > 0 {
			object.Plan, object.Plans = nil, plans
		}
		return env.writeJSON(object)
	}
	text, err := shown.Encode()
	if err != nil {
		return fmt.Errorf("dry run: %w", err)
	}
	var b strings.Builder
	b.Write(text)
	if hidden := secret.Placeholders(string(text)); len(hidden) > 0 {
		b.WriteString("# Logins and passwords are not shown: set " + strings.Join(hidden, ", ") + " to run this.\n")
	}
	for i, part := range parts {
		for _, line := range plans[i].lines(part.Scenario) {
			b.WriteString(strings.TrimRight("# "+line, " ") + "\n")
		}
	}
	_, err = env.Stdout.Write([]byte(b.String()))
	return err
}

// possible returns the plan of a normalised scenario, or an error if the driver cannot
// run it.
func possible(s *scenario.Scenario, e driver.Entry) (plan, error) {
	if err := engine.Check(s, e); err != nil {
		return plan{}, runFault(err, s, e, false)
	}
	if err := actsPossible(s, e); err != nil {
		return plan{}, err
	}
	networks, err := networksPossible(s, e, unrelayed(s, e))
	if err != nil {
		return plan{}, err
	}
	agents, err := divisionOf(s)
	if err != nil {
		return plan{}, err
	}
	p, err := planOf(s, e)
	p.Networks, p.Agents = networks, agents
	return p, err
}

// planOfAll returns the plan of a whole normalised scenario: with several workloads the
// first one's plan, with the time that all take.
func planOfAll(s *scenario.Scenario, e driver.Entry) (plan, error) {
	var all plan
	for i, part := range s.Parts() {
		p, err := possible(part.Scenario, e)
		switch {
		case err != nil:
			return plan{}, err
		case i == 0:
			all = p
		}
	}
	all.Shortest = s.Phases.Warmup + s.Phases.Duration
	all.Longest = s.Phases.Warmup + s.Phases.Longest() + s.Phases.Drain
	return all, nil
}

// planOf returns the plan of a normalised scenario.
func planOf(s *scenario.Scenario, e driver.Entry) (plan, error) {
	w := &s.Workload
	p := plan{Warnings: []string{}, Percentiles: []result.Percentile{}, Messages: int64(w.Messages), Exact: w.Messages > 0}
	switch {
	case s.Target.URL != "":
		p.Broker = "at " + s.Redacted(e.Secret).Target.URL
	default:
		product, ok, err := managedProduct(s, e)
		switch {
		case err != nil:
			return p, err
		case ok:
			p.Broker = product.Name
			if n := s.Target.Nodes; n > 1 {
				p.Broker += ", " + plural(n, "node")
			}
			p.Broker += ", started for the run"
		case e.Capabilities.Brokerless:
			p.Broker = "none: the peers talk directly"
		default:
			p.Broker = "inside the driver"
		}
	}
	if w.Pattern != scenario.Consume {
		if err := p.schedule(s); err != nil {
			return p, err
		}
	}
	p.FanOut = fanOutOf(w)
	p.Deliveries = int64(float64(p.Messages) * float64(p.FanOut.Least+p.FanOut.Most) / 2)
	if w.Pattern == scenario.Consume { // what will come is not known
		p.Messages = 0
	}
	p.Bytes = int64(math.Round(float64(p.Messages) * schedule.MeanSize(w.Size)))
	if p.Messages > 0 {
		p.support()
	}
	p.Shortest = s.Phases.Warmup + s.Phases.Duration
	p.Longest = s.Phases.Warmup + s.Phases.Longest() + s.Phases.Drain
	for _, act := range s.Acts() {
		p.Actions = append(p.Actions, act.String())
	}
	for _, o := range s.Objectives {
		// Validation refused objectives that can never be decided; these may be.
		if needs := o.Samples(); p.Messages > 0 && p.Messages < needs {
			p.Warnings = append(p.Warnings, fmt.Sprintf("the objective %q needs %s messages: with fewer it is undecided, which does not pass; lengthen --duration", o, grouped(needs)))
		}
	}
	if w.Loop == scenario.Closed {
		p.Warnings = append(p.Warnings, "a closed loop waits for each answer: its figures omit the time that users would have waited")
	}
	if w.Rate.IsMax() && w.Loop == scenario.Open {
		p.Warnings = append(p.Warnings, "rate max has no schedule: only service times are measured, marked UNPACED")
	}
	if w.Pattern == scenario.Deliver && p.FanOut.Least == 0 {
		p.Warnings = append(p.Warnings, "some topics have no consumer: messages to them are not received")
	}
	p.Rules = judge.Rules(s, s.Target.URL == "", 1, p.Messages)
	return p, nil
}

// schedule counts the messages that are due.
func (p *plan) schedule(s *scenario.Scenario) error {
	due, err := schedule.New(&s.Workload, s.Phases.Longest(), s.Seed)
	switch {
	case err == nil:
		n, exact := due.Total()
		p.Messages, p.Exact = int64(min(uint64(n), math.MaxInt64)), exact
	case !errors.Is(err, schedule.ErrUnscheduled):
		return &fault{exitUsage, err, scenarioHint}
	}
	return nil
}

// support finds the percentiles that the messages will support.
func (p *plan) support() {
	for _, text := range result.Percentiles() {
		percent, ok := text.Number()
		if !ok || percent < 50 {
			continue
		}
		quantile := stats.Fraction(percent)
		if stats.SupportOf(p.Messages, quantile) == stats.NotSupported {
			p.Next, p.NextNeeds = text, stats.MinSamples(quantile, 0.95)
			return
		}
		p.Percentiles = append(p.Percentiles, text)
	}
}

// fanOutOf returns the least and the largest number of delivery groups of a topic: every
// queue group is bound to all topics, and consumers without a group are assigned to the
// topics in turn.
func fanOutOf(w *scenario.Workload) fanOut {
	switch {
	case w.Pattern == scenario.Publish, w.Pattern == scenario.Consume:
		return fanOut{}
	case w.Pattern == scenario.RequestReply:
		return fanOut{1, 1}
	case w.Groups > 0:
		return fanOut{int64(w.Groups), int64(w.Groups)}
	case w.Consumers <= w.Topics:
		return fanOut{1, 1} // each takes several topics
	}
	least := int64(w.Consumers / w.Topics)
	if w.Consumers%w.Topics > 0 {
		return fanOut{least, least + 1}
	}
	return fanOut{least, least}
}

// lines writes the plan for people.
func (p plan) lines(s *scenario.Scenario) []string {
	w := &s.Workload
	out := []string{""}
	add := func(name, format string, args ...any) {
		out = append(out, fmt.Sprintf("%-12s", name)+fmt.Sprintf(format, args...))
	}
	if p.Workload != "" {
		add("workload", "%s", p.Workload)
	}
	add("broker", "%s", p.Broker)
	add("layout", "%s × %s, %s", plural(w.Producers, "producer"), plural(w.Topics, "topic"), consumersOf(w))
	for _, text := range p.Agents {
		add("agents", "%s", text)
	}
	if w.Pattern == scenario.Consume {
		add("existing", "the messages that a run left as %s; nothing is sent", w.Existing)
	} else if p.Messages > 0 {
		about := ""
		if !p.Exact {
			about = "about "
		}
		if !s.Phases.Until.IsZero() {
			about = "at most " + about
		}
		bytes := grouped(p.Bytes)
		if _, alike := w.Size.Fixed(); !alike {
			bytes = "about " + bytes
		}
		add("messages", "%s%s in the window, %s bytes", about, grouped(p.Messages), bytes)
	} else {
		add("messages", "as many as the window allows")
	}
	switch {
	case w.Pattern == scenario.Consume:
	case p.FanOut.Most == 0:
		add("fan-out", "none: no consumers")
	case p.FanOut.Least == p.FanOut.Most:
		add("fan-out", "%s for each message%s", plural(int(p.FanOut.Most), "delivery"), deliveries(p.Deliveries, p.Exact))
	default:
		add("fan-out", "%d or %d deliveries for each message, depending on its topic%s", p.FanOut.Least, p.FanOut.Most, deliveries(p.Deliveries, false))
	}
	if len(p.Percentiles) > 0 || p.Next != "" {
		text := "the sample will not support any"
		if n := len(p.Percentiles); n > 0 {
			text = "the sample will support up to p" + string(p.Percentiles[n-1])
		}
		if p.Next != "" {
			text += fmt.Sprintf("; p%s needs %s messages", p.Next, grouped(p.NextNeeds))
		}
		add("percentiles", "%s", text)
	}
	for _, text := range p.Actions {
		add("action", "%s", text)
	}
	for _, text := range p.Networks {
		add("network", "%s", text)
	}
	if s.Phases.Duration > 0 {
		if u := s.Phases.Until; u.IsZero() {
			add("takes", "%s, and up to %s more for the last message", seconds(p.Shortest), seconds(p.Longest-p.Shortest))
		} else {
			add("takes", "at least %s, at most %s, until %s", seconds(p.Shortest), seconds(p.Longest), u)
		}
	}
	for _, text := range p.Warnings {
		add("note", "%s", text)
	}
	for _, r := range p.Rules {
		add("rule", "%s: %s; try %s (%s)", r.Found, r.Means, r.Try, r.Source)
	}
	return out
}

func deliveries(n int64, exact bool) string {
	switch {
	case n == 0:
		return ""
	case exact:
		return ", " + grouped(n) + " in all"
	}
	return ", about " + grouped(n) + " in all"
}

func consumersOf(w *scenario.Workload) string {
	switch {
	case w.Pattern == scenario.RequestReply:
		return plural(w.Consumers, "responder")
	case w.Groups > 0:
		return plural(w.Consumers, "consumer") + " in " + plural(w.Groups, "group")
	}
	return plural(w.Consumers, "consumer")
}
