package engine

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"time"

	"sixnines/driver"
	"sixnines/internal/clock"
	"sixnines/internal/engine/flow"
	"sixnines/internal/engine/observe"
	"sixnines/internal/engine/receive"
	"sixnines/internal/judge"
	"sixnines/internal/recorder"
	"sixnines/internal/vitals"
	"sixnines/result"
	"sixnines/scenario"
)

// writeHeader writes what is known before the load begins: a header for each load.
func (r *run) writeHeader(start int64) error {
	r.readNs = clockCost()
	h := result.Header{Type: "header", Format: result.Format, Version: result.Version, ID: r.fullID,
		Started: clock.Wall().Add(time.Duration(start - clock.Now())), Tool: r.config.Tool, Revision: r.config.Revision,
		Segment: r.Segment, Managed: r.config.Managed, Deployment: r.config.Deployment, SameHost: r.SameHost(),
		Slot: recorder.Slot, Trial: r.config.Trial, Floor: r.config.Floor, Limit: r.config.Limit,
		Clock: result.Clock{Source: "CLOCK_MONOTONIC", Domain: clock.Domain(), Bracket: clock.Bracket(), ReadNs: r.readNs, Start: start}}
	if _, several := r.Shift(start); several && r.Segment.Role == result.RoleConsumers {
		h.Clock.Shifted = true
	}
	if s, ok := vitals.ReadTimeService(); ok && r.Virtual == nil {
		h.Clock.Service = (*result.TimeService)(&s)
	}
	if r.config.Path != nil {
		h.Network = r.config.Path.Network()
	}
	if r.Virtual != nil {
		h.Clock = result.Clock{Source: "virtual"}
		h.Machine = append(h.Machine, generatorFact(result.FactNotWatched, "the process and the machine", "the run is in virtual time"))
	} else {
		for _, f := range vitals.Fingerprint() {
			h.Machine = append(h.Machine, result.Fact(f))
		}
		h.Machine = append(h.Machine, generatorFact("processors while measuring", strconv.Itoa(runtime.GOMAXPROCS(0)),
			"plus one for each pacer, the hiccup meter and the in-flight sampler"))
	}
	var headers []result.Header
	for _, ld := range r.loads {
		h := h
		h.Machine = slices.Clone(h.Machine)
		if err := ld.describe(&h); err != nil {
			return err
		}
		missing := r.watch.Missing()
		for _, what := range slices.Sorted(maps.Keys(missing)) {
			h.Machine = append(h.Machine, generatorFact(result.FactNotWatched, what, missing[what]))
		}
		if ld.Scenario.Record.Raw {
			if err := ld.recording.OpenRaw(r.fullID); err != nil {
				return err
			}
			h.Raw = observe.BaseName(observe.RawPath(r.config.File))
		}
		headers = append(headers, h)
	}
	if r.config.Exporter != nil {
		r.config.Exporter.Begin(headers)
	}
	return r.out.Begin(start, headers...)
}

// generatorFact is a line of the header about the generator.
func generatorFact(name, value, note string) result.Fact {
	return result.Fact{Section: "generator", Name: name, Value: value, Note: note}
}

// semanticsOf returns what the driver stated. The client is among the settings too, where
// older readers look for it.
func semanticsOf(s driver.Semantics) result.Semantics {
	if client := s.Client.String(); client != "" {
		s.Settings = maps.Clone(s.Settings)
		if s.Settings == nil {
			s.Settings = map[string]string{}
		}
		s.Settings["client"] = client
	}
	return result.Semantics{
		Levels: s.Levels, Client: s.Client,
		Durability: s.Durability, Replication: s.Replication, Acknowledgment: s.Acknowledgment, Ordering: s.Ordering,
		Delivery: s.Delivery, Batching: s.Batching, Consumption: s.Consumption, Transport: s.Transport, Encrypted: s.Encrypted,
		Settings: s.Settings, Warnings: s.Warnings,
	}
}

// describe adds to the header what it says of the load.
func (ld *load) describe(h *result.Header) error {
	w := ld.Workload
	s := ld.Scenario.Redacted(ld.Entry.Secret)
	s.Target.Driver = ld.Entry.Name // also where the caller chose it
	text, err := s.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode the scenario: %w", err)
	}
	h.Workload, h.From, h.Background = ld.Part.Name, ld.Part.From, ld.Part.Background
	h.Started = h.Started.Add(ld.Part.From)
	judge.Declare(h, s)
	h.Scenario, h.Mode, h.Ack, h.Semantics = text, ld.sender.Mode(), cmp.Or(string(ld.Flow.Ack), string(driver.AckKindBroker)), semanticsOf(ld.session.Semantics)
	h.Refusals, h.Topic = ld.session.Refusals(), ld.session.TopicName()
	h.Rate, h.SetupTimes = ld.Rate(), ld.session.SetupTimes
	h.Synchronous = ld.synchronous()
	h.Stops = ld.Part.Stops
	if w.Retains() {
		h.LeftAs = ld.Name
	}
	h.Broker = ld.session.Semantics.Server.Facts()
	add := func(name, value, note string) { h.Machine = append(h.Machine, generatorFact(name, value, note)) }
	if ld.Schedule != nil {
		pacers := "1"
		if most := ld.MostPacers(); most > 1 {
			pacers = fmt.Sprintf("1 at first, at most %d", most)
		}
		add("pacers", pacers, "")
	}
	add("connections", fmt.Sprintf("%d for producers, %d for consumers", len(ld.sending.Lanes), min(w.Connections.Consumers, len(ld.Layout.Consumers))), "")
	if n := ld.Layout.MaxFanOut(); n > receive.FullChecks {
		add("checksums of deliveries", fmt.Sprintf("one in %d", n/receive.FullChecks), "the fan-out is large; every loss and duplicate is still counted")
	}
	value, note := ld.recording.StageFact()
	add("stage times", value, note)
	value, note = ld.receiveFact()
	add("receive lag", value, note)
	if ld.side.Wanted {
		value, note := ld.side.Fact()
		add("probe", value, note)
	}
	return nil
}

// synchronous describes the load if each of its producers waits for the answer to its
// message before it sends the next; nil if not, or if there is no schedule.
func (ld *load) synchronous() *result.Synchronous {
	w, lanes := ld.Workload, ld.sending.Lanes
	if ld.Schedule == nil || len(lanes) < w.Producers || lanes[0].Credits.Limit != 1 {
		return nil
	}
	service := ld.Flow.AckService
	switch {
	case ld.Flow.Closes == flow.OnAck:
	case ld.Layout.MaxFanOut() == 1:
		service = ld.Flow.Service
	default:
		return nil // of several deliveries of a message only the first is waited for
	}
	return &result.Synchronous{Metric: service.Metric(), Mean: w.Arrivals.Kind != scenario.Constant || ld.Slices != nil,
		Interval: int64(math.Round(float64(w.Producers) * 1e9 / ld.Rate()))}
}

// clockCost measures one reading of the clock, in ns.
func clockCost() float64 {
	const n = 10_000
	from := clock.Now()
	for range n {
		clock.Now()
	}
	return float64(clock.Now()-from) / n
}
