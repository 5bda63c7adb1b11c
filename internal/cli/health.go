package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

func (p *program) healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "tell whether the daemon on this host is ready",
		Description: `Ends with 0 if it is, else with 1 and the reason: for the probe of a container, which
needs neither a shell nor curl then.

Examples:
   gclog health
   gclog health -c /etc/gclog/gclog.yaml
   gclog health --listen 127.0.0.1:9800`,
		Flags: []cli.Flag{
			configFileFlag(),
			&cli.StringFlag{Name: "listen", Usage: "`HOST:PORT` that the daemon listens on, instead of http.listen of its configuration"},
		},
		Action: p.health,
	}
}

// healthTime is how long the daemon may take to answer.
const healthTime = 3 * time.Second

func (p *program) health(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	address := c.String("listen")
	if address == "" {
		loaded, err := readConfig(c)
		if err != nil {
			return &codedError{exitUsage, err}
		}
		if address = loaded.HTTP.Listen; address == "" {
			return usagef("the configuration has no http.listen: there is nothing to ask")
		}
	}
	if _, _, err := net.SplitHostPort(address); err != nil {
		return usagef("--listen %s: it must be HOST:PORT", address)
	}
	answer, err := ready(c.Context, address)
	if err != nil {
		return &codedError{exitSession, err}
	}
	_, err = fmt.Fprintln(p.out, answer)
	return err
}

// ready asks the daemon that listens on an address whether it is ready.
func ready(ctx context.Context, address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return ask(ctx, "http://"+net.JoinHostPort(host, port)+"/readyz")
}

// ask returns the answer to a request, or says what is wrong with it.
func ask(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	client := http.Client{Transport: &http.Transport{Proxy: nil}} // it is this host
	response, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("no daemon answers: %w", err)
	}
	defer response.Body.Close()
	const most = 1 << 10
	body, err := io.ReadAll(io.LimitReader(response.Body, most))
	text, _, _ := strings.Cut(strings.TrimSpace(string(body)), "\n")
	text = oneLine(text)
	switch {
	case err != nil:
		return "", fmt.Errorf("the daemon's answer breaks off: %w", err)
	case response.StatusCode != http.StatusOK:
		return "", fmt.Errorf("%s (HTTP %d)", text, response.StatusCode)
	}
	return text, nil
}
