package logs_test

import (
	"fmt"
	"log"
	"os"

	"github.com/gclog/gclog/formats/logs"
)

// Is a file a log of gclog, and in which format?
func ExampleRecognize() {
	text, err := os.ReadFile("../testdata/golden/net9-wks-attach.json")
	if err != nil {
		log.Fatal(err)
	}
	head, ok := logs.Recognize(text[:min(len(text), logs.HeadSize)])
	fmt.Println(ok, head.Format)
	// Output: true json
}
