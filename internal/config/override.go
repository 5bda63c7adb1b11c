package config

// Override applies what flags say on top of everything else: outputs replace those of the
// configuration, diagnostic ports to listen on are added. Empty lists override nothing. The error
// joins everything that is wrong.
func (l *Loaded) Override(outputs, listen []string) error {
	x := &loader{file: l.File, origins: l.origins}
	if len(outputs) > 0 {
		l.Outputs = nil
	}
	for i, path := range outputs {
		o := defaultOutput()
		if _, err := parsePath(path); err != nil {
			x.wrong(origin{}, "--output "+path, "%v", err)
			continue
		}
		o.Path = path
		l.Outputs = append(l.Outputs, o)
		l.origins[item("outputs", i)+".path"] = origin{variable: "--output"}
	}
	for _, path := range listen {
		if _, err := parseSocket(path); err != nil {
			x.wrong(origin{}, "--listen "+path, "%v", err)
			continue
		}
		l.origins[item("discovery.listen", len(l.Discovery.Listen))] = origin{variable: "--listen"}
		l.Discovery.Listen = append(l.Discovery.Listen, path)
	}
	l.complete()
	if len(x.problems) == 0 {
		l.check(x)
	}
	if len(x.problems) > 0 {
		return x.err()
	}
	return nil
}
