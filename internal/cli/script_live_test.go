//go:build unix

package cli

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdWatch: watch FILE TEXT [charts] reads the updates of the live page whose address FILE has
// until one contains TEXT, and charts if they are asked for. It needs no browser; what one makes of the
// updates is a test of the page.
func cmdWatch(ts *testscript.TestScript, _ bool, args []string) {
	text, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	address := regexp.MustCompile(`(?m)^live +(http://\S+)$`).FindStringSubmatch(string(text))
	if address == nil {
		ts.Fatalf("%s has no address of a page:\n%s", args[0], text)
	}
	client := http.Client{Timeout: patience}
	response, err := client.Get(address[1] + "events")
	ts.Check(err)
	defer response.Body.Close()
	last := ""
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			ts.Fatalf("no update has %q (%v); the last one is\n%.2000s", args[1:], err, last)
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var update struct {
			Now    string
			Charts []struct{ Key string }
			Over   bool
		}
		ts.Check(json.Unmarshal([]byte(data), &update))
		last = update.Now
		charts := len(args) < 3 || len(update.Charts) > 0
		if strings.Contains(last, args[1]) && charts {
			return
		}
		if update.Over {
			ts.Fatalf("the page has ended without %q; it is\n%.2000s", args[1:], last)
		}
	}
}
