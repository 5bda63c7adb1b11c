package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretPrinted: no way to print a secret shows more than where it is, or its host.
func TestSecretPrinted(t *testing.T) {
	for s, want := range map[Secret]string{
		"":                          "",
		"geheim":                    "***",
		"Bearer geheim":             "***",
		"://geheim":                 "***",
		"https://":                  "***",
		"ftp://geheim@h/":           "***",
		"http://localhost:4318":     "http://localhost:4318",
		"http://localhost:4318/":    "http://localhost:4318",
		"https://geheim@h:1":        "https://***@h:1",
		"https://u:geheim@h/geheim": "https://***@h/***",
		"https://h?geheim":          "https://h/***",
		"https://h/#geheim":         "https://h/***",
		"file:/etc/gclog/token":     "file:/etc/gclog/token",
		"env:TOKEN":                 "env:TOKEN",
	} {
		text, err := json.Marshal(s)
		var again string
		if err == nil {
			err = json.Unmarshal(text, &again)
		}
		for _, got := range []string{s.String(), fmt.Sprint(s), fmt.Sprintf("%#v", s), again} {
			if got != want || err != nil {
				t.Errorf("%q, want %q, %v", got, want, err)
			}
		}
		if all := fmt.Sprintf("%v %+v", WebhookAction{URL: s}, map[string]Secret{"a": s}); strings.Contains(all, "geheim") {
			t.Error(all)
		}
	}
}

// TestSecretValue: a file is read each time, without the end of its line.
func TestSecretValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	s := Secret("file:" + path)
	for text, want := range map[string]string{"a": "a", " a b \n": " a b ", "a\r\n": "a", "a\n\n": "a"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Value(); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{"": "is empty", "\n": "is empty", strings.Repeat("geheim", 20_000): "larger than 64 KB"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Value(); got != "" || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q, %v", got, err)
		}
	}
	if _, err := Secret("file:" + filepath.Dir(path)).Value(); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	t.Setenv("GCLOG_IGNORE", "geheim")
	for s, want := range map[Secret]string{"env:GCLOG_IGNORE": "geheim", "x": "x", "": ""} {
		if got, err := s.Value(); got != want || err != nil {
			t.Errorf("%s: %q, %v", s, got, err)
		}
	}
}

// TestSecretContents: what a file has must be what the key needs, and the error has none of it.
func TestSecretContents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	l := mustLoad(t, fmt.Sprintf("otlp: {endpoint: 'file:%s'}\n", path))
	for text, want := range map[string]string{"http://geheim.example": "", "geheim": "it is not the URL of a collector", "env:geheim": "contains a reference"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, err := range l.checkSecrets() {
			got += err.Error()
		}
		if !strings.Contains(got, want) || (got == "") != (want == "") || strings.Contains(got, "geheim") || want != "" && !strings.Contains(got, "otlp.endpoint: ") {
			t.Errorf("%s: %q", text, got)
		}
	}
}
