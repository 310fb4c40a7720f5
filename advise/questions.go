package advise

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Drift is assumed of clocks of which nothing is known.
const Drift = 0.01

// ErrEnded says that the answers ended before the questions.
var ErrEnded = errors.New("the answers ended before the questions")

// question is one of the dialogue.
type question struct {
	text  string
	usual string // what an empty answer stands for; "": there has to be one
	help  string
	when  func(Answers) bool // whether the answer can still matter
	take  func(*Answers, string) error
}

// Ask puts the questions that matter, one after another, and each again until its answer can be read.
func Ask(in io.Reader, out io.Writer) (Answers, error) {
	a := Answers{Instances: 2, RedisNodes: 1, Drift: Drift}
	lines := bufio.NewScanner(in)
	if _, err := fmt.Fprintln(out, "An empty answer takes what stands in brackets, ? explains."); err != nil {
		return a, err
	}
	for _, q := range questions() {
		if !q.when(a) {
			continue
		}
		if err := q.put(&a, lines, out); err != nil {
			return a, err
		}
	}
	return a, nil
}

func (q question) put(a *Answers, lines *bufio.Scanner, out io.Writer) error {
	prompt := fmt.Sprintf("%s [%s] ", q.text, q.usual)
	if q.usual == "" {
		prompt = q.text + ": "
	}
	for {
		fmt.Fprint(out, prompt)
		if !lines.Scan() {
			fmt.Fprintln(out)
			return cmp.Or(lines.Err(), ErrEnded)
		}
		answer := strings.TrimSpace(lines.Text())
		if answer == "?" {
			fmt.Fprintf(out, "  %s\n", q.help)
			continue
		}
		err := q.take(a, cmp.Or(answer, q.usual))
		if err == nil {
			return nil
		}
		fmt.Fprintf(out, "  %v\n", err)
	}
}

// unknown is a usual answer that says nothing.
const unknown = "not known"

func questions() []question {
	return []question{
		{"How many instances compete for the lock?", "2", "1: all who want it are threads of one process, which needs no server for it",
			always, number(func(a *Answers) *int { return &a.Instances })},
		{"What is there already? One or more of " + strings.Join(Stores(), ", "), "", "several with commas between; a lock has to be kept somewhere, and what is there costs nothing more",
			Answers.several, stores},
		{"Does the section write to shared storage?", "no", "a holder that stood still may write late: then only the storage can keep that out",
			Answers.several, yesNo(func(a *Answers) *bool { return &a.Writes })},
		{"Can that storage compare a version or a token as it writes?", unknown, "such as UPDATE … WHERE version = 7, or a transaction of etcd",
			func(a Answers) bool { return a.several() && a.Writes }, conditions},
		{"Do most sections only read?", "no", "then readers may share the lock, and a writer has it alone",
			Answers.several, yesNo(func(a *Answers) *bool { return &a.ReadHeavy })},
		{"Would two at once be wrong, and not only a waste?", "no", "no: the work may be done twice, and had better not be",
			func(a Answers) bool { return a.several() && !a.versions() }, yesNo(func(a *Answers) *bool { return &a.Exclusive })},
		{"Does the lock have to survive the loss of a server?", "no", "no: nobody is granted anything until that server is back",
			func(a Answers) bool { return a.several() && (a.has("postgres") || a.has("redis")) }, yesNo(func(a *Answers) *bool { return &a.Failover })},
		{"How many Redis servers are there that don't depend on each other?", "1", "a primary and its replicas count as one",
			Answers.majorities, number(func(a *Answers) *int { return &a.RedisNodes })},
		{"Is PostgreSQL behind a pooler in transaction mode?", "no", "there the next statement may be another session's, and so may a session's lock",
			Answers.sessions, yesNo(func(a *Answers) *bool { return &a.Pooled })},
		{"How long does the section take, 999 of 1000 times?", unknown, "a duration such as 200ms, measured: the lease has to outlast it",
			always, section},
		{"How long is a process known to stand still at most?", unknown, "a duration such as 2s: garbage collections, a moved machine; the lease has to outlast it too; 0: never",
			Answers.leased, pause},
		{"By how much may the rates of clocks differ?", "0.01", "0.01 is one in a hundred, and more than most clocks do",
			Answers.leased, drift},
		{"Is the work tried again after an unknown outcome?", "no", "then it may be done twice, whatever the lock does",
			func(a Answers) bool { return !a.Conditions }, yesNo(func(a *Answers) *bool { return &a.Retried })},
		{"Do sections take another lock inside?", "no", "then they can wait for each other for ever",
			always, yesNo(func(a *Answers) *bool { return &a.Nested })},
	}
}

