package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/locktest/locktest/history"
)

// promise is what a lock whose history comes from elsewhere promises: such histories don't say.
type promise struct {
	expiry, tokens string
	ttl            time.Duration
	clockError     time.Duration
	ownerChecked   bool
	releaseHeld    bool
	cmd            *cobra.Command // which knows what was given
}

func (p *promise) flags(cmd *cobra.Command) {
	p.cmd = cmd
	f := cmd.Flags()
	f.StringVar(&p.expiry, "expiry", "", "of a history from elsewhere: none, lease or session")
	f.DurationVar(&p.ttl, "ttl", 0, "of its leases")
	f.StringVar(&p.tokens, "tokens", "none", "its fencing tokens: none, grant or session")
	f.BoolVar(&p.ownerChecked, "owner-checked", true, "its releases compare the owner")
	f.BoolVar(&p.releaseHeld, "release-proves-held", true, "a release that is answered ok proves that the lock was held until then")
	f.DurationVar(&p.clockError, "clock-error", 0, "bound on the error of its time stamps: what they show only within it proves nothing")
}

// said are the flags that were given, as words of a command.
func (p *promise) said() []string {
	var words []string
	for _, name := range []string{"expiry", "ttl", "tokens", "owner-checked", "release-proves-held", "clock-error"} {
		switch f := p.cmd.Flags().Lookup(name); {
		case !f.Changed:
		case f.Value.Type() == "bool":
			words = append(words, "--"+name+"="+f.Value.String())
		default:
			words = append(words, "--"+name, f.Value.String())
		}
	}
	return words
}

// contract is what the flags say. With no expiry named there is none: only our own histories can do without.
func (p *promise) contract() (history.Contract, error) {
	c := history.Contract{Expiry: history.Expiry(p.expiry), TTL: p.ttl, Tokens: history.Tokens(p.tokens), OwnerChecked: p.ownerChecked, ReleaseHeld: p.releaseHeld}
	switch c.Expiry {
	case "", history.NoExpiry, history.Lease, history.Session:
	default:
		return c, usage{fmt.Errorf("--expiry %s: expected none, lease or session", p.expiry)}
	}
	switch c.Tokens {
	case history.NoTokens, history.PerGrant, history.PerSession:
	default:
		return c, usage{fmt.Errorf("--tokens %s: expected none, grant or session", p.tokens)}
	}
	if p.ttl < 0 || p.clockError < 0 {
		return c, usage{errors.New("--ttl and --clock-error can't be negative")}
	}
	return c, nil
}

// load reads a history in any form.
func (p *promise) load(path string) (*history.History, error) {
	c, err := p.contract()
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h, format, err := history.Import(f, c)
	switch {
	case err != nil && !errors.Is(err, history.ErrFormat):
		return nil, fmt.Errorf("%s: %w: %w", path, history.ErrFormat, err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	case format == history.FormatJSONL && p.expiry != "":
		return nil, usage{fmt.Errorf("%s says itself what its lock promises: leave --expiry out", path)}
	case format != history.FormatJSONL && format != history.FormatText && p.expiry == "":
		return nil, usage{fmt.Errorf("%s doesn't say what its lock promises: give --expiry none, lease (with --ttl) or session", path)}
	}
	if p.clockError > 0 {
		h.Header.ClockError = p.clockError
	}
	return h, nil
}
