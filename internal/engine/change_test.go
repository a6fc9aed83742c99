package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"sixnines/internal/histograms"
	"slices"
	"strings"
)

// eachField calls add for each change to each field below v, which is found in a decoded
// record by at.
func eachField(v any, kind string, at func(root any) any, add func(kind, what string, small bool, forge func(record any) any)) {
	switch v := v.(type) {
	case map[string]any:
		keys := slices.Sorted(maps.Keys(v))
		for i, k := range keys {
			if kind == "summary" && k == "seal" {
				continue // the careful forger's own
			}
			path := kind + "/" + k
			if strings.Contains(k, ".") || strings.Trim(k, "0123456789") == "" || strings.HasSuffix(kind, "/vitals") || strings.HasSuffix(kind, "/settings") || strings.HasSuffix(kind, "/options") {
				path = kind + "/*" // a metric, a percentile, a vital, an option: one field of many names
			}
			change := func(what string, small bool, to func(m map[string]any)) {
				add(path, what, small, func(root any) any {
					if m, ok := at(root).(map[string]any); ok {
						to(m)
					}
					return root
				})
			}
			if !absent(v[k]) {
				change("dropped", false, func(m map[string]any) { delete(m, k) })
			}
			for _, c := range changed(k, v[k]) {
				change(c.what, strings.HasPrefix(c.what, "by a hair"), func(m map[string]any) { m[k] = c.value() })
			}
			if other := keys[(i+1)%len(keys)]; fmt.Sprintf("%T", v[k]) == fmt.Sprintf("%T", v[other]) && encoding(v[k]) != encoding(v[other]) {
				change("swapped with "+other, false, func(m map[string]any) { m[k], m[other] = m[other], m[k] })
			}
			eachField(v[k], path, func(root any) any {
				if m, ok := at(root).(map[string]any); ok {
					return m[k]
				}
				return nil
			}, add)
		}
	case []any:
		path := kind + "/*"
		for _, i := range slices.Compact([]int{0, len(v) / 2, len(v) - 1}) {
			if i < 0 || i >= len(v) {
				continue
			}
			change := func(what string, small bool, to func(list []any)) {
				add(path, what, small, func(root any) any {
					if list, ok := at(root).([]any); ok && i < len(list) {
						to(list)
					}
					return root
				})
			}
			for _, c := range changed("", v[i]) {
				change(c.what, strings.HasPrefix(c.what, "by a hair"), func(list []any) { list[i] = c.value() })
			}
			if i+1 < len(v) && encoding(v[i]) != encoding(v[i+1]) && !tied(path, v[i], v[i+1]) {
				change("swapped with the next", false, func(list []any) { list[i], list[i+1] = list[i+1], list[i] })
			}
			eachField(v[i], path, func(root any) any {
				if list, ok := at(root).([]any); ok && i < len(list) {
					return list[i]
				}
				return nil
			}, add)
		}
	}
}

// pair reports whether a list is a slot and a count or the ends of an interval: its numbers
// are changed one by one, and readers look at no more than two.
func pair(v []any) bool {
	_, number := v[0].(json.Number)
	return len(v) == 2 && number
}

// tied reports whether two of the slowest messages took equally long: nothing says in which
// order they are.
func tied(path string, one, other any) bool {
	a, _ := one.(map[string]any)
	b, _ := other.(map[string]any)
	return strings.HasSuffix(path, "/tail/*") && a["metric"] == b["metric"] && a["value"] == b["value"]
}

// absent reports whether a value says no more than a field that is not there.
func absent(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			if !absent(x) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	case json.Number:
		return v.String() == "0"
	}
	return v == nil || v == "" || v == false
}

func encoding(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// other is another value for a field, which is computed when it is chosen.
type other struct {
	what  string
	value func() any
}

// changed are other values for a field.
func changed(key string, v any) (all []other) {
	to := func(what string, x any) { all = append(all, other{what, func() any { return x }}) }
	switch v := v.(type) {
	case bool:
		to("flipped", !v)
	case string:
		to("emptied", "")
		if key == "hist" || key == "censored" {
			return append(all, other{"with a value more", func() any { return reshaped(v, false) }},
				other{"with its slowest as fast as its fastest", func() any { return reshaped(v, true) }})
		}
		to("lengthened", v+"x")
	case []any:
		if len(v) == 0 || pair(v) {
			return nil
		}
		to("without its first", v[1:])
		to("with its first twice", append([]any{v[0]}, v...))
		if !absent(v[len(v)-1]) {
			to("without its last", v[:len(v)-1])
		}
	case json.Number:
		if n, err := v.Int64(); err == nil {
			to("by a hair", n+1)
			to("by a hair less", n-1)
			to("doubled", 2*n+2)
			to("much", 1000*n+1000)
			to("negative", -n-1)
		} else if f, err := v.Float64(); err == nil {
			to("by a hair", f*(1+1e-6))
			to("doubled", 2*f+1)
			to("much", 1000*f+1)
		}
	}
	return all
}

// reshaped is a histogram that has its fastest value once more, in place of its slowest or
// beside it. What cannot be read stays as it is.
func reshaped(text string, replaces bool) string {
	h, err := histograms.Decode(text)
	if err != nil {
		return text
	}
	first, low := histograms.NewRankIndex(h).ValueAtRank(1)
	last, _ := histograms.NewRankIndex(h).ValueAtRank(h.TotalCount())
	shape := h.Clone()
	if !replaces {
		_ = shape.RecordValue(low) // which it has
	} else {
		shape.Reset()
		for _, b := range h.Distribution() {
			n := b.Count
			if b.From == last {
				n--
			}
			if n > 0 {
				_ = shape.RecordValues(b.From, n) // which are in range
			}
		}
		_ = shape.RecordValue(first)
	}
	changed, err := histograms.Encode(shape)
	if err != nil || first == last && replaces {
		return text
	}
	return changed
}
