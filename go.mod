module github.com/gclog/gclog

go 1.26.0

require (
	github.com/Microsoft/go-winio v0.6.4
	github.com/prometheus/procfs v0.23.0
	golang.org/x/sys v0.49.0
	gopkg.in/natefinch/lumberjack.v2 v2.2.1
)
