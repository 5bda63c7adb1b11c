package formats

// An Account is the user and group that files are written as. The zero value means gclog's own.
type Account struct{ UID, GID uint32 }
