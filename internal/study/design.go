package study

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Design returns a fingerprint of what was fixed before anything was run: systems, loads, cells, which of them
// run at the same time, lengths, the author's figures, and the claims with their tests and thresholds. Texts of the page
// do not change it.
func (s *Study) Design() string {
	const digits = 12
	fixed := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; s.root.Kind == yaml.MappingNode && i+1 < len(s.root.Content); i += 2 {
		if slices.Contains([]string{"disturbed", "argument", "base", "systems", "loads", "cells", "beside", "lengths", "figures", "conclusions"}, s.root.Content[i].Value) {
			fixed.Content = append(fixed.Content, s.root.Content[i], s.root.Content[i+1])
		}
	}
	text, err := yaml.Dump(plain(fixed), yaml.WithLineWidth(-1))
	if err != nil {
		text = s.text // which was read, so that it is never wrong, only stricter
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:digits]
}

// Changed returns the fingerprint of the built-in study of the same name if its design is another
// one; empty if it is the same, or there is none.
func (s *Study) Changed() string {
	if s.of != "" || !slices.Contains(Names(), s.Name) {
		return ""
	}
	if text, err := data.ReadFile("data/" + s.Name + "/" + FileName); err == nil && bytes.Equal(text, s.text) {
		return ""
	}
	built, err := Find(s.Name)
	if err != nil || built.Design() == s.Design() {
		return ""
	}
	return built.Design()
}
