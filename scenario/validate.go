package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sixnines/internal/secret"
	"sixnines/internal/strict"
)

// Validate returns everything that is wrong with the scenario as [Scenario.Normalise]
// completes it; s itself is not changed. The error is of type [Errors], each with the
// position where the value was written in a file or the name of its flag. Validate does
// not check that the driver exists and accepts the options.
func (s *Scenario) Validate() error {
	n := s.clone()
	n.Normalise()
	v := validator{s: n, noConsumers: s.writtenZero()}
	if a := &n.Workload.Arrivals; a.Kind == Step && a.length() > MaxDuration {
		v.fail("the steps last longer than "+formatDuration(MaxDuration), "a window has at most "+formatDuration(MaxDuration), "workload.arrivals.steps", "workload.arrivals")
		return v.errs
	}
	v.values(reflect.ValueOf(n).Elem(), "")
	for _, w := range n.Workloads {
		v.values(reflect.ValueOf(w), strict.Join(workloadsKey, w.Name))
	}
	if len(v.errs) > 0 {
		// Errors that follow from invalid values would only confuse.
		return v.errs.sorted()
	}
	v.target()
	v.network()
	v.fleet()
	before := len(v.errs)
	if v.actions(); len(v.errs) > before {
		return v.errs.sorted()
	}
	if len(n.Workloads) > 0 {
		v.workloads()
	} else {
		v.part()
	}
	return v.errs.sorted()
}

// part checks the scenario of one workload.
func (v *validator) part() {
	if v.s.Workload.Pattern == Consume {
		v.consume()
	} else {
		v.loop()
		v.arrivals()
	}
	v.lifetime()
	v.population()
	v.churn()
	if v.consuming() {
		v.timeline()
	}
	v.limits()
	v.keys()
	v.window()
	v.until()
	v.objectives()
}

// validator collects what is wrong with a normalised scenario.
type validator struct {
	s           *Scenario
	noConsumers bool // the scenario says 0 consumers, where Normalise filled in a default
	errs        Errors
}

// writtenZero reports whether the scenario's text or a flag says 0 consumers.
func (s *Scenario) writtenZero() bool {
	_, written := s.written("workload.consumers")
	return written && s.Workload.Consumers == 0
}

// fail adds an error at the position of the first of the keys that was written, or of
// a key below or above it.
func (v *validator) fail(cause, hint string, keys ...string) {
	e := &Error{Key: keys[0], Cause: cause, Hint: hint}
	if src := v.s.source; src != nil {
		e.File = src.file
		for _, key := range keys {
			if p, ok := src.near(key); ok {
				e.File, e.Line, e.Column = p.File, p.Line, p.Column
				break
			}
		}
	}
	v.errs = append(v.errs, e)
}

// refuse calls fail if so is true.
func (v *validator) refuse(so bool, cause, hint string, keys ...string) {
	if so {
		v.fail(cause, hint, keys...)
	}
}

// unreadable adds err, the error of a value that was made in Go, if it is not nil, and
// reports whether it added one.
func (v *validator) unreadable(err error, keys ...string) bool {
	e, is := err.(*Error)
	if is {
		v.fail(e.Cause, e.Hint, keys...)
	}
	return is
}

// Wrong returns an error about the value at a dotted key, with the position where it was
// written, as [Scenario.Validate] does. It is for checks outside this package, such as
// whether a driver accepts an option. The error does not contain values of variables.
func (s *Scenario) Wrong(key, cause, hint string) Errors {
	v := validator{s: s}
	if s.source != nil {
		var given []string
		for at, w := range s.source.written {
			if at == key || strings.HasPrefix(at, key+".") || strings.HasPrefix(at, key+"[") {
				given = append(given, w.value, strings.Trim(strconv.Quote(w.value), `"`)) // unquoted, and as causes quote it
			}
		}
		cause = secret.Conceal(cause, given)
	}
	v.fail(cause, hint, key)
	return v.errs
}

