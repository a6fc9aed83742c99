package result

import "testing"

// A vital of one of several processes has its name in between, with dots or without, the
// unit of the whole, and comes apart again.
func TestVitalsOfProcesses(t *testing.T) {
	for _, process := range []string{"kafka-2", "a.b"} {
		one := VitalBrokerReadBytes.Of(process)
		if want := Vital("broker." + process + ".read_bytes"); one != want {
			t.Errorf("%s, want %s", one, want)
		}
		if p, whole := one.Process(); p != process || whole != VitalBrokerReadBytes {
			t.Errorf("%s is %s of %q", one, whole, p)
		}
		if p := one.Properties(); p.Vital != one || p.Unit != UnitBytes || p.Meaning != "of "+process+" alone" {
			t.Errorf("%+v", p)
		}
	}
	for _, v := range []Vital{VitalBrokerCPU, VitalProcessCPU, "new.one", "broker.kafka.new"} {
		if p, whole := v.Process(); v != "broker.kafka.new" && (p != "" || whole != v) {
			t.Errorf("%s is %s of %q", v, whole, p)
		}
		if p := v.Properties(); p.Vital != v || (p.Unit == "") != (v == "new.one" || v == "broker.kafka.new") {
			t.Errorf("%+v", p)
		}
	}
}
