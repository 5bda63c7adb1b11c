package node

func daemonSignals() (rotate, status <-chan struct{}, release func()) {
	return nil, nil, func() {}
}