// near returns the position of key, else of the first key below it, else of the nearest
// key above it.
func (s *source) near(key string) (strict.Position, bool) {
	if p, ok := s.at[key]; ok {
		return p, true
	}
	for _, k := range slices.Sorted(maps.Keys(s.at)) {
		if strings.HasPrefix(k, key+".") {
			return s.at[k], true
		}
	}
	for i := strings.LastIndexByte(key, '.'); i > 0; i = strings.LastIndexByte(key[:i], '.') {
		// The position of a whole workload does not help to find a missing key.
		if p, ok := s.at[key[:i]]; ok && strings.Contains(key[:i], ".") {
			return p, true
		}
	}
	return strict.Position{}, false
}

// values checks every value that is not zero against the limits in its tags. The decoder
// has already checked the values that it read.
func (v *validator) values(x reflect.Value, prefix string) {
	for _, f := range strict.Fields(x.Type()) {
		value, key := x.FieldByIndex(f.Index), strict.Join(prefix, f.Key)
		switch {
		case value.IsZero() || value.Kind() == reflect.Map || f.Type == workloadsType:
		case strict.IsMapping(f.Type):
			if value.Kind() == reflect.Pointer {
				value = value.Elem()
			}
			v.values(value, key)
		case value.Kind() == reflect.Slice && !strict.IsMapping(f.Type.Elem()):
		case value.Kind() == reflect.Slice:
			for i := range value.Len() {
				v.values(value.Index(i), fmt.Sprintf("%s[%d]", key, i))
			}
		default:
			if e := check(f, value); e != nil {
				v.fail(e.Cause, e.Hint, key)
			}
		}
	}
}

func (v *validator) target() {
	s := v.s
	v.refuse(s.Version > Version, fmt.Sprintf("format version %d is newer than this program, which reads version %d", s.Version, Version),
		"use a newer sixnines, or write version: 1 if nothing newer is used", "version")
	d := strict.Decoder{Flag: true}
	d.Options(encoder{}.any(s.Target.Options, ""), "target.options", namesHint, 1)
	for _, e := range d.Errors {
		v.fail(e.Cause, e.Hint, e.Key, "target.options")
	}
	v.managed()
	v.given()
	tls := s.Target.TLS
	if tls == nil {
		return
	}
	switch {
	case tls.Key != "" && tls.Cert == "":
		v.fail("a TLS key without its certificate", "give target.tls.cert", "target.tls.key")
	case tls.Cert != "" && tls.Key == "":
		v.fail("a TLS certificate without its key", "give target.tls.key", "target.tls.cert")
	}
	v.refuse(tls.KeyPassword != "" && tls.Key == "", "the password of a TLS key without the key", "give target.tls.key", secret.KeyPassword)
	v.refuse(s.Target.URL == "", "TLS without the address of a broker", "give target.url; a broker that sixnines starts itself is reached over loopback, without TLS", "target.tls")
}

// managed checks the settings of a broker that is started for the run.
func (v *validator) managed() {
	t := &v.s.Target
	for name, value := range t.Settings {
		v.unreadable(checkSetting(name, value), "target.settings."+name)
	}
	if t.URL == "" {
		return
	}
	const hint = "leave target.url out to have one started, or keep only the address"
	switch {
	case t.Managed != "":
		v.fail("both a broker to start and the address of a running one", hint, "target.managed", "target.url")
	case t.Nodes != 0:
		v.fail("nodes cannot be set for the broker at target.url, which already runs", hint, "target.nodes", "target.url")
	case len(t.Settings) > 0:
		v.fail("the broker at target.url was configured by others", hint, "target.settings", "target.url")
	}
}

