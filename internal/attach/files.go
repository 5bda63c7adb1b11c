package attach

// SessionFiles is about how many files a Session has open: its stream; four that tell how
// the process ends; what it and its control group have of memory, and a limit for that
// group and each above it, of which a container in Kubernetes has three or four.
const SessionFiles = 12
