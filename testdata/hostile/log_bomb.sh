#!/bin/bash
# promise: a log from others takes time in proportion to its size, and little memory
# cases: headers jumps pauses backwards
# seconds: 20
. "$(dirname "$0")/lib"
spent() { # KIND LINES COMMAND: seconds of processor time
	"$PYTHON" "$(dirname "$0")/log_bomb.py" "$1" "$2" >"$WORK/log.json"
	"$PYTHON" - "$GCLOG" "$3" "$WORK/log.json" <<'P'
import resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.2f %d" % (r.ru_utime, r.ru_maxrss // 1024))
P
}
for command in summary report; do
	read -r honest _ <<<"$(spent honest 40000 $command)"
	read -r half _ <<<"$(spent "$1" 20000 $command)"
	read -r whole memory <<<"$(spent "$1" 40000 $command)"
	figure "$command: $whole s of processor time and $memory MB for 40000 lines, $half s for half of them; $honest s for a usual log"
	soon "processor time of $command" "$whole" "$(awk "BEGIN { print 4 * $honest + 1 }")"
	soon "time for twice the lines of $command" "$whole" "$(awk "BEGIN { print 3 * $half + 1 }")"
	most "memory of $command" "$memory" 600 MB
done
