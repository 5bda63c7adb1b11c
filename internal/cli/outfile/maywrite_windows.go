package outfile

// mayWrite returns nil: here it is unknown until it is tried.
func mayWrite(string) error { return nil }
