package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/rotate"
)

// ownFile makes a file that of a user's process, or skips the test where files have no owners.
func ownFile(t *testing.T, path, user string) {
	t.Helper()
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	rotate.Owner{UserID: user, Service: "orders"}.SetOwnerIn(dir, filepath.Base(path))
	if ownerOfFile(t, path).UserID != user {
		t.Skip("the file system of temporary files has no extended attributes")
	}
}

func ownerOfFile(t *testing.T, path string) rotate.Owner {
	t.Helper()
	_, _, owner, ok := inspect(path)
	if !ok {
		t.Fatalf("%s cannot be read", path)
	}
	return owner
}

// TestOwners: logs, recordings and snapshots of a user's exited processes stay while another user's
// exceed the limit, however old they are and whatever the others call themselves.
func TestOwners(t *testing.T) {
	dir := t.TempDir()
	log := func(pid int, user string, age time.Duration) string {
		path := filepath.Join(dir, fmt.Sprintf("orders-%d.json", pid))
		makeFile(t, path, 100, age)
		if user != "" {
			ownFile(t, path, user)
		}
		return path
	}
	victims := []string{log(19, "1001", 99*time.Hour), makeSnapshot(t, dir, stamp("orders", 19, 1))}
	ownFile(t, victims[1], "1001")
	old := log(18, "", 200*time.Hour) // of an earlier gclog
	for i := range 20 {
		log(100+i, "65534", time.Duration(20-i)*time.Hour)
	}
	list := slices.Concat(leftFiles([]string{dir + "/%s-%p.json"}, nil), leftSnapshots(dir, nil))
	deleted := clean(list, config.Retention{Total: 1000}, time.Now())
	if len(deleted) != 13 {
		t.Errorf("%d are deleted, want 13", len(deleted))
	}
	for _, f := range deleted {
		if f.owner.UserID != "65534" {
			t.Errorf("%s of user %q is deleted", f.path, f.owner.UserID)
		}
	}
	for _, path := range append(victims, old) {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// TestOwnerOfLog: a log has the user and the service of its process.
func TestOwnerOfLog(t *testing.T) {
	play(t, "", func(s *stage) {
		a := s.enter(fakeruntime.Config{})
		path := filepath.Join(s.dir, fmt.Sprintf("%d.json", a.target.PID))
		ownFile(t, func() string { p := filepath.Join(s.dir, "x"); makeFile(t, p, 40, 0); return p }(), "1")
		if got := ownerOfFile(t, path); got.UserID != fmt.Sprint(os.Getuid()) || got.Service == "" || got.Account != "" {
			t.Errorf("it is of %+v", got)
		}
	})
}
