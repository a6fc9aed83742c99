package main

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom writes what is linked into the program, as the program itself tells it,
// in CycloneDX 1.6. It has no serial number and no time of making: the same program
// has the same. The licences are those of NOTICE.
func (b *program) sbom(file, notice string) error {
	known, err := licences(notice)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	main := module("sixnines", b.info.Main.Version, "")
	main.Type, main.PackageURL = cdx.ComponentTypeApplication, ""
	main.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	bom.Metadata = &cdx.Metadata{Component: &main, Properties: &[]cdx.Property{
		{Name: "cdx:gomod:build:env:GOOS", Value: b.os}, {Name: "cdx:gomod:build:env:GOARCH", Value: b.arch},
	}}
	linked := []cdx.Component{module("std", strings.TrimPrefix(b.info.GoVersion, "go"), "")}
	for _, d := range b.info.Deps {
		if d.Replace != nil {
			if strings.HasPrefix(d.Replace.Path, ".") {
				continue // a directory of this tree: no module's path begins so
			}
			d = d.Replace
		}
		linked = append(linked, module(d.Path, d.Version, d.Sum))
	}
	var refs []string
	for i, c := range linked {
		if linked[i], err = licensed(c, known); err != nil {
			return err
		}
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &linked
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return writeFile(file, func(w io.Writer) error {
		return cdx.NewBOMEncoder(w, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	})
}

// module describes a Go module. Its sum in go.sum is a SHA-256, of the list of
// its files and theirs.
func module(path, version, sum string) cdx.Component {
	url := "pkg:golang/" + path + "@" + version
	c := cdx.Component{BOMRef: url, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, Scope: cdx.ScopeRequired, PackageURL: url}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(raw) == 32 {
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return c
}
