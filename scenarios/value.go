package scenarios

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxDuration is longer than any run and short enough that sums of durations cannot overflow.
const maxDuration = 10000 * time.Hour

// mistake is what is wrong with a value, without its place.
type mistake struct{ code, message, label, fix string }

func parseDuration(text string) (time.Duration, *mistake) {
	if f, err := strconv.ParseFloat(text, 64); err == nil && text != "0" && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return 0, &mistake{CodeDuration, "this duration has no unit", text + " what?", "write " + text + "s (units: us, ms, s, m, h)"}
	}
	d, err := time.ParseDuration(text)
	if err != nil && durationForm.MatchString(text) { // more than 64 bits hold
		d, err = math.MaxInt64, nil
	}
	switch {
	case text == "0":
		return 0, &mistake{CodeDuration, "this duration has no unit", "0 what?", "write 0s"}
	case err != nil:
		return 0, &mistake{CodeDuration, fmt.Sprintf("%q is not a duration", text), "such as 200ms, 1.5s or 2m", unitFix(text)}
	case d < 0 || strings.HasPrefix(text, "-"):
		return 0, &mistake{CodeDuration, "a duration is never negative", "below zero", ""}
	case d > maxDuration:
		return 0, &mistake{CodeDuration, "this duration is longer than any run", "at most " + formatDuration(maxDuration), ""}
	}
	return d, nil
}

// durationForm is what time.ParseDuration reads, whatever it amounts to.
var durationForm = regexp.MustCompile(`^[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`)

// parseSigned reads +20s or -20s.
func parseSigned(text string) (time.Duration, *mistake) {
	number, back := strings.CutPrefix(text, "-")
	d, m := parseDuration(strings.TrimPrefix(number, "+"))
	if m != nil {
		m.fix = "write +20s or -20s (units: us, ms, s, m, h)"
		return 0, m
	}
	if back {
		d = -d
	}
	return d, nil
}

// parseFactor reads a number above zero.
func parseFactor(text string) (float64, *mistake) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || f <= 0 || f > 1000 {
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a factor above 0", text), "such as 1.5", ""}
	}
	return f, nil
}

// parseBandwidth reads 200B/s, 10kB/s or 1MB/s.
func parseBandwidth(text string) (int64, *mistake) {
	m := bandwidthForm.FindStringSubmatch(text)
	if m == nil {
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a number of bytes a second", text), "such as 10kB/s", bandwidthFix(text)}
	}
	n, err := strconv.ParseFloat(m[1], 64)
	bytes := n * map[string]float64{"": 1, "k": 1e3, "M": 1e6}[m[2]]
	if err != nil || bytes < 1 || bytes > 1e12 {
		return 0, &mistake{CodeNumber, "no link is that slow or that fast", "1B/s to 1000000MB/s", ""}
	}
	return int64(math.Round(bytes)), nil
}

