package formats

// An Account is a user and a group that a file is written as. The zero value is those of gclog.
type Account struct{ UID, GID uint32 }
