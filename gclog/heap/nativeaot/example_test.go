package nativeaot_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog/heap/nativeaot"
)

// A script is no program that the native compiler has made.
func ExampleOpen() {
	script := strings.NewReader("#!/bin/sh\nexec dotnet shop.dll\n")
	_, err := nativeaot.Open(script, script.Size())
	fmt.Println(errors.Is(err, nativeaot.ErrNoProgram))
	// Output: true
}
