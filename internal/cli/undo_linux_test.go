package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"sixnines/internal/vitals"
)

// An interface of a network whose process was killed is removed by doctor --clean, and named. The kernel removes it by
// itself where the network's namespaces are gone with the process; where a broker's process lives on, it stays.
func TestCleanRemovesInterfaces(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED: making an interface needs root")
	}
	name := fmt.Sprintf("s9-%d-999", os.Getpid()%10000)
	pair := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name + "p"}
	if err := netlink.LinkAdd(pair); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = netlink.LinkDel(pair) })
	if err := netlink.LinkSetAlias(pair, "sixnines 198.19.255.0/24"); err != nil {
		t.Fatal(err)
	}
	env := &Env{Environ: []string{"SIXNINES_HOME=" + t.TempDir()}}
	if c := env.checkLeft(t.Context(), true, false); c.Status != vitals.StatusOK || !strings.Contains(c.Found, "cleaned up: remove the interface "+name) {
		t.Errorf("%+v", c)
	}
	if _, err := netlink.LinkByName(name); !errors.As(err, new(netlink.LinkNotFoundError)) {
		t.Errorf("it is still there: %v", err)
	}
}
