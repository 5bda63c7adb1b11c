package times

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	at := time.Date(2026, 1, 31, 14, 3, 22, 0, time.UTC)
	for _, x := range []struct {
		text string
		want time.Time
	}{
		{"2026-01-31T14:03:22Z", at},
		{"2026-01-31t14:03:22z", at},
		{"2026-01-31T15:03:22+01:00", at},
		{"2026-01-31T13:33:22-0030", at},
		{"2026-01-31T14:03:22.104Z", at.Add(104 * time.Millisecond)},
		{"2026-01-31T14:03:22.1234567Z", at.Add(123456700)},
		{"2026-01-31T14:03:22.123456789123Z", at.Add(123456789)},
		{"2026-01-31 14:03:22.104", at.Add(104 * time.Millisecond)},
		{"2026-01-31 14:03:22,104", at.Add(104 * time.Millisecond)},
		{"2026-01-31 14:03:22 UTC", at},
		{"2026-01-31 15:03:22.5 +0100", at.Add(500 * time.Millisecond)},
		{" 2026-01-31 14:03:22 ", at},
		{"31/Jan/2026:14:03:22 +0000", at},
		{"[31/Jan/2026:15:03:22.104 +0100]", at.Add(104 * time.Millisecond)},
		{"31/Jan/2026:14:03:22", at},
		{"2024-02-29T00:00:00Z", time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)},
		{"1970-01-01T00:00:00Z", time.Unix(0, 0)},
		{"2026-12-31T23:59:60Z", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
		{strconv.FormatInt(at.Unix(), 10), at},
		{strconv.FormatInt(at.Unix(), 10) + ".104", at.Add(104 * time.Millisecond)},
		{strconv.FormatInt(at.UnixMilli(), 10), at},
		{strconv.FormatInt(at.UnixMilli(), 10) + ".25", at.Add(250 * time.Microsecond)},
		{strconv.FormatInt(at.UnixMicro(), 10), at},
		{strconv.FormatInt(at.UnixNano(), 10), at},
		{"1.5E9", time.Unix(1500000000, 0)},
		{"0", time.Unix(0, 0)},
	} {
		if ns, ok := parsed(x.text); !ok || ns != x.want.UnixNano() {
			t.Errorf("%q: %v %v, want %v", x.text, time.Unix(0, ns).UTC(), ok, x.want.UTC())
		}
	}
	for _, text := range []string{
		"", " ", "-", "now", "14:03:22", "2026-01-31", "2026-01-31T14", "2026-01-31T14:3", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-32T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T14:60:22Z", "2026-01-31T14:03:61Z", "2026-01-31T14:03:22.Z", "2026-01-31T14:03:22X",
		"2026-01-31T14:03:22+1", "2026-01-31T14:03:22+24:00", "2026-01-31T14:03:22+01x00", "2026-01-31_14:03:22", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00+01:00",
		"31/Foo/2026:14:03:22 +0000", "31/anF/2026:14:03:22 +0000", "1/Jan/2026:14:03:22 +0000", "31/Jan/2026", "-5", "12x", "0x10", "1e400", "nan", "99999999999999999999", "2262-01-01T00:00:00Z", "[", "[]",
	} {
		if ns, ok := parsed(text); ok {
			t.Errorf("%q: %v", text, time.Unix(0, ns).UTC())
		}
	}
}

// parsed returns a time in nanoseconds since 1970.
func parsed(text string) (ns int64, ok bool) {
	t, ok := Parse([]byte(text))
	if !ok {
		return 0, false
	}
	return t.Nanoseconds()
}

