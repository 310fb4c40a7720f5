package scenarios

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// maxBytes and maxDepth are far beyond any scenario; they bound what a hostile file can cost.
const (
	maxBytes = 1 << 20
	maxDepth = 50
)

type shape uint8

const (
	scalar shape = iota
	list
	mapping
	null
)

func (s shape) String() string {
	return [...]string{"text", "a list", "a mapping", "nothing"}[s]
}

// node is a value of the file, with its place.
type node struct {
	shape   shape
	text    string // of a scalar
	quoted  bool
	place   Place
	items   []*node
	entries []entry
}

type entry struct {
	key   *node
	value *node
}

// get returns the value of a key; nil: it is absent.
func (n *node) get(key string) *node {
	for _, e := range n.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}

// source is a file's text by lines, to cut excerpts from.
type source struct {
	file  string
	lines []string
}

func newSource(file string, src []byte) *source {
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(string(unmarked(src)), "\uFFFD"))
	return &source{file: file, lines: strings.Split(text, "\n")}
}

// unmarked leaves out the mark with which some editors begin a file.
func unmarked(src []byte) []byte { return bytes.TrimPrefix(src, []byte("\uFEFF")) }

// place returns the piece of n characters at a position, which is moved into the file where a parser points beyond it.
func (s *source) place(line, column, n int) Place {
	line = min(max(line, 1), len(s.lines))
	text := s.lines[line-1]
	width := utf8.RuneCountInString(text)
	column = min(max(column, 1), width+1)
	return Place{
		Pos:  Pos{File: s.file, Line: line, Column: column},
		Text: text,
		Len:  max(1, min(n, width-column+1)),
	}
}

// parse reads src into a tree. The second value says why there is none.
func parse(s *source, src []byte) (*node, *Problem) {
	if p := tooBig(s, src); p != nil {
		return nil, p
	}
	file, err := parseYAML(unmarked(src))
	if err != nil {
		return nil, syntaxProblem(s, err)
	}
	b := &builder{source: s}
	root := b.file(file)
	return root, b.problem
}

// parseYAML turns a panic of the parser, which reads files from anywhere, into an error.
func parseYAML(src []byte) (file *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("not readable as YAML: %v", r)
		}
	}()
	return parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
}

func tooBig(s *source, src []byte) *Problem {
	if len(src) > maxBytes {
		return &Problem{Code: CodeTooBig, Message: fmt.Sprintf("the file has %d bytes; at most %d are read", len(src), maxBytes), Place: s.place(1, 1, 1)}
	}
	if !utf8.Valid(src) {
		return &Problem{Code: CodeSyntax, Message: "the file is not UTF-8 text", Place: s.place(1, 1, 1)}
	}
	for i, line := range s.lines {
		if column, deep := tooDeep(line); deep {
			p := s.place(i+1, column, 1)
			p.Label = "too deep"
			return &Problem{Code: CodeTooBig, Message: "the file is nested too deep", Place: p}
		}
	}
	return nil
}

// tooDeep counts brackets and dashes that open something; strings are not told apart, but none has so many.
func tooDeep(line string) (column int, deep bool) {
	open, dashes := 0, 0
	for i, r := range []rune(line) {
		switch r {
		case '[', '{':
			open++
		case ']', '}':
			open--
		case '-', '?':
			dashes++
		case ' ', '\t':
		default:
			dashes = 0
		}
		if open > maxDepth || dashes > 2*maxDepth {
			return i + 1, true
		}
	}
	return 0, false
}

// builder makes nodes from a parser's tree and stops at the first feature of YAML that a scenario does not use.
type builder struct {
	source  *source
	problem *Problem
}

func (b *builder) file(f *ast.File) *node {
	var body ast.Node
	for _, d := range f.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return b.refuse(d.Body, "a scenario file holds one document")
		}
		body = d.Body
	}
	if body == nil {
		return &node{shape: null, place: b.source.place(1, 1, 1)}
	}
	return b.value(body, 0)
}

func (b *builder) value(n ast.Node, depth int) *node {
	if depth > maxDepth {
		out := b.refuse(n, "the file is nested too deep")
		b.problem.Code = CodeTooBig
		return out
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return b.mapping(n, n.Values, depth)
	case *ast.MappingValueNode:
		return b.mapping(n, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		return b.sequence(n, depth)
	case *ast.LiteralNode:
		return &node{shape: scalar, text: n.Value.Value, quoted: true, place: b.at(n.Start)}
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return &node{shape: scalar, text: n.Value, quoted: quoted, place: b.at(n.Token)}
	case *ast.NullNode:
		return &node{shape: null, place: b.at(n.Token)}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &node{shape: scalar, text: n.GetToken().Value, place: b.at(n.GetToken())}
	default:
		return b.refuse(n, "scenario files use no anchors, aliases, tags or merge keys")
	}
}

func (b *builder) mapping(n ast.Node, values []*ast.MappingValueNode, depth int) *node {
	out := &node{shape: mapping, place: b.at(n.GetToken())}
	for _, v := range values {
		key := b.value(v.Key, depth+1)
		if b.problem == nil && key.shape != scalar {
			b.refuse(v.Key, "a key is a word")
		}
		out.entries = append(out.entries, entry{key, b.value(v.Value, depth+1)})
		if b.problem != nil {
			break
		}
	}
	if len(out.entries) > 0 && out.place.Text != "" && !strings.HasPrefix(n.GetToken().Value, "{") {
		out.place = out.entries[0].key.place
	}
	return out
}

func (b *builder) sequence(n *ast.SequenceNode, depth int) *node {
	out := &node{shape: list, place: b.at(n.Start)}
	for _, v := range n.Values {
		out.items = append(out.items, b.value(v, depth+1))
		if b.problem != nil {
			break
		}
	}
	return out
}

func (b *builder) refuse(n ast.Node, message string) *node {
	p := b.source.place(1, 1, 1)
	if n != nil {
		p = b.at(n.GetToken())
	}
	if b.problem == nil {
		b.problem = &Problem{Code: CodeFeature, Message: message, Place: p}
	}
	return &node{shape: null, place: p}
}

func (b *builder) at(t *token.Token) Place {
	if t == nil || t.Position == nil {
		return b.source.place(1, 1, 1)
	}
	width := utf8.RuneCountInString(firstLine(t.Value))
	if t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType {
		width += 2
	}
	return b.source.place(t.Position.Line, t.Position.Column, width)
}
