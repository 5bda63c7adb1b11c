package session

// WithoutPidfd and WithoutStat make a watch as it is where the kernel does not tell so
// much.
func (w *Watch) WithoutPidfd() { closeFile(&w.pidfd) }

func (w *Watch) WithoutStat() { closeFile(&w.stat) }

// IdentifiedBy is what is known of a process with these control groups and mounts.
func IdentifiedBy(groups, mounts string) *Process {
	p := &Process{}
	p.identifyByGroups([]byte(groups))
	p.identifyByMounts([]byte(mounts))
	return p
}

// PathBelow is the way from the folder that a mount shows to a control group.
func PathBelow(root, path string) ([]string, bool) { return pathBelow(root, path) }

// ScannerOf returns a scanner of what looks like /proc.
func ScannerOf(dir string) (*Scanner, error) { return newScanner(dir) }

// WhyNoSocket is what is said of a process if its socket could not be found just now.
func WhyNoSocket(pid int) error {
	p, err := readProcess(pid)
	if err != nil {
		return err
	}
	return p.whyNoSocket(nil)
}

// TempDirTrouble is what is said of it if it could not be found a second time.
func TempDirTrouble(pid int) (kind string) {
	p, err := readProcess(pid)
	if err != nil {
		return err.Error()
	}
	kind, _ = p.tempDirTrouble()
	return kind
}