// TestForms: each form is read, and tells its zone and its unit.
func TestForms(t *testing.T) {
	for text, want := range map[string]Time{
		"14:03":                        {Shown: 843 * 60e9, OfDay: true, Unit: time.Minute},
		"14:03:22.5+01:00":             {Shown: 843*60e9 + 22.5e9, OfDay: true, East: 3600, Zoned: true, Unit: 100 * time.Millisecond},
		"00:00:00,000 UTC":             {OfDay: true, Zoned: true, Unit: time.Millisecond},
		"1970-01-02 00:01":             {Shown: 86460e9, Unit: time.Minute},
		"[02/Jan/1970:00:00:00 -0100]": {Shown: 86400e9, East: -3600, Zoned: true, Unit: time.Second},
		"5":                            {Shown: 5e9, Zoned: true, Number: true, Unit: time.Second},
		"5.25":                         {Shown: 5.25e9, Zoned: true, Number: true, Unit: 10 * time.Millisecond},
		"1769868202500.5":              {Shown: 1769868202500.5e6, Zoned: true, Number: true, Unit: 100 * time.Microsecond},
	} {
		if got, ok := Parse([]byte(text)); !ok || got != want {
			t.Errorf("%s is %+v, %v, want %+v", text, got, ok, want)
		}
	}
	for _, text := range Examples() {
		if got, ok := Parse([]byte(text)); !ok || got.Unit == 0 {
			t.Errorf("%s is %+v, %v", text, got, ok)
		}
	}
	text := []byte("2026-01-31T14:03:22.104Z")
	if n := testing.AllocsPerRun(100, func() { Parse(text) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMoments: the clocks show a time at its moments. If they never do, the moment is as long after the change as the time would have been without one.
func TestMoments(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Havana", "Pacific/Apia", "Asia/Kolkata", "UTC"} {
		where, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		first, last := map[string]time.Time{}, map[string]time.Time{} // by what the clocks show
		twice := map[string]bool{}
		const layout = "2006-01-02 15:04"
		begin, end := time.Date(2011, 12, 1, 0, 0, 0, 0, time.UTC), time.Date(2013, 1, 1, 0, 0, 0, 0, time.UTC)
		for at := begin; at.Before(end); at = at.Add(10 * time.Minute) {
			text := at.In(where).Format(layout)
			if first[text].IsZero() {
				first[text] = at
			} else {
				twice[text[len("2006-01-02 "):]] = true
			}
			last[text] = at
		}
		for at := begin.Add(48 * time.Hour); at.Before(end.Add(-48 * time.Hour)); at = at.Add(10 * time.Minute) {
			got, again := Moments(at.UnixNano(), where)
			want, second := first[at.Format(layout)], last[at.Format(layout)]
			if want.IsZero() {
				before := at
				for first[before.Format(layout)].IsZero() {
					before = before.Add(-10 * time.Minute)
				}
				want = first[before.Format(layout)].Add(at.Sub(before))
				second = want
			}
			if !got.Equal(want) || !again.Equal(second) {
				t.Fatalf("%s: %s is %v and %v, want %v and %v", name, at.Format(layout), got, again, want.In(where), second.In(where))
			}
		}
		for clock := range twice {
			at, _ := Parse([]byte(clock))
			if !Twice(at.Shown, where) {
				t.Errorf("%s: %s is not shown twice", name, clock)
			}
		}
		if noon := int64(12 * time.Hour); Twice(noon, where) {
			t.Errorf("%s: 12:00 is shown twice", name)
		}
	}
}

// TestTimesRandom compares the calendar with that of package time.
func TestTimesRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		want := time.Unix(r.Int64N(9214646400), r.Int64N(1e9)).UTC()
		for _, layout := range []string{time.RFC3339Nano, "02/Jan/2006:15:04:05.000000000 -0700"} {
			text := want.In(time.FixedZone("", 60*(r.IntN(1440)-720))).Format(layout)
			if ns, ok := parsed(text); !ok && want.Unix() > 86400 || ok && ns != want.UnixNano() {
				t.Fatalf("%q: %v %v, want %v", text, time.Unix(0, ns).UTC(), ok, want)
			}
		}
	}
}

func TestDuration(t *testing.T) {
	for _, x := range []struct {
		text string
		unit time.Duration
		want time.Duration
		bare bool
	}{
		{"12", time.Millisecond, 12 * time.Millisecond, true},
		{"0.083", time.Second, 83 * time.Millisecond, true},
		{"1234567", time.Microsecond, 1234567 * time.Microsecond, true},
		{"17", time.Nanosecond, 17, true},
		{"1.5", time.Millisecond, 1500 * time.Microsecond, true},
		{"1.2e-05", time.Second, 12 * time.Microsecond, true},
		{"12ms", time.Second, 12 * time.Millisecond, false},
		{"12 ms", time.Second, 12 * time.Millisecond, false},
		{"1.5s", time.Millisecond, 1500 * time.Millisecond, false},
		{"250us", time.Millisecond, 250 * time.Microsecond, false},
		{"250µs", time.Millisecond, 250 * time.Microsecond, false},
		{"7ns", time.Millisecond, 7, false},
		{"2m", time.Millisecond, 2 * time.Minute, false},
		{"0.5h", time.Millisecond, 30 * time.Minute, false},
		{"1m30.5s", time.Millisecond, 90500 * time.Millisecond, false},
		{"00:00:00.0123456", time.Millisecond, 12345600, false},
		{"00:01:02", time.Millisecond, 62 * time.Second, false},
		{"1.02:03:04.5", time.Millisecond, 26*time.Hour + 3*time.Minute + 4500*time.Millisecond, false},
		{" 3 ", time.Millisecond, 3 * time.Millisecond, true},
		{"0", time.Millisecond, 0, true},
	} {
		ns, bare, ok := ParseDuration([]byte(x.text), int64(x.unit))
		if !ok || ns != int64(x.want) || bare != x.bare {
			t.Errorf("%q: %v %v %v, want %v", x.text, time.Duration(ns), bare, ok, x.want)
		}
	}
	for _, text := range []string{
		"", "-", "-5", "ms", "5 parsecs", "0.1, 0.2", "1e999", "1e30", "nan", "inf", "0x5p1", "99999999999999999999", "9999999999999s", "1:02:03", "00:60:00", "00:00:60", "24:00:00", "00:00:00.",
		"00:00:00x", "400.00:00:00", "5.", ".5.00:00:00", "99999h9m",
	} {
		if ns, _, ok := ParseDuration([]byte(text), int64(time.Second)); ok {
			t.Errorf("%q: %v", text, time.Duration(ns))
		}
	}
}
