package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// until is a standard input that ends when it is told to.
type until struct{ ended chan struct{} }

func (u until) Read([]byte) (int, error) {
	<-u.ended
	return 0, io.EOF
}

func TestBrokerLastsAsLongAsStandardInput(t *testing.T) {
	p, _ := brokers.Lookup("redis")
	if _, err := p.Find(t.Context(), brokertest.Home(t)); errors.Is(err, brokers.ErrNotInstalled) {
		brokertest.Missing(t, err)
	}
	in := until{make(chan struct{})}
	read, write := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run([]string{"-set", "maxclients=77", "redis"}, os.Environ(), in, write, io.Discard) }()
	var a answer
	if err := json.NewDecoder(read).Decode(&a); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, read)
	if a.Version == "" || a.Path == "" || a.URLs["redis"] != a.URL {
		t.Errorf("got %+v", a)
	}
	address := strings.TrimPrefix(a.URL, "redis://")
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("CONFIG GET maxclients\r\n"))
	reply := make([]byte, 64)
	n, _ := c.Read(reply)
	if !bytes.Contains(reply[:n], []byte("77")) {
		t.Errorf("the setting has not arrived: %q", reply[:n])
	}
	close(in.ended)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", address); err == nil {
		c.Close()
		t.Error("the broker still listens")
	}
}

func TestWrongUse(t *testing.T) {
	for _, args := range [][]string{nil, {"no-such-product"}, {"redis", "redis"}, {"-set", "x", "redis"}} {
		if err := run(args, os.Environ(), strings.NewReader(""), io.Discard, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}
