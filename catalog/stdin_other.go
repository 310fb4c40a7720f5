//go:build !unix

package catalog

import "os"

func stdin() *os.File { return os.Stdin }
