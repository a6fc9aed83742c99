package all_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sixnines/driver"
	"sixnines/drivers/all"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// place is where a secret stands, and the flags that put it there.
type place struct {
	name  string
	flags []string
	env   []string
}

// places returns all places in which a user can write a secret of the driver, for a broker at the URL.
func places(t *testing.T, e driver.Entry, at, secret string) []place {
	t.Helper()
	file := filepath.Join(t.TempDir(), "word")
	if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var all []place
	for _, o := range driver.DescribeOptions(e.Options) {
		if !o.Secret {
			continue
		}
		beside := []string{"--url", at}
		if o.Name == "password" {
			beside = append(beside, "--option", "user=ada")
		}
		query := "?"
		if strings.Contains(at, "?") {
			query = "&"
		}
		all = append(all,
			place{o.Name, append([]string{"--option", o.Name + "=" + secret}, beside...), nil},
			place{o.Name + " of a variable", append([]string{"--option", o.Name + "=env:WORD"}, beside...), []string{"WORD=" + secret}},
			place{o.Name + " of a file", append([]string{"--option", o.Name + "=@" + file}, beside...), nil},
			place{o.Name + " in the URL", []string{"--url", at + query + o.Name + "=" + secret}, nil})
	}
	if scheme, rest, ok := strings.Cut(at, "://"); ok {
		all = append(all, place{"login in the URL", []string{"--url", scheme + "://ada:" + url.QueryEscape(secret) + "@" + rest}, nil},
			place{"login in the URL of a variable", []string{"--url", scheme + "://${WORD}@" + rest}, []string{"WORD=ada:" + secret}})
	}
	if e.Capabilities.TLS {
		pair := brokertest.NewCertificates(t).Client(true)
		all = append(all, place{"password of a key", []string{"--url", at, "--tls-ca", pair.CA, "--tls-cert", pair.Cert, "--tls-key", pair.Key, "--tls-key-password", secret}, nil})
	}
	return all
}

// A secret, in whatever place a user can write it, is in nothing that a run shows or leaves, for every driver:
// when nothing listens, when a server quotes all that it hears, and when it is only written down.
func TestSecretsAreNotShown(t *testing.T) {
	quoting := serveEach(t, func(c net.Conn) {
		heard := make([]byte, 1<<12)
		for {
			n, err := c.Read(heard)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(c, "-ERR what is %q?\r\n", heard[:n]); err != nil {
				return
			}
		}
	})
	down := serveEach(t, nil)
	quick := []string{"--rate", "100/s", "--warmup", "0s"}
	for _, e := range all.Set().Entries() {
		if e.DefaultURL == "" || e.InProcess {
			continue
		}
		secret := "Zq" + rand.Text()[:12]
		hurry := []string{}
		for _, o := range driver.DescribeOptions(e.Options) {
			if o.Name == "connect_timeout" {
				hurry = []string{"--option", "connect_timeout=1s"}
			}
		}
		for _, c := range []struct {
			name, command, address string
			args                   []string
		}{
			{"dry run", "run", down, slices.Concat(quick, []string{"--dry-run"})},
			{"nothing listens", "run", down, quick},
			{"quoted", "run", quoting, slices.Concat(quick, hurry)},
			{"checked", "check", quoting, hurry},
			{"cleaned", "clean", quoting, hurry},
		} {
			all := places(t, e, urlOf(e, c.address, false), secret)
			if c.command != "run" {
				all = all[:min(1, len(all))] // what is read from each place is hidden alike
			}
			for _, p := range all {
				t.Run(e.Name+"/"+c.name+"/"+p.name, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					text := shows(t, dir, p.env, slices.Concat([]string{c.command, e.Name}, p.flags, c.args), nil)
					finds(t, secret, dir, text)
				})
			}
		}
	}
}

// shows runs the program as a process in the directory, and returns what it wrote. While it runs, during is called with
// its process.
func shows(t *testing.T, dir string, env, args []string, during func(pid int)) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), refusalPatience)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &out
	cmd.Env = append(append(os.Environ(), becomeProgram+"=1"), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if during != nil {
		during(cmd.Process.Pid)
	}
	var ended *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return out.String()
}

// finds fails the test if the secret is in the text or in a file below the directory.
func finds(t *testing.T, secret, dir, text string) {
	t.Helper()
	if text == "" {
		t.Error("it shows nothing at all")
	}
	if strings.Contains(text, secret) {
		t.Errorf("it shows the secret %s: %s", secret, text)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(secret)) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A secret with which a run logs in is in none of its files, pages and metrics, and in no argument and no environment of
// the processes that it starts.
func TestSecretsOfRunsStay(t *testing.T) {
	if testing.Short() {
		t.Skip("starts brokers")
	}
	atSecured(t, func(t *testing.T, name string, e driver.Entry, c *brokers.Cluster, target driver.Target) {
		access, _ := c.Access(name)
		metrics := serveEach(t, nil)
		args := []string{"run", name, "--url", c.URLFor(name), "--tls-ca", access.CA, "--prefix", target.Prefix, "--duration", "1500ms", "--probe=on",
			"--metrics", metrics, "--junit", "junit.xml", "--show", "setup", "--rate", "100/s", "--warmup", "0s"}
		for option, value := range access.Options {
			args = append(args, "--option", option+"="+value)
		}
		var secrets []string
		for option, path := range access.Files {
			args = append(args, "--option", option+"=@"+path)
			secrets = append(secrets, target.Options[option].(string))
		}
		key, err := os.ReadFile(filepath.Join(filepath.Dir(access.CA), "server-key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, strings.Split(string(key), "\n")[1])
		var live, processes string
		dir := t.TempDir()
		text := shows(t, dir, nil, args, func(pid int) {
			for ; running(pid); time.Sleep(50 * time.Millisecond) {
				if answer, err := http.Get("http://" + metrics + "/metrics"); err == nil {
					page, _ := io.ReadAll(answer.Body) // a part is as good
					answer.Body.Close()
					live += string(page)
				}
				processes += descendants(pid)
			}
		})
		if !strings.Contains(live, "sixnines_") || processes == "" || !strings.Contains(text, "GUARANTEES") {
			t.Errorf("nothing was looked at: %d bytes of metrics, %d of processes: %s", len(live), len(processes), text)
		}
		for _, secret := range secrets {
			finds(t, secret, dir, text+live+processes)
		}
	})
}

// running reports whether the process has not ended.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !bytes.Contains(stat, []byte(") Z"))
}

// descendants returns the arguments and environments of a process and of those that it has started.
func descendants(pid int) string {
	at := "/proc/" + strconv.Itoa(pid)
	var all strings.Builder
	for _, file := range []string{"cmdline", "environ"} {
		text, _ := os.ReadFile(at + "/" + file) // it may have ended
		all.Write(text)
	}
	tasks, _ := filepath.Glob(at + "/task/*/children")
	for _, file := range tasks {
		children, _ := os.ReadFile(file)
		for _, child := range strings.Fields(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				all.WriteString(descendants(n))
			}
		}
	}
	return all.String()
}
