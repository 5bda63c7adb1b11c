package session_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
)

// The stream must be read until its end, even after Stop: a runtime whose stream is not read keeps
// its buffers.
func ExampleClient_StartTracing() {
	ctx := context.Background()
	client := session.Client{Dial: func(ctx context.Context) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", "/tmp/dotnet-diagnostic-4711-8051-socket")
	}}
	stream, err := client.StartTracing(ctx, session.Config{
		BufferMB:  16,
		Providers: []session.Provider{{Name: "Microsoft-Windows-DotNETRuntime", Keywords: 1, Level: 4}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()
	time.AfterFunc(time.Minute, func() { _ = stream.Stop(ctx) })
	r := parse.NewReader(stream, parse.All)
	for r.Scan() {
		if e := r.Event(); e != nil {
			fmt.Println(e.Meta.EventID, len(e.Payload))
		}
	}
	if err := r.Err(); err != nil {
		log.Fatal(err)
	}
}

// A runtime that is started with this environment connects to the port before its first collection, and
// waits until it is resumed.
func ExampleListen() {
	port, err := session.Listen("/run/tool.sock", 100)
	if err != nil {
		log.Fatal(err)
	}
	defer port.Close()
	fmt.Println("start it with DOTNET_DiagnosticPorts=" + session.Environment("/run/tool.sock", true))
	for {
		peer, err := port.Next(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("process", peer.PID)
		if err := peer.Resume(context.Background()); err != nil {
			log.Print(err)
		}
	}
}

// Which ports does a runtime wait for at its start?
func ExampleSuspendingPorts() {
	ports := session.Environment("/run/first.sock", true) + ";" + session.Environment("/run/second.sock", false)
	fmt.Println(session.SuspendingPorts(map[string]string{"DOTNET_DiagnosticPorts": ports}))
	// Output: [/run/first.sock]
}
