package cli

import "github.com/gclog/gclog/internal/config"

// manConfigExample is a complete configuration; a test checks that it is valid.
const manConfigExample = `version: 1
services:
  - match: {process: "orders*"}
    name: orders
    level: full
labels: {env: prod}
outputs:
  - path: /var/log/gclog/%s-%p.json
  - xlog: "gc*:file=/var/log/gclog/%n-%p.gc.log:time,uptime,level,tags"
    only: [{service: orders}]
retention: {total: 5G, age: 14d}`

// configPage returns gclog.yaml(5), generated from the table of keys.
func (p *program) configPage() string {
	r := newRoff("gclog.yaml", 5, p.version())
	r.title("gclog.yaml", "configuration of gclog's daemon")
	r.section("SYNOPSIS")
	r.b.WriteString(italic(config.DefaultFile) + "\n")
	r.section("DESCRIPTION")
	r.paragraph("A YAML file. The daemon reads the one that -c names, else that of the variable " + config.FileVariable + ", else " + config.DefaultFile +
		" if it is there. It is read strictly: what is unknown, given twice or of the wrong kind is an error, with line and column, and nothing of the file counts then.")
	r.paragraph("Flags come before variables of the environment, those before the file, and that before the defaults. SIGHUP has the file read again; one that is wrong changes nothing.")
	r.paragraph("Durations are 200ms, 3s, 5m, 12h, 14d and sums of them. Sizes are bytes, or a number with K, M or G, each 1024 times the one before. In patterns * stands for anything and ? for one letter; upper and lower case are the same. Text that YAML takes for something else needs quotes.")
	r.section("KEYS")
	r.paragraph("[] stands for the number of an element of a list, which is 0 in the names of variables here.")
	for _, k := range config.Keys() {
		about := k.About + "."
		if k.Default != "" {
			about += " Default: " + k.Default
		} else {
			about += " Example: " + k.Example
		}
		r.tagged(bold(k.Path), about)
		r.b.WriteString(".br\n" + italic(k.Variable) + "\n")
	}
	r.section("RULES")
	r.paragraph("Elements of discovery.include, discovery.exclude and outputs[].only, and services[].match, have these keys. A rule fits if all that are given do; a list, if one of its rules does. In services the first rule that fits counts.")
	for _, k := range config.MatchKeys() {
		r.tagged(bold(k.Path), k.About+". Example: "+k.Example)
	}
	r.section("EXAMPLES")
	r.verbatim(manConfigExample)
	r.section("SEE ALSO")
	r.b.WriteString(bold("gclog-daemon") + "(1),\n" + bold("gclog-config") + "(1)\n")
	return r.String()
}
