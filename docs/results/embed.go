// Package results is the comparison that comes with the program: the cells from which docs/results.md is made (`make results`).
package results

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/locktest/locktest/compare"
)

//go:embed cells.jsonl
var cells []byte

// Matrix returns the comparison.
func Matrix() (*compare.Matrix, error) {
	list, err := compare.ReadCells(bytes.NewReader(cells))
	if err != nil {
		return nil, fmt.Errorf("results: cells.jsonl: %w", err)
	}
	return compare.New(list), nil
}