// loop checks the keys of open loops, closed loops and unpaced loads.
func (v *validator) loop() {
	w := &v.s.Workload
	closed, flat := w.Loop == Closed, w.Rate.IsMax()
	switch {
	case closed && flat:
		v.fail("rate max is for an open loop", "leave out workload.rate: a closed loop sends as fast as answers arrive", "workload.rate", "workload.loop")
	case closed && !w.Rate.IsZero():
		v.fail("a closed loop has no rate", "leave out workload.rate, or choose loop: open", "workload.rate", "workload.loop")
	case closed && !w.Arrivals.isZero():
		v.fail("a closed loop has no arrivals", "leave out workload.arrivals, or choose loop: open", "workload.arrivals", "workload.loop")
	case flat && w.Arrivals.Kind != Constant && !w.Arrivals.isZero():
		v.fail(fmt.Sprintf("rate max has no schedule, so no %s arrivals", w.Arrivals.Kind), "give a rate, or leave out workload.arrivals", "workload.arrivals", "workload.rate")
	}
	if !closed {
		const hint = "choose loop: closed, or leave it out"
		v.refuse(w.Think != 0, "think time needs a closed loop", hint, "workload.think")
		v.refuse(w.Outstanding != 0, "outstanding needs a closed loop", hint+"; an open loop's limit is in_flight.messages", "workload.outstanding")
	}
	if w.Messages == 0 {
		return
	}
	v.refuse(!closed && !flat, "a scheduled load ends after a duration, not after a number of messages", "give phases.duration; messages is for rate: max and loop: closed", "workload.messages")
	v.refuse(v.s.Phases.Duration != 0, "both a duration and a number of messages would end the window", "leave one of them out", "workload.messages", "phases.duration")
}

// population checks the numbers of producers, consumers, topics, groups and connections.
func (v *validator) population() {
	w := &v.s.Workload
	v.refuse(v.noConsumers && w.Pattern != Publish, fmt.Sprintf("the pattern %s without consumers", w.Pattern), "give at least one, or choose pattern: publish", "workload.consumers")
	switch w.Pattern {
	case Publish:
		v.refuse(w.Consumers > 0, "the pattern publish has no consumers", "leave out workload.consumers, or choose pattern: deliver", "workload.consumers", "workload.pattern")
		v.refuse(w.Consumer != (Consumer{}), "the pattern publish has no consumers to set", "leave out workload.consumer, or choose pattern: deliver", "workload.consumer", "workload.pattern")
	case RoundTrip:
		v.refuse(w.Consumers != w.Producers, fmt.Sprintf("a round trip with %d producers and %d consumers", w.Producers, w.Consumers),
			"every producer consumes its own topic: leave out workload.consumers", "workload.consumers", "workload.producers")
		v.refuse(w.Topics != w.Producers, fmt.Sprintf("a round trip with %d producers and %d topics", w.Producers, w.Topics),
			"every producer has its own topic: leave out workload.topics", "workload.topics", "workload.producers")
	}
	switch {
	case w.Groups == 0:
	case w.Pattern == RoundTrip:
		v.fail("a round trip has no groups", "leave out workload.groups: every producer consumes its own topic", "workload.groups")
	case w.Groups > w.Consumers && w.Pattern == Publish && w.Retains():
		// The groups keep the messages for the consumers of another run.
	case w.Groups > w.Consumers:
		v.fail(fmt.Sprintf("%d groups for %d consumers", w.Groups, w.Consumers), "a group has at least one consumer", "workload.groups")
	}
	if n := w.pairs(); n > MaxProducers {
		v.fail(fmt.Sprintf("%d producers on %d topics are %d streams; at most %d", w.Producers, w.Topics, n, MaxProducers),
			"let one of the two numbers divide the other, so that each producer has topics of its own, or lower them", "workload.topics", "workload.producers")
	}
	if n := w.Groups * w.Topics; n > MaxProducers {
		v.fail(fmt.Sprintf("%d groups on %d topics are %d subscriptions; at most %d", w.Groups, w.Topics, n, MaxProducers), "each group receives all topics: lower one of the numbers", "workload.groups", "workload.topics")
	}
	v.refuse(w.Connections.Producers > w.Producers, fmt.Sprintf("%d connections for %d producers", w.Connections.Producers, w.Producers), "a connection has at least one producer", "workload.connections.producers")
	v.refuse(w.Connections.Consumers > w.Consumers, fmt.Sprintf("%d connections for %d consumers", w.Connections.Consumers, w.Consumers), "a connection has at least one consumer", "workload.connections.consumers")
}

// pairs is how many pairs of a producer and a topic there are in which the producer sends to the topic: as few for each
// producer as possible.
func (w *Workload) pairs() int {
	switch {
	case w.Producers%w.Topics == 0:
		return w.Producers
	case w.Topics%w.Producers == 0:
		return w.Topics
	}
	return w.Producers * w.Topics
}

