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
	r.paragraph("A YAML file. The daemon reads the file given with -c, otherwise that of the variable " + config.FileVariable + ", otherwise " + config.DefaultFile +
		" if it exists. Parsing is strict: an unknown key, a duplicate key or a value of the wrong type is an error with line and column, and the whole file is rejected.")
	r.paragraph("Flags override environment variables, which override the file, which overrides the defaults. SIGHUP reloads the file; an invalid file changes nothing.")
	r.paragraph("Durations are written as 200ms, 3s, 5m, 12h, 14d or sums of these. Sizes are bytes, or a number with K, M or G (powers of 1024). In patterns, * matches anything and ? one character; case is ignored. Text that YAML would read as another type needs quotes.")
	r.section("KEYS")
	r.paragraph("[] stands for the index of a list element, which is 0 in the variable names here.")
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
	r.paragraph("The elements of discovery.include, discovery.exclude and outputs[].only, and services[].match, have these keys. A rule matches if all of its keys match; a list matches if one of its rules does. In services, the first matching rule applies.")
	for _, k := range config.MatchKeys() {
		r.tagged(bold(k.Path), k.About+". Example: "+k.Example)
	}
	r.section("EXAMPLES")
	r.verbatim(manConfigExample)
	r.section("SEE ALSO")
	r.b.WriteString(bold("gclog-daemon") + "(1),\n" + bold("gclog-config") + "(1)\n")
	return r.String()
}
