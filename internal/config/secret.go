package config

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/gclog/gclog/internal/cause"
)

// A Secret is a value that must not be printed, or a reference to it: file:PATH or env:NAME. Printing
// it shows a reference, of a URL the host, and *** for the rest.
type Secret string

const (
	fileReference = "file:"
	envReference  = "env:"
	hidden        = "***"
	// maxSecret is the maximum length of a file with a secret, in bytes.
	maxSecret = 64 << 10
)

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" || s.isReference() {
		return string(s)
	}
	u, err := url.Parse(string(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return hidden
	}
	text := u.Scheme + "://"
	if u.User != nil {
		text += hidden + "@"
	}
	text += u.Host
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		text += "/" + hidden
	}
	return text
}

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return s.String() }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s Secret) isReference() bool {
	return strings.HasPrefix(string(s), fileReference) || strings.HasPrefix(string(s), envReference)
}

// Value returns the secret. A file is read each time, without the newline at its end. The error does
// not have the secret.
func (s Secret) Value() (value string, err error) {
	if path, ok := strings.CutPrefix(string(s), fileReference); ok {
		return readSecret(path)
	}
	if name, ok := strings.CutPrefix(string(s), envReference); ok {
		if value = os.Getenv(name); value == "" {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return value, nil
	}
	return string(s), nil
}

func readSecret(path string) (string, error) {
	f, err := openRegular(path)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, cause.Of(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch text := strings.TrimRight(string(b), "\r\n"); {
	case err != nil:
		return "", fmt.Errorf("cannot read %s: %w", path, cause.Of(err))
	case len(b) > maxSecret:
		return "", fmt.Errorf("%s is larger than %d KB: it is probably another file", path, maxSecret>>10)
	case text == "":
		return "", fmt.Errorf("%s is empty: write a secret into it", path)
	default:
		return text, nil
	}
}

// openRegular opens a regular file. What takes its place in the meantime is not waited for, such as a
// pipe that nobody writes to.
func openRegular(path string) (*os.File, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a device may do something
		return nil, cmp.Or(err, errIrregular)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, cmp.Or(err, errIrregular)
	}
	return f, nil
}

var errIrregular = errors.New("it is not a regular file")

// secretKind makes a kind that of secrets: of values that its parse accepts, whose errors must not
// have them, and references.
func secretKind(k kind) kind {
	parse := k.parse
	k.secret, k.print = true, func(v any) string { return string(v.(Secret)) }
	k.parse = func(s string) (any, error) {
		for _, prefix := range []string{fileReference, envReference} {
			if to, ok := strings.CutPrefix(s, prefix); ok {
				if _, err := parseLine(to); err != nil {
					return Secret(""), fmt.Errorf("%s needs a name, such as %s/etc/gclog/token or %sTOKEN",
						prefix, fileReference, envReference)
				}
				return Secret(s), nil
			}
		}
		_, err := parse(s)
		return Secret(s), err
	}
	return k
}

// secrets calls f for each secret that is given.
func (c *Config) secrets(f func(path string, k *kind, s Secret)) {
	var walk func(v reflect.Value, x field, path string)
	walk = func(v reflect.Value, x field, path string) {
		switch v.Kind() {
		case reflect.Struct:
			for _, x := range fields(v.Type()) {
				walk(v.Field(x.index), x, join(path, x.key))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), x, item(path, i))
			}
		case reflect.Map:
			keys := v.MapKeys()
			slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, k := range keys {
				walk(v.MapIndex(k), x, join(path, k.String()))
			}
		default:
			if s, ok := reflect.TypeAssert[Secret](v); ok && s != "" {
				f(path, x.kind, s)
			}
		}
	}
	walk(reflect.ValueOf(c).Elem(), field{}, "")
}

// checkSecrets returns a problem for each secret that cannot be used on this host, and warns of those
// in files that every user can read.
func (c *Loaded) checkSecrets() (problems []error) {
	inFile := 0
	c.secrets(func(path string, k *kind, s Secret) {
		at := c.origins[path]
		value, err := s.Value()
		if err == nil && s.isReference() {
			if Secret(value).isReference() {
				err = fmt.Errorf("%s contains a reference: write the value itself into it", s)
			} else if _, wrong := k.parse(value); wrong != nil {
				err = fmt.Errorf("%s: %w", s, wrong)
			}
		}
		if err != nil {
			problems = append(problems, problem{at, path, err.Error()})
		}
		if file, ok := strings.CutPrefix(string(s), fileReference); ok {
			c.warnReadable(path, file)
		}
		if !s.isReference() && strings.Contains(s.String(), hidden) && at.file != "" {
			if inFile++; inFile == 1 && readableByAll(at.file) {
				c.warn(path, "every user of this host can read this secret: chmod o-r the file, or set it to "+
					"file:PATH or env:NAME")
			}
		}
	})
	c.warnReadable("otlp.client_key", c.OTLP.ClientKey)
	c.warnReadable("http.web_config", c.HTTP.WebConfig)
	return problems
}

// warnReadable warns if every user can read the file that a key names.
func (c *Loaded) warnReadable(path, file string) {
	if file != "" && readableByAll(file) {
		c.warn(path, "every user of this host can read %s: chmod o-r it", file)
	}
}

// readableByAll reports whether the permissions of a file let every user read it, as far as they say
// that.
func readableByAll(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o004 != 0
}
