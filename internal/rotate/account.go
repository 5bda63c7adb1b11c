package rotate

// An Account is a user and a group whose rights gclog uses instead of its own: to the files of an
// output, or for a command. The zero value means gclog's own.
type Account struct{ UID, GID uint32 }
