// Package tidy is the house rules, as tests: which package may import which, what a function's length is, and what has to
// stand beside what. It has no code of its own.
package tidy
