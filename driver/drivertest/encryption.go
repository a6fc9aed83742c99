package drivertest

import (
	"context"
	"errors"
	"fmt"

	"sixnines/driver"
)

// checkEncrypted sends messages over TLS and looks for them on the wire.
func checkEncrypted(ctx context.Context, h *Harness) error {
	over := *h
	over.Target = *h.Encrypted
	return with(ctx, &over, topics("t0"), func(r *rig) error {
		if !r.semantics.Encrypted {
			return fmt.Errorf("the semantics do not call the transport %q encrypted", r.semantics.Transport)
		}
		const n, size = 100, 256
		// Any one of the messages serves.
		r.network.hide(letter{0, n / 2}.write(size)[letterSize:])
		got, l := newInbox(), newLedger()
		if _, err := r.consumer(ctx, 0, "", got, "t0"); err != nil {
			return err
		}
		p, err := r.producer(ctx, 0, "t0", size, l)
		if err != nil {
			return err
		}
		if err := sendMany(l, p, 0, 0, n, size); err != nil {
			return err
		}
		if err := errors.Join(got.filled(ctx, n), l.settled(ctx)); err != nil {
			return err
		}
		if r.network.betrayed.Load() {
			return errors.New("a payload can be read on the wire")
		}
		return nil
	})
}

// checkCertificates checks that the driver refuses a broker whose certificate is signed by an
// unknown authority, or is for another name.
func checkCertificates(ctx context.Context, h *Harness) error {
	for what, change := range map[string]func(*driver.TLS){
		"signed by an authority that is not known": func(t *driver.TLS) { t.CA = "" },
		"for another name":                         func(t *driver.TLS) { t.ServerName = "elsewhere.example" },
	} {
		t, files := *h.Encrypted, *h.Encrypted.TLS
		change(&files)
		t.TLS = &files
		if err := refuses(ctx, h, t, driver.ErrNotConnected); err != nil {
			return fmt.Errorf("a certificate that is %s: %w", what, err)
		}
	}
	return nil
}
