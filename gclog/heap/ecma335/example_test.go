package ecma335_test

import (
	"fmt"
	"log"
	"os"

	"github.com/gclog/gclog/gclog/heap/ecma335"
)

// Which static fields does an assembly have?
func ExampleAssembly_Statics() {
	f, err := os.Open("testdata/tiny.dll")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		log.Fatal(err)
	}
	a, err := ecma335.Open(f, info.Size())
	if err != nil {
		log.Fatal(err)
	}
	for field, err := range a.Statics() {
		if err != nil {
			log.Fatal(err)
		}
		class, err := a.Path(field.Owner)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(ecma335.FullName(class) + "." + field.Name)
	}
	// Output:
	// N.Plain.text
	// N.Plain.plain
	// N.Plain.list
	// N.Plain.id
	// N.Plain.face
	// N.Publisher.Shared
}
