package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Thresholds are those that differ from the defaults of the rules. The zero value contains none.
type Thresholds struct {
	set map[string]float64
	// Suggest returns what an error adds to a name that does not exist, such as ", did you mean
	// X?"; nil adds nothing.
	Suggest func(name string, known []string) string
}

func (t *Thresholds) suggest(name string, known []string) string {
	if t.Suggest == nil {
		return ""
	}
	return t.Suggest(name, known)
}

// Set sets a threshold: Set("long-pause.over", "100ms"). The format of a value depends on its unit:
// 100ms, 50MB, 1GB/s, 20%, 5/min, 3. The error lists what exists.
func (t *Thresholds) Set(name, value string) error {
	id, last, _ := strings.Cut(name, ".")
	rules := Rules()
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		ids := ruleIDs(rules)
		return fmt.Errorf("there is no rule %q%s: the rules with thresholds are %s",
			id, t.suggest(id, ids), strings.Join(ids, ", "))
	}
	r := &rules[i]
	for _, threshold := range r.Thresholds {
		if threshold.Name != last {
			continue
		}
		v, err := ParseValue(strings.TrimSpace(value), threshold.Unit)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if last == "window" && v == 0 {
			return fmt.Errorf("%s: %q is not a valid length: it must be greater than 0, such as %s",
				name, value, threshold.Text(threshold.Default))
		}
		t.set = maps.Clone(t.set)
		if t.set == nil {
			t.set = map[string]float64{}
		}
		t.set[name] = v
		return nil
	}
	if len(r.Thresholds) == 0 {
		return fmt.Errorf("the rule %s has no thresholds", id)
	}
	var names []string
	for _, threshold := range r.Thresholds {
		names = append(names, id+"."+threshold.Name)
	}
	return fmt.Errorf("there is no threshold %q%s: %s has %s",
		name, t.suggest(name, names), id, strings.Join(names, ", "))
}

func ruleIDs(rules []Rule) (ids []string) {
	for _, r := range rules {
		if len(r.Thresholds) > 0 {
			ids = append(ids, r.ID)
		}
	}
	return ids
}

// limits are the effective thresholds of one rule by name.
type limits map[string]float64

func (t *Thresholds) of(r *Rule) limits {
	l := limits{}
	for _, threshold := range r.Thresholds {
		l[threshold.Name] = threshold.Default
		if v, ok := t.set[r.ID+"."+threshold.Name]; ok {
			l[threshold.Name] = v
		}
	}
	return l
}

// count returns the least number of collections: with none there is nothing to find.
func (l limits) count() uint64 { return max(1, uint64(l["count"])) }

// ParseValue parses a value with the unit of a Metric: 100ms, 1.5GB, 20%, 5/min. Only 0 may lack
// the unit: a percentage without one could also be meant as a fraction. The error shows what such a
// value looks like.
func ParseValue(s, unit string) (float64, error) {
	if v, ok := parseNumber(s); ok && (v == 0 || unit == "") {
		return v, nil
	}
	switch unit {
	case "ns":
		if d, err := time.ParseDuration(strings.NewReplacer(" ", "", "min", "m").Replace(s)); err == nil && d >= 0 {
			return float64(d), nil
		}
		return 0, fmt.Errorf("%q is not a duration: write a number with a unit, such as 100ms, 1.5s or 10m", s)
	case "bytes":
		if v, ok := parseSize(s); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%q is not a size: write a number with B, KB, MB or GB, such as 50MB (KiB, MiB and GiB "+
			"are 1024 times each other)", s)
	case "bytes/s":
		if v, ok := parseSize(strings.TrimSuffix(s, "/s")); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%q is not a rate: write a size per second, such as 500MB/s", s)
	case "%", "%/h":
		if v, ok := parseUnit(strings.TrimSuffix(s, "/h"), "%"); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%q is not a percentage: write a number with %%, such as 20%%", s)
	case "1/min":
		if v, ok := parseUnit(s, "/min"); ok {
			return v, nil
		}
		return 0, fmt.Errorf("%q is not a rate: write a number per minute, such as 5/min", s)
	}
	return 0, fmt.Errorf("%q is not a number: write one such as 20 or 1.5", s)
}

func parseUnit(s, unit string) (float64, bool) {
	number, ok := strings.CutSuffix(s, unit)
	if !ok {
		return 0, false
	}
	return parseNumber(number)
}

func parseNumber(s string) (float64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return v, err == nil && v >= 0 && !math.IsInf(v, 0)
}

// parseSize parses a size. K, M and G alone are those of HotSpot's flags.
func parseSize(s string) (float64, bool) {
	number := strings.TrimRight(s, "BKMGTIbkmgti")
	unit := strings.ToUpper(s[len(number):])
	if unit == "" {
		return 0, false
	}
	factor, power := 1.0, strings.IndexByte("BKMGT", unit[0])
	switch base := unit[1:]; {
	case power > 0 && base == "B":
		factor = math.Pow10(3 * power)
	case power > 0 && (base == "" || base == "I" || base == "IB"):
		factor = math.Exp2(float64(10 * power))
	case unit != "B":
		return 0, false
	}
	v, ok := parseNumber(number)
	return v * factor, ok
}
