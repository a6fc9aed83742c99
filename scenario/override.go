package scenario

import (
	"cmp"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"sixnines/internal/strict"
)

// Override sets one value of a scenario, as flags, grids and sweeps do.
type Override struct {
	// Key is dotted: "workload.rate", "workloads.NAME.rate" of an existing workload,
	// "target.options.write_buffer"; "objectives[]" adds to a list.
	Key   string
	Value string // as in the file; an option's value is always text
	Flag  string // its name in errors, such as "--rate"; empty: the key
}

// Apply sets values in order, a later one over an earlier one, decoded as
// strictly as from a file. A whole mapping or list is given in YAML's flow
// style ("{ca: ca.pem}"), arrivals in their short form or as a mapping; a key
// that ends in [] adds one item to its list. If any override is wrong, nothing is set
// and the error is of type [Errors], each named after its flag. Variables are those of
// the process's environment, see [Environment].
func (s *Scenario) Apply(overrides ...Override) error {
	return s.ApplyIn(os.LookupEnv, overrides...)
}

// ApplyIn is [Scenario.Apply] with variables from env instead of the process's environment.
func (s *Scenario) ApplyIn(env Environment, overrides ...Override) error {
	work := s.clone()
	if work.source == nil {
		work.source = &source{at: map[string]strict.Position{}, written: map[string]written{}}
	}
	var errs Errors
	for _, o := range overrides {
		errs = append(errs, work.apply(env, o)...)
	}
	if len(errs) > 0 {
		return errs
	}
	*s = *work
	return nil
}

func (s *Scenario) apply(env Environment, o Override) Errors {
	name := cmp.Or(o.Flag, o.Key)
	d := newDecoder(name, env, s.source)
	d.Flag = true
	none := &strict.Node{}
	v := reflect.ValueOf(s).Elem()
	f := strict.Field{Type: v.Type()}
	if !utf8.ValidString(o.Key + o.Value) {
		d.failWith(none, o.Key, notUTF8(o.Key+"=…"))
		return d.errors()
	}
	key, add := strings.CutSuffix(o.Key, "[]")
	path := strings.Split(key, ".")
	for i, key := range path {
		parent := strings.Join(path[:i], ".")
		if f.Type.Kind() == reflect.Map {
			return s.option(d, v, o, strings.Join(strings.Split(o.Key, ".")[i:], "."))
		}
		if f.Type == workloadsType {
			n := slices.IndexFunc(s.Workloads, func(w NamedWorkload) bool { return w.Name == key })
			if n < 0 {
				d.Fail(none, o.Key, "there is no workload "+quote(key), s.workloadsHint(key))
				return d.errors()
			}
			f, v = strict.Field{Type: reflect.TypeFor[NamedWorkload]()}, v.Index(n)
			continue
		}
		if !strict.IsMapping(f.Type) {
			d.Fail(none, o.Key, parent+" has no keys below it", f.Doc)
			return d.errors()
		}
		if f.Type.Kind() == reflect.Pointer {
			if v.IsNil() {
				v.Set(reflect.New(f.Type.Elem()))
			}
			v = v.Elem()
		}
		next, ok := strict.FieldOf(v.Type(), key)
		if !ok {
			d.Unknown(none, v.Type(), key, parent, o.Key)
			return d.errors()
		}
		if f, v = next, v.FieldByIndex(next.Index); next.Key != key { // by its other name
			path[i] = next.Key
			o.Key = strings.Join(path, ".")
		}
	}
	n := &strict.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.Value}
	if add {
		return s.add(d, n, v, f, key)
	}
	composite := strict.IsMapping(f.Type) || f.Type.Kind() == reflect.Slice || f.Type.Kind() == reflect.Map
	short := f.Type == arrivalsType && !strings.HasPrefix(strings.TrimSpace(o.Value), "{")
	switch {
	case composite && !short:
		root, fault := document(name).Root([]byte(o.Value))
		if fault != nil {
			d.Fail(none, o.Key, fault.Cause, fault.Hint)
			return d.errors()
		}
		n = root
	case o.Value == "" && f.Type.Kind() != reflect.String:
		d.Fail(none, o.Key, o.Key+" has no value", f.Doc)
		return d.errors()
	}
	// The override replaces everything that was written below the key.
	for key := range s.source.at {
		if strings.HasPrefix(key, o.Key+".") || strings.HasPrefix(key, o.Key+"[") {
			delete(s.source.at, key)
			delete(s.source.written, key)
		}
	}
	named, isWorkload := v.Interface().(NamedWorkload)
	v.SetZero()
	d.Value(n, v, f, o.Key, 0)
	if isWorkload {
		v.FieldByName("Name").SetString(named.Name)
	}
	if o.Key == warmupKey || o.Key == "phases" {
		_, given := s.source.at[warmupKey]
		s.Phases.NoWarmup = given && s.Phases.Warmup == 0
	}
	return d.errors()
}

// add appends an item to a list.
func (s *Scenario) add(d *decoder, n *strict.Node, list reflect.Value, f strict.Field, key string) Errors {
	if list.Kind() != reflect.Slice {
		d.Fail(n, key, key+" is no list to add to", f.Doc)
		return d.errors()
	}
	added := reflect.New(list.Type().Elem()).Elem()
	if strict.IsMapping(added.Type()) {
		root, fault := document(d.File).Root([]byte(n.Value))
		if fault != nil {
			d.Fail(n, key, fault.Cause, fault.Hint)
			return d.errors()
		}
		n = root
	}
	d.Value(n, added, strict.Field{Doc: f.Doc}, strict.Item(key, list.Len()), 0)
	list.Set(reflect.Append(list, added))
	return d.errors()
}

// option sets an option of the driver or a setting of the broker, as text: driver and
// broker parse it in their own notation.
func (s *Scenario) option(d *decoder, options reflect.Value, o Override, key string) Errors {
	if key == "" {
		d.Fail(&strict.Node{}, o.Key, "the option has no name", "write "+o.Key+"NAME")
		return d.errors()
	}
	n := d.expand(&strict.Node{Kind: yaml.ScalarNode, Value: o.Value}, o.Key)
	if n == nil {
		return d.errors()
	}
	if options.Type() == settingsType {
		if err := checkSetting(key, n.Value); err != nil {
			d.failWith(&strict.Node{}, o.Key, err)
			return d.errors()
		}
	}
	if options.IsNil() {
		options.Set(reflect.MakeMap(options.Type()))
	}
	options.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(n.Value))
	s.source.at[o.Key] = strict.Position{File: d.File}
	return nil
}
