package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// headerReaders read the lines of the header by their first word.
func headerReaders() map[string]func(*Header, []string) error {
	return map[string]func(*Header, []string) error{
		"lock":     textLock,
		"resource": textResource,
		"fault":    textFault,
		"bounds":   textBounds,
		"clients":  func(h *Header, w []string) error { h.Clients = w; return nil },
		"nodes":    func(h *Header, w []string) error { h.Nodes = w; return nil },
		"scenario": func(h *Header, w []string) error { h.Scenario = strings.Join(w, " "); return nil },
		"clock":    textClock,
	}
}

// textFlags walks through words that are flags or name=value pairs.
func textFlags(words []string, set func(name, value string) error) error {
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		if err := set(name, value); err != nil {
			return fmt.Errorf("%s: %w", w, err)
		}
	}
	return nil
}

func textName(words []string) (string, []string, error) {
	if len(words) == 0 {
		return "", nil, fmt.Errorf("a name is missing")
	}
	return words[0], words[1:], nil
}

// textLock reads "lock NAME expiry=lease ttl=2s …", in the words of Contract.
func textLock(h *Header, words []string) error {
	name, words, err := textName(words)
	if err != nil {
		return err
	}
	l := Lock{Name: name, Provider: "text", Contract: Contract{Expiry: NoExpiry, Tokens: NoTokens}}
	c := &l.Contract
	flags := map[string]*bool{
		"owner-checked": &c.OwnerChecked, "release-held": &c.ReleaseHeld, "tells-loss": &c.TellsLoss, "validity": &c.Validity,
		"background": &c.Background, "from-grant": &c.TTLFromGrant, "shared": &c.Shared, "fifo": &c.FIFO,
		"non-exclusive": &c.NonExclusive, "fail-stop": &c.FailStop, "blocking": &c.Blocking, "distributed": &c.Distributed,
	}
	err = textFlags(words, func(name, value string) (err error) {
		switch name {
		case "provider":
			l.Provider = value
		case "expiry":
			c.Expiry = Expiry(value)
		case "tokens":
			c.Tokens = Tokens(value)
		case "ttl":
			c.TTL, err = textTime(value)
		case "permits":
			err = textInt(&c.Permits, value)
		case "reentry":
			err = textInt(&c.Reentry, value)
		case "drift":
			c.Drift, err = strconv.ParseFloat(value, 64)
		default:
			flag, ok := flags[name]
			if !ok {
				return fmt.Errorf("a lock promises nothing of that name")
			}
			*flag = true
		}
		return err
	})
	h.Locks = append(h.Locks, l)
	return err
}

// textResource reads "resource NAME check=checks-token ordered".
func textResource(h *Header, words []string) error {
	name, words, err := textName(words)
	if err != nil {
		return err
	}
	r := Resource{Name: name, Check: IgnoresToken, Store: "harness"}
	err = textFlags(words, func(name, value string) error {
		switch name {
		case "check":
			r.Check = value
		case "store":
			r.Store = value
		case "ordered":
			r.Ordered = true
		default:
			return fmt.Errorf("a resource has nothing of that name")
		}
		return nil
	})
	h.Resources = append(h.Resources, r)
	return err
}

// textFault reads "fault KIND min-hits=1"; faults are numbered in their order.
func textFault(h *Header, words []string) error {
	kind, words, err := textName(words)
	if err != nil {
		return err
	}
	f := Fault{Number: len(h.Faults) + 1, Kind: kind, Text: kind, MinHits: 1}
	err = textFlags(words, func(name, value string) (err error) {
		switch name {
		case "min-hits":
			f.MinHits, err = strconv.Atoi(value)
		case "text":
			f.Text = value
		default:
			return fmt.Errorf("a fault has nothing of that name")
		}
		return err
	})
	h.Faults = append(h.Faults, f)
	return err
}

// textBounds reads "bounds recover-within=5s wait=1s min-acquires=10".
func textBounds(h *Header, words []string) error {
	return textFlags(words, func(name, value string) (err error) {
		switch name {
		case "recover-within":
			h.Bounds.RecoverWithin, err = textTime(value)
		case "wait":
			h.Bounds.Wait, err = textTime(value)
		case "min-acquires":
			err = textInt(&h.Bounds.MinAcquires, value)
		default:
			return fmt.Errorf("there is no bound of that name")
		}
		return err
	})
}

// textClock reads "clock error=5ms pipe=1ms".
func textClock(h *Header, words []string) error {
	return textFlags(words, func(name, value string) error {
		to := map[string]*time.Duration{"error": &h.ClockError, "pipe": &h.Pipe}[name]
		if to == nil {
			return fmt.Errorf("a clock has nothing of that name")
		}
		var err error
		*to, err = textTime(value)
		return err
	})
}
