package analyse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/report"
	"github.com/gclog/gclog/internal/view"
)

// The picture of a report: a browser draws it.

// browsers are the names of programs that can, and where they are if they are not in the path.
var browsers = map[string][]string{
	"linux": {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge"},
	"darwin": {
		"chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		"/Applications/Chromium.app/Contents/MacOS/Chromium",
		"/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
	},
	"windows": {
		"chrome", "chromium", `C:\Program Files\Google\Chrome\Application\chrome.exe`,
		`C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe`,
	},
}

// findBrowser returns the path of a browser.
func findBrowser() (string, error) {
	for _, name := range browsers[runtime.GOOS] {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", exit.Usagef("--png needs Chromium or Chrome, and there is none in PATH: install it (apt install " +
		"chromium), or open the page of -o report.html in a browser")
}

// drawingTime is how long a browser may take.
const drawingTime = 2 * time.Minute

func (p *commands) writePicture(ctx context.Context, browser, path string, d *report.Data) error {
	if !d.History {
		return exit.Usagef("--png shows pauses and the heap over time, which heap snapshots do not contain")
	}
	dir, err := os.MkdirTemp("", "gclog-report-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	picture, err := drawn(ctx, browser, dir, d)
	if err != nil {
		return fmt.Errorf("%s cannot draw the picture: %w", browser, err)
	}
	return results.Write(p.Run, path, view.Counted(d.Collected, "collection"), func(w io.Writer) error {
		_, err := w.Write(picture)
		return err
	})
}

// drawn returns the picture as PNG.
func drawn(ctx context.Context, browser, dir string, d *report.Data) ([]byte, error) {
	var page bytes.Buffer
	if err := d.WritePicture(&page); err != nil {
		return nil, err
	}
	from, to := filepath.Join(dir, "picture.html"), filepath.Join(dir, "picture.png")
	if err := os.WriteFile(from, page.Bytes(), 0o600); err != nil {
		return nil, err
	}
	args := []string{
		"--headless", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir=" + filepath.Join(dir, "profile"), "--force-device-scale-factor=2",
		fmt.Sprintf("--window-size=%d,%d", report.PictureWidth, report.PictureHeight), "--virtual-time-budget=20000",
		"--screenshot=" + to,
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // it refuses to start as root otherwise
	}
	ctx, cancel := context.WithTimeout(ctx, drawingTime)
	defer cancel()
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(from)}
	out, err := exec.CommandContext(ctx, browser, append(args, u.String())...).CombinedOutput()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("it did not end within %v", drawingTime)
	}
	picture, missing := os.ReadFile(to)
	if err == nil && missing == nil && bytes.HasPrefix(picture, []byte("\x89PNG")) {
		return picture, nil
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return nil, errors.Join(err, errors.New(view.OneLine(lines[len(lines)-1])))
}
