package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/locktest/locktest/runner"
)

// retention decides which run folders of this command stay. It removes no other's.
type retention struct {
	rule  string
	stays []*runner.Outcome // so far, the oldest first
}

// check reads the rule: all, violated, or a number.
func (k *retention) check() error {
	if n, err := strconv.Atoi(k.rule); k.rule != "all" && k.rule != "violated" && (err != nil || n < 1) {
		return usage{fmt.Errorf("--keep %s: expected all, violated, or a number from 1 on", k.rule)}
	}
	return nil
}

// ended takes a run that is over, and removes the folder that is not to stay: its outcome has none then. A run that failed
// stays with violated, whatever failed it, since it has to be looked at, and so does one whose violation is known.
func (k *retention) ended(o *runner.Outcome, exit int) error {
	if o.Dir == "" || k.rule == "all" {
		return nil
	}
	k.stays = append(k.stays, o)
	n, err := strconv.Atoi(k.rule)
	switch {
	case err == nil && len(k.stays) > n:
		oldest := k.stays[0]
		k.stays = k.stays[1:]
		return k.drop(oldest)
	case err != nil && exit == runner.ExitOK && len(o.Conclusion.Known) == 0:
		k.stays = k.stays[:len(k.stays)-1]
		return k.drop(o)
	}
	return nil
}

func (k *retention) drop(o *runner.Outcome) error {
	dir := o.Dir
	o.Dir, o.Again, o.Report = "", "", "" // nothing may point there
	var disputed *runner.DisagreementError
	if errors.As(o.Err, &disputed) {
		disputed.History = ""
	}
	return errors.Join(os.RemoveAll(dir), k.relink(filepath.Dir(dir), filepath.Base(dir)))
}

// relink lets latest point to the last run that stays, where it points to one that is gone.
func (k *retention) relink(root, gone string) error {
	link := filepath.Join(root, runner.Latest)
	if to, err := os.Readlink(link); err != nil || to != gone {
		return nil // another run ended meanwhile, or there are no links here
	}
	if err := os.Remove(link); err != nil || len(k.stays) == 0 {
		return err
	}
	return os.Symlink(filepath.Base(k.stays[len(k.stays)-1].Dir), link)
}
