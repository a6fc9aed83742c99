package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/all"
)

// leaked is the text in which a part of the secret is to be looked for: each part is a
// word that is nowhere else, so that what shows half of a password is found, too.
var leaked = []string{"hunter2", "zebra77", "gnu4444"}

// logins are what may stand before the @ of an address, by mistake.
func logins() []string {
	all := []string{"me:hunter2", ":hunter2", "hunter2", "me:%zzhunter2", "me:hunter2%", "me: hunter2", "me:hun\thunter2", "me:hunter2\x7f", "me:[hunter2", "me:hunter2]", "me:hunter2\\zebra77", "me:hunter2^zebra77", "me:$hunter2", "me:hunter2$ZEBRA77", "me:${hunter2", "me:${hunter2 zebra77}"}
	for _, reserved := range "/?#@:,;&= %+" {
		all = append(all, fmt.Sprintf("me:hunter2%czebra77", reserved), fmt.Sprintf(":hunter2%czebra77", reserved), fmt.Sprintf("hunter2%czebra77", reserved),
			fmt.Sprintf(":hunter2%czebra77%[1]cgnu4444", reserved), fmt.Sprintf("me:6379%chunter2", reserved))
	}
	return all
}

// showsSecret looks for a secret in what was printed and in all files below dir.
func showsSecret(t *testing.T, dir string, printed ...string) (where string) {
	t.Helper()
	has := func(text string) bool {
		return slices.ContainsFunc(leaked, func(s string) bool { return strings.Contains(strings.ToLower(text), s) })
	}
	for _, text := range printed {
		for line := range strings.Lines(text) {
			if has(line) {
				return line
			}
		}
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if has(path) || has(string(text)) {
			where = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return where
}

// TestNoOutputShowsASecret gives every driver addresses whose login has characters that
// it must not have, by every way that an address can come, and looks for the password in
// all that is printed and written.
func TestNoOutputShowsASecret(t *testing.T) {
	for _, name := range all.Set().Names() {
		e, _ := all.Set().Lookup(name)
		if e.DefaultURL == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scheme, _, ok := strings.Cut(e.DefaultURL, "://")
			if scheme += "://"; !ok {
				scheme = ""
			}
			short := shortConnect(e)
			for i, login := range logins() {
				for _, place := range []string{"127.0.0.1:1", "127.0.0.1:port"}[:1+i%2] {
					url := scheme + login + "@" + place
					ways := [][]string{
						append([]string{"run", name, "--url", url}, short...),
						append([]string{"run", name, "--set", "target.url=" + url}, short...),
						{"run", name, "--url", url, "--dry-run"},
						append([]string{"run", "file.yaml"}, short...),
						append([]string{"sweep", name, "--url", url, "--over", "rate=10/s,20/s"}, short...),
						{"sweep", name, "--over", "url=" + url},
						append([]string{"ab", name, "--url", url, "--pairs", "1", "--b", "rate=20/s"}, short...),
					}
					dir := t.TempDir()
					file := fmt.Sprintf("target:\n  driver: %s\n  url: %q\n", name, url)
					if err := os.WriteFile(filepath.Join(dir, "file.yaml"), []byte(file), 0o600); err != nil {
						t.Fatal(err)
					}
					// Every address by one way, so that each way gets every kind in some driver.
					_, out, errs := invoke(t, Env{Dir: dir}, ways[(i+len(name))%len(ways)]...)
					if err := os.Remove(filepath.Join(dir, "file.yaml")); err != nil {
						t.Fatal(err)
					}
					if where := showsSecret(t, dir, out, errs); where != "" {
						t.Errorf("%q: %s", ways[(i+len(name))%len(ways)], where)
					}
				}
			}
		})
	}
}

// TestDoctorShowsNoSecret asks where the hosts are that a password seems to name.
func TestDoctorShowsNoSecret(t *testing.T) {
	for _, url := range []string{"redis://hunter2?zebra77@127.0.0.1", "nats://hunter2,zebra77@127.0.0.1:1"} {
		_, out, errs := invoke(t, Env{}, "doctor", "--url", url)
		if where := showsSecret(t, t.TempDir(), out, errs); where != "" {
			t.Errorf("%s: %s", url, where)
		}
	}
}

// shortConnect are flags of a run that ends at once.
func shortConnect(e driver.Entry) []string {
	flags := []string{"--rate", "10/s", "--duration", "10ms", "--warmup", "0s", "--quiet"}
	for _, o := range driver.DescribeOptions(e.Options) {
		if o.Name == "connect_timeout" {
			flags = append(flags, "--option", "connect_timeout=100ms")
		}
	}
	return flags
}