var bandwidthForm = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([kM]?)B/s$`)

// bandwidthFix is for other ways to write it: 10KB/s, 10 kB/s, 10k, 10.
func bandwidthFix(text string) string {
	m := regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)\s*([kKmM]?)[bB]?(?:ps|/s)?$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	unit := map[string]string{"k": "k", "K": "k", "m": "M", "M": "M"}[m[2]]
	return fmt.Sprintf("write %s%sB/s (units: B/s, kB/s, MB/s; a byte has 8 bits)", m[1], unit)
}

// formatBandwidth is what parseBandwidth reads as the same.
func formatBandwidth(bytes int64) string {
	switch {
	case bytes%1e6 == 0:
		return fmt.Sprintf("%dMB/s", bytes/1e6)
	case bytes%1e3 == 0:
		return fmt.Sprintf("%dkB/s", bytes/1e3)
	}
	return fmt.Sprintf("%dB/s", bytes)
}

// unitFix rewrites units that people use but Go doesn't: "5 s", "5sec", "2min".
func unitFix(text string) string {
	m := regexp.MustCompile(`^([0-9.]+)\s*([A-Za-z]+)$`).FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	units := map[string]string{
		"s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s", "ms": "ms", "msec": "ms", "millis": "ms",
		"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m", "h": "h", "hour": "h", "hours": "h", "us": "us",
	}
	fix := m[1] + units[strings.ToLower(m[2])]
	if _, err := time.ParseDuration(fix); err != nil {
		return ""
	}
	return "write " + fix
}

func parseSpan(text string) (Range, *mistake) {
	low, high, isRange := strings.Cut(text, "..")
	if isRange && (strings.TrimSpace(low) == "" || strings.TrimSpace(high) == "") {
		return Range{}, &mistake{CodeDuration, fmt.Sprintf("%q is half a range", text), "from .. to", "write both ends with a unit, as in 50ms..400ms"}
	}
	from, m := parseDuration(strings.TrimSpace(low))
	if !isRange || m != nil {
		return Range{from, from}, rangeMistake(m, isRange)
	}
	to, m := parseDuration(strings.TrimSpace(high))
	if m != nil {
		return Range{}, rangeMistake(m, true)
	}
	if to < from {
		return Range{}, &mistake{CodeDuration, "the second end of this range is below the first", "runs backwards", fmt.Sprintf("write %s..%s", strings.TrimSpace(high), strings.TrimSpace(low))}
	}
	return Range{from, to}, nil
}

// rangeMistake drops a remedy that fits one duration only.
func rangeMistake(m *mistake, isRange bool) *mistake {
	if m != nil && isRange {
		m.fix = "write both ends with a unit, as in 50ms..400ms"
	}
	return m
}

func parsePercent(text string) (float64, *mistake) {
	number, ok := strings.CutSuffix(text, "%")
	f, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	switch {
	case err != nil || math.IsNaN(f):
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a percentage", text), "such as 30%", ""}
	case !ok:
		return 0, &mistake{CodeNumber, "this percentage has no %", text + " of what?", fmt.Sprintf("write %s%%", shareFix(f, text))}
	case f < 0 || f > 100:
		return 0, &mistake{CodeNumber, "a percentage is between 0% and 100%", "outside", ""}
	}
	return f / 100, nil
}

func shareFix(f float64, text string) string {
	if f > 0 && f < 1 {
		return strconv.FormatFloat(f*100, 'g', 6, 64)
	}
	return text
}

// parseCount reads a whole number; most is 0 where only the run bounds it.
func parseCount(text string, least, most int) (int, *mistake) {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a whole number", text), "such as 4", ""}
	case n < least:
		return 0, &mistake{CodeNumber, fmt.Sprintf("%s is too few, at least %d is needed", text, least), "too few", ""}
	case most > 0 && n > most:
		return 0, &mistake{CodeNumber, fmt.Sprintf("%s is more than one machine can run", text), fmt.Sprintf("at most %d", most), ""}
	case n > 1_000_000_000:
		return 0, &mistake{CodeNumber, fmt.Sprintf("%s is more than any run can count to", text), "too many", ""}
	}
	return n, nil
}

func parseNumber(text string) (uint64, *mistake) {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a whole number from 0 to 18446744073709551615", text), "not a number", ""}
	}
	return n, nil
}

// parseRate reads a number a second.
func parseRate(text string) (float64, *mistake) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return 0, &mistake{CodeNumber, fmt.Sprintf("%q is not a number a second", text), "such as 100", ""}
	}
	return f, nil
}

func parseFlag(text string) (bool, *mistake) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, &mistake{CodeNumber, fmt.Sprintf("%q is neither true nor false", text), "true or false", ""}
}

// formatDuration is the shortest form that parses to the same duration.
func formatDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return strings.Replace(s, "µs", "us", 1)
}

func formatSpan(r Range) string {
	if r.Min == r.Max {
		return formatDuration(r.Min)
	}
	return formatDuration(r.Min) + ".." + formatDuration(r.Max)
}

// formatPercent finds the number that parsePercent turns into exactly share.
func formatPercent(share float64) string {
	p := share * 100
	for _, f := range []float64{p, math.Nextafter(p, 0), math.Nextafter(p, 200)} {
		if f/100 == share {
			p = f
			break
		}
	}
	return strconv.FormatFloat(p, 'f', -1, 64) + "%"
}
