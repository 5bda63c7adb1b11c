//go:build linux

package check_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/rs/zerolog"
)

// isStepped is the environment variable that makes this program a daemon with a clock of its own.
// Its value is the configuration.
const isStepped = "GCLOG_TEST_STEPPED"

// steppedDaemon is gclog daemon except for its clock: a file says how far that is ahead. A test
// must not set the machine's clock.
func steppedDaemon(file, clock string) int {
	load := func() (*config.Loaded, error) { return config.Load(file, nil) }
	loaded, err := load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	o := daemon.Options{
		Config: loaded, Load: load, Log: zerolog.New(os.Stderr).With().Timestamp().Logger(), Session: rand.Text(), Host: "test", Explain: doctor.Explain,
		ClockOffset: func() time.Duration { return readClock(clock) },
		Reload:      on(syscall.SIGHUP), Rotate: on(syscall.SIGUSR1), Status: on(syscall.SIGUSR2),
	}
	if err := os.WriteFile(isReady(clock), nil, 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := daemon.New(o).Run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// isReady returns the file that such a daemon creates when it can receive signals.
func isReady(clock string) string { return clock + ".ready" }

// on returns a channel that receives a value for each signal.
func on(s os.Signal) <-chan struct{} {
	caught, signals := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(caught, s)
	go func() {
		for range caught {
			signals <- struct{}{}
		}
	}()
	return signals
}

// readClock returns how far a clock is ahead.
func readClock(path string) time.Duration {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	d, err := time.ParseDuration(string(b))
	if err != nil {
		panic(err)
	}
	return d
}

// setClock sets how far a clock is ahead.
func setClock(path string, ahead time.Duration) error { return replace(path, ahead.String()) }

// replace writes a file atomically: a reader sees either the old content or the new.
func replace(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
