package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/locktest/locktest/catalog"
	"github.com/locktest/locktest/scenarios"
)

// usage is a mistake on the command line.
type usage struct{ error }

func (u usage) Unwrap() error { return u.error }

// polite lets every command say what it expected, and what it got.
func polite(root *cobra.Command) {
	root.SetHelpCommand(helpCommand(root))
	root.InitDefaultCompletionCmd()
	root.SetFlagErrorFunc(flagError)
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		switch check := c.Args; {
		case c != root && c.HasSubCommands() && !c.Runnable():
			c.Args = cobra.ArbitraryArgs
			c.RunE = group
		case check != nil:
			c.Args = func(cmd *cobra.Command, args []string) error { return expected(cmd, args, check(cmd, args)) }
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(root)
}

// group is a command that does nothing but have others.
func group(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	return unknownCommand(cmd, args[0])
}

// expected says which arguments a command takes, where it was given others.
func expected(cmd *cobra.Command, args []string, err error) error {
	if err == nil || errors.As(err, new(usage)) {
		return err
	}
	got := "nothing"
	if len(args) > 0 {
		got = strings.Join(args, " ")
	}
	name, _ := strings.CutPrefix(cmd.CommandPath(), "locktest ")
	takes, ok := strings.CutPrefix(cmd.Use, cmd.Name()+" ")
	if !ok {
		return usage{fmt.Errorf("%s: no argument was expected, there is %s", name, got)}
	}
	return usage{fmt.Errorf("%s: expected %s, there is %s", name, takes, got)}
}

// unknownCommand says that there is none of that name, and which was likely to be meant.
func unknownCommand(parent *cobra.Command, word string) error {
	names := []string{"help"}
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if parent.HasParent() {
		names = names[1:]
	}
	var fix []string
	if near := scenarios.Nearest(word, names); near != "" {
		fix = append(fix, "did you mean "+parent.CommandPath()+" "+near+"?")
	} else if pages, _ := catalog.Explain(word); len(pages) > 0 {
		fix = append(fix, "locktest explain "+word)
	}
	return explained{usage{fmt.Errorf("%s has no command %q", parent.CommandPath(), word)}, "", append(fix, "its commands are "+strings.Join(names, ", "))}
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "What there is, or what a command takes",
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			for _, c := range root.Commands() {
				names = append(names, c.Name())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			cmd := root
			for _, word := range args {
				sub := named(cmd, word)
				if sub == nil && !cmd.HasSubCommands() {
					return explained{usage{fmt.Errorf("%s has no command %q", cmd.CommandPath(), word)}, "", []string{helpOf(cmd)}}
				}
				if sub == nil {
					return unknownCommand(cmd, word)
				}
				cmd = sub
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func named(cmd *cobra.Command, word string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == word || c.HasAlias(word) {
			return c
		}
	}
	return nil
}

// flagError says of a flag what is wrong with it.
func flagError(cmd *cobra.Command, err error) error {
	var (
		missing *pflag.NotExistError
		empty   *pflag.ValueRequiredError
		wrong   *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &missing) && missing.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		var fix []string
		if near := scenarios.Nearest(missing.GetSpecifiedName(), names); near != "" {
			fix = []string{"did you mean --" + near + "?"}
		}
		return explained{usage{fmt.Errorf("%s has no flag --%s", cmd.CommandPath(), missing.GetSpecifiedName())}, "", append(fix, helpOf(cmd))}
	case errors.As(err, &empty):
		return usage{fmt.Errorf("--%s needs a value: %s", empty.GetFlag().Name, empty.GetFlag().Usage)}
	case errors.As(err, &wrong):
		f := wrong.GetFlag()
		kind := map[string]string{"int": "a number", "uint64": "a number from 0 on", "duration": "a time with its unit, such as 90s or 10m", "bool": "true or false"}[f.Value.Type()]
		if kind == "" {
			return usage{fmt.Errorf("--%s %s: %w", f.Name, wrong.GetValue(), wrong.Unwrap())}
		}
		return usage{fmt.Errorf("--%s %s: expected %s", f.Name, wrong.GetValue(), kind)}
	}
	return usage{err}
}

var unknown = regexp.MustCompile(`^unknown command "([^"]*)" for `) // cobra has no type for it

// mend adds to a mistake on the command line an example of the command, and where to read on.
func mend(cmd *cobra.Command, err error) error {
	if m := unknown.FindStringSubmatch(err.Error()); m != nil {
		err = unknownCommand(cmd.Root(), m[1])
	}
	if !errors.As(err, new(usage)) || errors.As(err, new(explained)) {
		return err
	}
	var fix []string
	if example, _, _ := strings.Cut(strings.TrimSpace(cmd.Example), "\n"); example != "" {
		example, _, _ = strings.Cut(example, "   ")
		fix = append(fix, "an example: "+strings.TrimSpace(example))
	}
	return explained{err, "", append(fix, helpOf(cmd))}
}

func helpOf(cmd *cobra.Command) string {
	if !cmd.HasParent() {
		return "locktest help says what there is"
	}
	path, _ := strings.CutPrefix(cmd.CommandPath(), "locktest ")
	return "locktest help " + path + " says what it takes"
}
