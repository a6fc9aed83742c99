package scenario

// consume checks a load that has consumers only.
func (v *validator) consume() {
	s := v.s
	w := &s.Workload
	refuse := func(given bool, what, key string) {
		v.refuse(given, "the pattern consume sends nothing, so it has no "+what, "leave it out, or choose pattern: deliver", key, "workload.pattern")
	}
	refuse(w.Producers != 0, "producers", "workload.producers")
	refuse(w.Connections.Producers != 0, "connections of producers", "workload.connections.producers")
	refuse(!w.Rate.IsZero(), "rate", "workload.rate")
	refuse(!w.Arrivals.isZero(), "arrivals", "workload.arrivals")
	refuse(w.Loop == Closed, "closed loop", "workload.loop")
	refuse(w.Outstanding != 0, "outstanding messages", "workload.outstanding")
	refuse(w.Think != 0, "think time", "workload.think")
	refuse(w.InFlight.Messages != 0, "messages in flight", "workload.in_flight.messages")
	refuse(w.InFlight.Each != 0, "messages in flight", "workload.in_flight.each")
	refuse(!w.Payload.IsZero(), "payload", "workload.payload")
	refuse(!w.Keys.IsZero(), "keys", "workload.keys")
	refuse(!w.Headers.IsZero(), "headers", "workload.headers")
	refuse(s.Phases.Warmup > 0, "warm-up: messages received in it would be missing from the figures", "phases.warmup")
	refuse(s.Record.Probe == ProbeOn, "load that a probe could run beside", "record.probe")
	refuse(s.Record.Raw, "message to write to a raw file", "record.raw")
	refuse(!w.Consumer.From.IsZero(), "load that consumers could follow", "workload.consumer.from")
	v.refuse(w.Existing == "", "the pattern consume receives what an earlier run has left, but nothing says which run", "give workload.existing: the name that a run with lifetime: keep printed", "workload.existing", "workload.pattern")
	v.refuse(w.Messages > 0 && s.Phases.Duration != 0, "both a duration and a number of messages would end the window", "leave one of them out", "workload.messages", "phases.duration")
}

// lifetime checks that a run can keep its topics, or use those of an earlier one.
func (v *validator) lifetime() {
	w := &v.s.Workload
	if w.Pattern != RoundTrip && w.Pattern != RequestReply {
		return
	}
	const hint = "choose pattern: publish, deliver or consume, or leave it out"
	v.refuse(w.Lifetime == LifetimeKeep, "the pattern "+string(w.Pattern)+" leaves no messages to keep", hint, "workload.lifetime", "workload.pattern")
	v.refuse(w.Existing != "", "the pattern "+string(w.Pattern)+" waits for its own messages, not for those of another run", hint, "workload.existing", "workload.pattern")
}
