package session

// A Host finds the processes of this host and looks at them. Its zero value can be used.
//
// A look can wait in the kernel for as long as it pleases somebody else: for a file system of the
// network that is down, or for one that a hostile process serves. So each has a deadline, and those
// that do not end are counted and bounded: see Stuck. That is enough for who looks, and not for the
// program that does: it cannot end before they have. With a Helper it can.
type Host struct {
	// Helper are the arguments, from the name of the program on, by which this very program knows
	// that it shall call ServeHelper. It is run so where a file system of a process may not answer,
	// and left behind if one does not. nil: the Host looks at all of them itself. Only Linux needs it.
	Helper []string

	state hostState
}
