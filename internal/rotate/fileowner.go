package rotate

import (
	"cmp"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/gclog/gclog/gclog"
)

// An Owner is the process that a file is about, as far as it matters for whose files are deleted first.
// It is kept in an attribute of the file: names and contents come from processes, which can imitate
// others, and an attribute stays with the file when it is renamed and when gclog is restarted. Empty:
// unknown, as for files of earlier versions, and where a file system has no attributes.
type Owner struct {
	UserID  string // who answers for the user of the process: gclog.Process.PrincipalID
	Service string // or its name; any other process can have the same one
	// Account is the user that the file belongs to, if that is neither root nor gclog's user: it could
	// have written the rest itself.
	Account string
}

// OwnerOf returns the Owner of the files of a process, which may be nil.
func OwnerOf(p *gclog.Process) Owner {
	if p == nil {
		return Owner{}
	}
	o := Owner{UserID: cmp.Or(p.PrincipalID, p.UserID), Service: p.Service}
	if o.Service == "" {
		o.Service = p.Name
	}
	return o
}

// mostService is the most bytes of the name of a service in an attribute.
const mostService = 200

// SetOwner records whose a file is, if the file system can. Nothing is recorded of an unknown user.
func (o Owner) SetOwner(f *os.File) {
	if o.UserID != "" {
		setOwnerAttribute(f, o.UserID+" "+o.Service[:min(len(o.Service), mostService)])
	}
}

// SetOwnerIn is SetOwner for a file in a directory that belongs to gclog.
func (o Owner) SetOwnerIn(dir *os.Root, name string) {
	if f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
		o.SetOwner(f)
		_ = f.Close()
	}
}

// FileOwner returns the Owner of an open file.
func FileOwner(f *os.File, info fs.FileInfo) Owner {
	user, service, _ := strings.Cut(ownerAttribute(f), " ")
	return Owner{UserID: user, Service: service, Account: accountOf(info)}
}
