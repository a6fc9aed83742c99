package nsq

import (
	"crypto/tls"
	"errors"
	"testing"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// Whoever waits for all results is told, whether the last comes before or after.
func TestAllResultsAreWaitedFor(t *testing.T) {
	var p publisher
	if p.empty() != nil {
		t.Error("nothing is open, and it is to be waited for")
	}
	p.open.Add(2)
	first, second := p.empty(), p.empty()
	p.resolved(1)
	for _, waiting := range []<-chan struct{}{first, second} {
		select {
		case <-waiting:
			t.Error("one message is open, and who waits is told that there is none")
		default:
		}
	}
	p.resolved(1)
	<-first
	<-second
	if p.empty() != nil {
		t.Error("nothing is open any more, and it is to be waited for")
	}
}

// go-nsq puts the address's host for any other name that the certificate is for.
func TestLibraryKnowsOneName(t *testing.T) {
	for client, refused := range map[string]bool{direct: false, library: true} {
		s := &session{options: Options{Client: client}, Base: &kit.Base{
			Address: kit.Address{Servers: []kit.Server{{Host: "127.0.0.1"}}}, TLS: &tls.Config{ServerName: "nsqd.example"}}}
		if err := s.suits(); errors.Is(err, driver.ErrUnsupported) != refused {
			t.Errorf("client %s: %v", client, err)
		}
		s.TLS.ServerName = "127.0.0.1"
		if err := s.suits(); err != nil {
			t.Errorf("client %s: %v", client, err)
		}
	}
}
