// Package metrics tests metrics, rules, alerts with their runbooks, and dashboards with a real
// Prometheus and promtool. "make metrics-test" runs those that need a server. They need Linux.
package metrics
