package control

import (
	"os"
	"path/filepath"
)

// MakeKeys makes the keys of a control plane that is started elsewhere: its certificate, for hosts, and the tokens of coordinators
// and agents are files in dir, which it makes. It returns the certificate's SHA-256, by which clients know it, see [wire.Login].
func MakeKeys(dir string, hosts ...string) (pin string, err error) {
	if err := ownDir(dir); err != nil {
		return "", err
	}
	k, err := keepIn(dir, hosts)
	if err != nil {
		return "", err
	}
	return k.pin(), nil
}

// takeKeys puts the keys of from into dir. Those that were there before are those of another start.
func takeKeys(from, dir string) error {
	if from == "" {
		return nil
	}
	for _, name := range []string{tokenFile, joinFile, certificateFile} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err == nil {
			err = write(filepath.Join(dir, name), string(text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
