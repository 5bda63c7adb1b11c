package attach

// SessionFiles is about how many files a Session keeps open: its stream; four that report how the
// process ends; the memory of the process and of its control group, and a limit for that group and
// each of its ancestors, of which a container in Kubernetes has three or four; the threads, the
// pressure on the processors of the group and of the host, and the throttling of one or two groups.
const SessionFiles = 17