// limits checks the limits of messages in flight.
func (v *validator) limits() {
	w := &v.s.Workload
	size := w.Size.Largest()
	v.refuse(w.InFlight.Bytes < size, fmt.Sprintf("a message of %v does not fit into %v in flight", size, w.InFlight.Bytes),
		"raise workload.in_flight.bytes or lower workload.size", "workload.in_flight.bytes", "workload.size")
	if w.InFlight.Each > 0 {
		v.each()
	}
	each, key := w.Outstanding, "workload.outstanding"
	if w.Loop != Closed {
		each, key = w.InFlight.Each, "workload.in_flight.each"
	}
	all := int64(each) * int64(w.Producers)
	if limit := w.InFlight.Messages; w.Loop == Closed && limit > 0 && all > int64(limit) {
		v.fail(fmt.Sprintf("%d outstanding of %d producers are more than %d in flight", each, w.Producers, limit),
			"raise workload.in_flight.messages or lower "+key, "workload.in_flight.messages", key)
	}
	if bytes := w.InFlight.Bytes; all > int64(bytes/size) {
		v.fail(fmt.Sprintf("%d outstanding of %d producers, of %v each, are more than %v in flight", each, w.Producers, size, bytes),
			"raise workload.in_flight.bytes or lower "+key, "workload.in_flight.bytes", key)
	}
}

// each checks an in-flight limit per producer.
func (v *validator) each() {
	const key = "workload.in_flight.each"
	w := &v.s.Workload
	switch {
	case w.Loop == Closed:
		v.fail("a limit for each producer needs an open loop", "leave out "+key+": in a closed loop that is workload.outstanding; or leave out workload.loop", key, "workload.loop")
	case w.InFlight.Messages > 0:
		v.fail("both a limit for each producer and one for all of them", "leave out "+key+" or workload.in_flight.messages", key, "workload.in_flight.messages")
	case w.Connections.Producers < w.Producers:
		v.fail(fmt.Sprintf("%d connections for %d producers, none of which is to wait for another's answer", w.Connections.Producers, w.Producers),
			fmt.Sprintf("leave out workload.connections.producers, so that each producer has its own; at most %d producers", maxEachConnections),
			"workload.connections.producers", key)
	}
}

// keys checks the keys' length.
func (v *validator) keys() {
	switch w := &v.s.Workload; {
	case w.KeySize != 0 && w.Keys.IsZero():
		v.fail("key_size is set, but there are no keys", "give workload.keys, or leave workload.key_size out", "workload.key_size", "workload.keys")
	case w.Keys.Kind == UniqueKeys && w.KeySize < leastUniqueKey:
		v.fail(fmt.Sprintf("unique keys of %v", w.KeySize), fmt.Sprintf("keys that are all different need at least %v", leastUniqueKey), "workload.key_size", "workload.keys")
	}
}

// window checks that steps fill the measured window and that messages are due in it.
func (v *validator) window() {
	s := v.s
	w, d := &s.Workload, s.Phases.Duration
	a := &w.Arrivals
	v.refuse(a.Kind == Step && a.length() != d, fmt.Sprintf("the steps last %s, but the window lasts %s", formatDuration(a.length()), formatDuration(d)),
		"leave out phases.duration: the steps give it", "phases.duration", "workload.arrivals.steps", "workload.arrivals")
	if w.Loop != Open || w.Rate.IsMax() || w.Messages > 0 || a.Kind == Step || a.Kind == Burst || a.Kind == Trace {
		return
	}
	rate := w.Rate.Float()
	if a.Kind == Ramp {
		rate = (a.From.Float() + a.To.Float()) / 2
	}
	v.refuse(rate*d.Seconds() < 1 && rate > 0, fmt.Sprintf("a window of %s is too short for a single message at %s", formatDuration(d), v.rateText()),
		fmt.Sprintf("make it at least %s, or raise the rate", formatDuration(longEnough(rate))), "phases.duration", "workload.rate", "workload.arrivals")
}

func (v *validator) rateText() string {
	if a := &v.s.Workload.Arrivals; a.Kind == Ramp {
		return a.From.String() + " to " + a.To.String()
	}
	return v.s.Workload.Rate.String()
}

// longEnough returns a round time in which one message is due.
func longEnough(perSecond float64) time.Duration {
	return time.Duration(1e9/perSecond).Truncate(time.Millisecond) + time.Millisecond
}
