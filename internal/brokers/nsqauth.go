package brokers

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// nsqAuthCommand is the argument by which [Serve] becomes the server that a secured nsqd asks whom to let in.
const nsqAuthCommand = "nsqauth"

// nsqAccount is whom that server lets in, and with which rights: what it answers, by nsqd's protocol for
// --auth-http-address.
type nsqAccount struct {
	Secret string    `json:"secret"`
	Answer nsqAnswer `json:"answer"`
}

type nsqAnswer struct {
	TTL            int                `json:"ttl"` // seconds until nsqd asks again
	Identity       string             `json:"identity"`
	Authorizations []nsqAuthorization `json:"authorizations"`
}

// nsqAuthorization has regular expressions of topics and channels.
type nsqAuthorization struct {
	Topic       string   `json:"topic"`
	Channels    []string `json:"channels"`
	Permissions []string `json:"permissions"` // publish, subscribe
}

// ServeHTTP answers nsqd.
func (a *nsqAccount) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.FormValue("secret")), []byte(a.Secret)) == 0 {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	_ = json.NewEncoder(w).Encode(a.Answer) // nsqd refuses what it does not get
}

// nsqAuth returns the process that answers for the account, and its address. A grant is a permission, and of which topics.
func nsqAuth(o *Options, at place, port int) (process, string, error) {
	account := nsqAccount{Secret: o.account.password, Answer: nsqAnswer{TTL: 3600, Identity: o.account.user}}
	for _, g := range o.account.grants {
		account.Answer.Authorizations = append(account.Answer.Authorizations,
			nsqAuthorization{Topic: g.Of, Channels: []string{".*"}, Permissions: []string{g.Right}})
	}
	text, err := json.Marshal(account)
	if err != nil {
		return process{}, "", err
	}
	file := o.securedPath("account.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return process{}, "", err
	}
	if len(o.Home.Self) == 0 {
		return process{}, "", fmt.Errorf("nsqd asks a server whom to let in, which is built in, and this program cannot start itself as one")
	}
	address := at.at(port)
	command := append(append([]string(nil), o.Home.Self...), nsqAuthCommand, "-listen", address, "-account", file)
	if o.Detach {
		command = append(command, "-detach")
	}
	return process{name: "nsqauth", place: at, command: command, env: o.Home.Environ, dir: filepath.Join(o.Dir, "nsqauth"),
		log: filepath.Join(o.Dir, "nsqauth.log"), ready: listens(address)}, address, nil
}

// serveNSQAuth is the main function of that process. It ends at SIGTERM, and when stdin ends unless it is detached.
func serveNSQAuth(stdin io.Reader, stderr io.Writer, args []string) int {
	flags := flag.NewFlagSet(nsqAuthCommand, flag.ContinueOnError)
	flags.SetOutput(stderr)
	listen := flags.String("listen", "", "`address` to listen at")
	file := flags.String("account", "", "`file` with the account")
	detach := flags.Bool("detach", false, "keep running when standard input ends")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	fail := func(err error) int {
		fmt.Fprintf(stderr, "nsqauth: %v\n", err)
		return 1
	}
	text, err := os.ReadFile(*file)
	if err != nil {
		return fail(err)
	}
	var account nsqAccount
	if err := json.Unmarshal(text, &account); err != nil {
		return fail(err)
	}
	l, err := net.Listen("tcp", *listen)
	if err != nil {
		return fail(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !*detach {
		go func() {
			io.Copy(io.Discard, stdin) // until who started it has ended
			stop()
		}()
	}
	s := &http.Server{Handler: &account, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { s.Close() })()
	if err := s.Serve(l); ctx.Err() == nil {
		return fail(err)
	}
	return 0
}
