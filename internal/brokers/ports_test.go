package brokers

import (
	"net"
	"slices"
	"strings"
	"testing"
)

func TestPortRange(t *testing.T) {
	for _, tt := range []struct {
		name                string
		from, to, low, high int
	}{
		{"Linux", 32_768, 60_999, 10_000, 32_767},
		{"RFC 6335", 49_152, 65_535, 10_000, 49_151},
		{"below all", 1_024, 60_999, 61_000, 65_535},
		{"all", 1_024, 65_535, 10_000, 65_535},
	} {
		low, high := portRange(tt.from, tt.to)
		if low != tt.low || high != tt.high {
			t.Errorf("%s: %d to %d, want %d to %d", tt.name, low, high, tt.low, tt.high)
		}
	}
	if from, to := ephemeralPorts(); from < 1 || to <= from || to > highestPort {
		t.Errorf("ephemeral ports %d to %d", from, to)
	}
}

// Between the choice of a port and the moment when the broker listens on it, which may be
// seconds apart, neither an outgoing connection nor another start of a broker takes it.
func TestPortsStayFree(t *testing.T) {
	var o Options
	ports, err := o.ports(4)
	if err != nil {
		t.Fatal(err)
	}
	defer release(o.reserved)
	if from, to := ephemeralPorts(); to-from < highestPort-lowestPort-enoughPorts {
		for _, p := range ports {
			if p >= from && p <= to {
				t.Errorf("port %d is one of those for connections, %d to %d", p, from, to)
			}
		}
	}
	for _, p := range ports {
		l, err := net.Listen("tcp", loopback(p))
		if err != nil {
			t.Fatalf("a broker cannot listen at a reserved port: %v", err)
		}
		l.Close()
		if _, err := reserveWithin(p, p, 1, 0); err == nil || !strings.Contains(err.Error(), "stop the processes that listen") {
			t.Errorf("port %d is given out twice: %v", p, err)
		}
	}
	if err := release(o.reserved); err != nil {
		t.Fatal(err)
	}
	again, err := reserveWithin(ports[0], ports[0], 1, 0)
	if err != nil {
		t.Fatalf("a port that was given back: %v", err)
	}
	defer release(again)
	if _, err := reserveWithin(ports[1], ports[1], 1, ports[1]); err == nil {
		t.Error("the port of the main listener is given to another")
	}
}

func TestPortsThatAreTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	if all, err := reserveWithin(port, port, 1, 0); err == nil {
		t.Errorf("port %v is reserved where somebody listens", all)
	}
}

func TestPortThatIsAskedFor(t *testing.T) {
	o := Options{Port: 12_345}
	ports, err := o.ports(1)
	if err != nil || !slices.Equal(ports, []int{12_345}) || len(o.reserved) != 0 {
		t.Errorf("%v, %v, %v", ports, o.reserved, err)
	}
	if ports, err = o.ports(3); err != nil || len(ports) != 3 || ports[0] != 12_345 {
		t.Errorf("%v, %v", ports, err)
	}
	release(o.reserved)
}
