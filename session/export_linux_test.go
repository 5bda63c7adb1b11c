package session

// Without make a watch as it is where the kernel does not tell so much.

func (w *Watch) WithoutPidfd() { closeFile(&w.pidfd) }
func (w *Watch) WithoutStat()  { closeFile(&w.stat) }
