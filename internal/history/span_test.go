package history

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// spanOf parses --since and --until as given on a command line.
func spanOf(z Zone, args ...string) (s Span, err error) {
	s.Zone = z
	for ; len(args) > 0 && err == nil; args = args[2:] {
		flag := strings.TrimPrefix(args[0], "--")
		to := map[string]*Instant{"since": &s.Since, "until": &s.Until}[flag]
		*to, err = ParseInstant(flag, args[1], z)
	}
	return s, err
}

func TestInstant(t *testing.T) {
	begin := time.Date(2026, 1, 31, 23, 50, 0, 250e6, time.FixedZone("", 3600)) // 22:50:00.25 UTC
	end := begin.Add(2 * time.Hour)
	day := func(d, h, m, s, ms int) time.Time {
		return time.Date(2026, 1, d, h, m, s, ms*1e6, time.UTC)
	}
	for text, want := range map[string]time.Time{
		"2026-01-31T23:00:00Z":           day(31, 23, 0, 0, 0),
		"2026-01-31T23:00:00.5Z":         day(31, 23, 0, 0, 500),
		"2026-02-01T00:00:00+01:00":      day(31, 23, 0, 0, 0),
		"2026-01-31T23:00:00.123+0000":   day(31, 23, 0, 0, 123), // as logs write it
		"2026-01-31T23:00:00":            day(31, 23, 0, 0, 0),
		"2026-01-31 23:00:00":            day(31, 23, 0, 0, 0),
		"2026-01-31 23:00:00.25":         day(31, 23, 0, 0, 250),
		"22:50:00.25":                    day(31, 22, 50, 0, 250), // the start itself
		"22:50:00.249":                   day(31, 22, 50, 0, 249), // this time has just passed
		"21:50:00.25":                    day(31, 21, 50, 0, 250), // an hour ago
		"21:50:00.249":                   day(32, 21, 50, 0, 249),
		"23:59:59Z":                      day(31, 23, 59, 59, 0),
		"00:30:00+01:00":                 day(31, 23, 30, 0, 0),
		"20:00:00.5-0500":                day(32, 1, 0, 0, 500),
		"23:59:59":                       day(31, 23, 59, 59, 0),
		"23:59":                          day(31, 23, 59, 0, 0),
		"00:30+01:00":                    day(31, 23, 30, 0, 0),
		"00:30+0100":                     day(31, 23, 30, 0, 0),
		"2026-02-01 00:30":               day(32, 0, 30, 0, 0),
		"2026-02-01T00:30+01:00":         day(31, 23, 30, 0, 0),
		"2026-01-31T23:10Z":              day(31, 23, 10, 0, 0),
		"00:00:00":                       day(32, 0, 0, 0, 0),
		"0s":                             day(31, 22, 50, 0, 250),
		"90s":                            day(31, 22, 51, 30, 250),
		"1h5m":                           day(31, 23, 55, 0, 250),
		"-5m":                            day(32, 0, 45, 0, 250),
		"-0s":                            day(32, 0, 50, 0, 250),
		"1769900400":                     day(31, 23, 0, 0, 0), // since 1970, in units that the size tells
		"1769900400.25":                  day(31, 23, 0, 0, 250),
		"1769900400250":                  day(31, 23, 0, 0, 250),
		"1769900400250000":               day(31, 23, 0, 0, 250),
		"1769900400250000000":            day(31, 23, 0, 0, 250),
		"31/Jan/2026:23:00:00 +0000":     day(31, 23, 0, 0, 0), // as nginx and Apache write it
		"[01/Feb/2026:00:00:00 +0100]":   day(31, 23, 0, 0, 0),
		"31/Jan/2026:23:00:00":           day(31, 23, 0, 0, 0),
		"2026-01-31 23:00:00 UTC":        day(31, 23, 0, 0, 0),
		"2026-01-31 23:00:00.5 +00:00":   day(31, 23, 0, 0, 500),
		"2026-01-31t23:00:00z":           day(31, 23, 0, 0, 0),
		"2026-01-31T22:50:00.123456789Z": time.Date(2026, 1, 31, 22, 50, 0, 123456789, time.UTC),
	} {
		s, err := spanOf(Zone{}, "--since", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, ok := s.Since.at(begin, end); !ok || !got.Equal(want) {
			t.Errorf("%s is %v, want %v", text, got.UTC(), want)
		}
		if other, _ := s.Since.at(begin, time.Time{}); !s.needsEnd() && !other.Equal(want) {
			t.Errorf("%s does not need the end, and is %v without it", text, other)
		}
	}
	for _, text := range []string{"", "5", "noon", "25:00:00", "14", "14:03Zulu", "24:00", "2026-01-31", "2026-13-31T00:00:00Z", "1d", "--5m"} {
		if s, err := spanOf(Zone{}, "--until", text); err == nil {
			t.Errorf("%q is taken for %+v", text, s.Until)
		} else if _, ok := errors.AsType[*CallError](err); !ok {
			t.Errorf("%q: %v: %T", text, err, err)
		}
	}
}

func TestStretch(t *testing.T) {
	begin := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	end := begin.Add(10 * time.Minute)
	process := &gclog.Process{Sync: begin.Add(-time.Minute)}
	always := analysis.Always()
	minute := int64(time.Minute)
	at1973 := int64(time.Unix(1e8, 0).Sub(process.Sync))
	for _, test := range []struct {
		name        string
		args        []string
		want        analysis.Window
		bad, beyond bool
	}{
		{"nothing", nil, always, false, false},
		{"since", []string{"--since", "2m"}, analysis.Window{From: 3 * minute, To: always.To}, false, false},
		{"until", []string{"--until", "12:04:00"}, analysis.Window{From: always.From, To: 5 * minute}, false, false},
		{"both", []string{"--since", "-4m", "--until", "-3m"}, analysis.Window{From: 7 * minute, To: 8 * minute}, false, false},
		{"longer than all", []string{"--since", "-1h"}, analysis.Window{From: -49 * minute, To: always.To}, false, false},
		{"none", []string{"--since", "2m", "--until", "2m"}, analysis.Window{From: 3 * minute, To: 3 * minute}, true, false},
		{"the wrong way round", []string{"--since", "12:05:00", "--until", "12:04:00"}, analysis.Window{From: 6 * minute, To: 5 * minute}, true, false},
		{"from shortly before the begin", []string{"--since", "11:59:50", "--until", "12:04:00"}, analysis.Window{From: minute - minute/6, To: 5 * minute}, false, false},
		{"until shortly after the end", []string{"--since", "12:04:00", "--until", "12:11:00"}, analysis.Window{From: 5 * minute, To: 12 * minute}, false, false},
		{"until shortly before the begin", []string{"--until", "11:59:50"}, analysis.Window{From: always.From, To: minute - minute/6}, false, true},
		{"since shortly after the end", []string{"--since", "12:10:01"}, analysis.Window{From: 11*minute + minute/60, To: always.To}, false, true},
		{"behind the end", []string{"--since", "11m"}, analysis.Window{From: 12 * minute, To: always.To}, false, true},
		{"before the begin", []string{"--until", "2026-01-31T12:00:00Z"}, analysis.Window{From: always.From, To: minute}, false, true},
		{"as far as can be", []string{"--since", "1973-03-03T09:46:40Z"}, analysis.Window{From: at1973, To: always.To}, false, false},
	} {
		asked, err := spanOf(Zone{}, test.args...)
		if err != nil {
			t.Fatal(err)
		}
		s := stretch{Span: asked, begin: begin, end: end}
		if got := s.window(process); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		if err := s.check(); (err != nil) != test.bad {
			t.Errorf("%s: check: %v", test.name, err)
		}
		err = s.outside(end)
		if (err != nil) != test.beyond {
			t.Errorf("%s: outside: %v", test.name, err)
		}
		zoneless := strings.Contains(strings.Join(test.args, ""), ":") && !strings.Contains(strings.Join(test.args, ""), "Z")
		if err != nil && strings.Contains(err.Error(), "times without a zone are UTC") != zoneless {
			t.Errorf("%s: outside: %v", test.name, err)
		}
	}
}

// TestSince1970: a number that is no time since 2000 was meant as something else, and is refused with how
// times are written. The start of 2000 is one, in all units; 0 is the start of the recording.
func TestSince1970(t *testing.T) {
	for _, text := range []string{"5", "20260131", "99999999", "100000000", "202601311403", "946684799", "946684799.9", "946684799999", "946684799999999", "946684799999999999", "1.7e8"} {
		_, err := ParseInstant("since", text, Zone{})
		_, ok := errors.AsType[*CallError](err)
		if !ok || !strings.Contains(err.Error(), " as a number since 1970: write 2026-01-31T14:03:22Z, ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"946684800", "946684800000", "946684800000000", "946684800000000000"} {
		if i, err := ParseInstant("since", text, Zone{}); err != nil || !i.time.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("%s: %v, %v", text, i.time, err)
		}
	}
	if i, err := ParseInstant("since", "0", Zone{}); err != nil || i.kind != instantOffset {
		t.Errorf("0: %+v, %v", i, err)
	}
	if _, err := ParseInstant("since", "202601311403", Zone{}); err == nil || !strings.HasPrefix(err.Error(), "--since 202601311403 is 1976-06-02T22:08:31.403Z as ") {
		t.Errorf("%v", err)
	}
}

// TestInstantUnit: a time means the whole period that begins with its digits, an offset at most a second.
func TestInstantUnit(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"14:03":                         time.Minute,
		"14:03+01:00":                   time.Minute,
		"2026-01-31 14:03":              time.Minute,
		"5m":                            time.Second,
		"14:03:22":                      time.Second,
		"14:03:22.1":                    100 * time.Millisecond,
		"14:03:22,104":                  time.Millisecond,
		"2026-01-31T14:03:22Z":          time.Second,
		"2026-01-31 14:03:22.104":       time.Millisecond,
		"2026-01-31T14:03:22.50+01:00":  10 * time.Millisecond,
		"2026-01-31T14:03:22.123456789": 1,
		"90s":                           time.Second,
		"1.5s":                          100 * time.Millisecond,
		"-0.25s":                        10 * time.Millisecond,
		"1h5m":                          time.Second,
		"0.5h":                          time.Second,
		"250ms":                         time.Millisecond,
		"-7us":                          time.Microsecond,
		"0.00000000001s":                1,
		"1769900400":                    time.Second,
		"1769900400.25":                 10 * time.Millisecond,
		"1769900400250":                 time.Millisecond,
		"1769900400250000":              time.Microsecond,
		"[31/Jan/2026:23:00:00 +0000]":  time.Second,
	} {
		i, err := ParseInstant("at", text, Zone{})
		if got := i.unit; got != want || err != nil {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