func always(Answers) bool { return true }

func (a Answers) several() bool { return a.Instances > 1 }

// versions says that the storage decides, and no lock.
func (a Answers) versions() bool {
	return a.Writes && a.Conditions && !a.ReadHeavy && (a.has("postgres") || a.has("etcd"))
}

// leased is asked when nothing is open any more that decides which lock it is.
func (a Answers) leased() bool {
	c, err := Choose(a)
	return err == nil && c.TTL > 0
}

// majorities says whether several Redis servers would make another choice, or another reason for it.
func (a Answers) majorities() bool {
	if !a.several() || !a.has("redis") || a.ReadHeavy {
		return false
	}
	if a.Exclusive || a.Writes {
		return !a.has("etcd") && !a.has("zookeeper") && !a.has("postgres")
	}
	return a.Failover
}

// sessions says whether a lock that a session of PostgreSQL holds is among the choices.
func (a Answers) sessions() bool {
	if !a.several() || !a.has("postgres") || a.versions() {
		return false
	}
	if a.ReadHeavy {
		return !a.has("etcd") && !a.has("zookeeper")
	}
	return !a.Exclusive && !a.Writes && !a.Failover && !a.has("redis")
}

func stores(a *Answers, text string) error {
	var have []string
	for _, s := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(Stores(), s) {
			return fmt.Errorf("expected some of %s, with commas between", strings.Join(Stores(), ", "))
		}
		have = append(have, s)
	}
	b := *a
	b.Have = have
	if err := b.check(); err != nil {
		return err
	}
	a.Have = have
	return nil
}

func yesNo(field func(*Answers) *bool) func(*Answers, string) error {
	return func(a *Answers, text string) error {
		switch strings.ToLower(text) {
		case "y", "yes":
			*field(a) = true
		case "n", "no":
			*field(a) = false
		default:
			return errors.New("expected yes or no")
		}
		return nil
	}
}

// conditions tells a no from what is not known.
func conditions(a *Answers, text string) error {
	if text == unknown {
		return nil
	}
	err := yesNo(func(a *Answers) *bool { return &a.Conditions })(a, text)
	a.Blind = err == nil && !a.Conditions
	return err
}

func number(field func(*Answers) *int) func(*Answers, string) error {
	return func(a *Answers, text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return errors.New("expected a number, 1 or more")
		}
		*field(a) = n
		return nil
	}
}

func section(a *Answers, text string) error {
	if text == unknown {
		return nil
	}
	d, err := duration(text)
	if err == nil && d == 0 {
		return errors.New("a section takes some time: expected a duration above 0")
	}
	if err == nil {
		a.Section = d
	}
	return err
}

func pause(a *Answers, text string) error {
	if text == unknown {
		return nil
	}
	d, err := duration(text)
	if err == nil {
		a.Pause, a.Steady = d, d == 0
	}
	return err
}

func duration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil || d < 0:
		return 0, errors.New("expected a duration such as 200ms or 2s, or nothing where it is not known")
	case d > longest:
		return 0, fmt.Errorf("expected %.0fh at most", longest.Hours())
	}
	return d, nil
}

func drift(a *Answers, text string) error {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || !(d >= 0 && d < 1) {
		return errors.New("expected a share such as 0.01, below 1")
	}
	a.Drift = d
	return nil
}

// Flags are a on the command line.
func Flags(a Answers) []string {
	var flags []string
	add := func(when bool, words ...string) {
		if when {
			flags = append(flags, words...)
		}
	}
	add(len(a.Have) > 0, "--have", strings.Join(a.Have, ","))
	add(true, "--instances", strconv.Itoa(a.Instances))
	add(a.Section > 0, "--section", a.Section.String())
	add(a.Pause > 0, "--pause", a.Pause.String())
	add(a.Steady, "--pause", "0s")
	add(a.Drift != Drift, "--drift", strconv.FormatFloat(a.Drift, 'g', -1, 64))
	add(a.Writes, "--writes")
	add(a.Conditions, "--conditions")
	add(a.Blind, "--conditions=false")
	add(a.ReadHeavy, "--read-heavy")
	add(a.Exclusive, "--exclusive")
	add(a.Failover, "--failover")
	add(a.RedisNodes > 1, "--redis-nodes", strconv.Itoa(a.RedisNodes))
	add(a.Pooled, "--pooled")
	add(a.Retried, "--retried")
	add(a.Nested, "--nested")
	return flags
}
