package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"

	"webhooklab/lab/inbox"
	"webhooklab/lab/webhook"
)

// serveFile is what a configuration of lab serve may say.
type serveFile struct {
	Listen      setting      `yaml:"listen"`
	Metrics     setting      `yaml:"metrics"`
	Database    setting      `yaml:"database"`
	Pool        setting      `yaml:"pool"`
	Acquire     setting      `yaml:"acquire"`
	Connections setting      `yaml:"connections"`
	Workers     setting      `yaml:"workers"`
	Shutdown    setting      `yaml:"shutdown"`
	Limits      serveLimits  `yaml:"limits"`
	Routes      []serveRoute `yaml:"routes"`
}

type serveLimits struct {
	Body       setting `yaml:"body"`
	Read       setting `yaml:"read"`
	Work       setting `yaml:"work"`
	RetryAfter setting `yaml:"retry_after"`
}

type serveRoute struct {
	Path     setting   `yaml:"path"`
	Source   setting   `yaml:"source"`
	Provider setting   `yaml:"provider"`
	Body     setting   `yaml:"body"`
	Receiver setting   `yaml:"receiver"`
	Batch    setting   `yaml:"batch"`
	Secrets  []setting `yaml:"secrets"`
	Types    []setting `yaml:"types"`
}

// serveConfig is a configuration that was found good.
type serveConfig struct {
	listen, metrics   string
	database          string
	pool, connections int
	workers           int
	acquire, shutdown time.Duration
	limits            webhook.Limits
	routes            []routeConfig
}

// readServeConfig reads a file and whatever its secrets stand in. Its error has a line for each
// fault: where it is, what is wrong and what to write instead. Nothing of a secret is in it.
func readServeConfig(path string, disposable bool) (serveConfig, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return serveConfig{}, fmt.Errorf("read the configuration: %w", err)
	}
	file, lines, err := parseServeFile(path, text)
	if err != nil {
		return serveConfig{}, err
	}
	f := &faults{file: path}
	c := serveConfig{
		listen:      file.Listen.or("127.0.0.1:8080"),
		metrics:     file.Metrics.text,
		pool:        f.count("pool", file.Pool, 1000),
		connections: f.count("connections", file.Connections, 100_000),
		workers:     f.count("workers", file.Workers, 100),
		acquire:     f.duration("acquire", file.Acquire),
		shutdown:    f.duration("shutdown", file.Shutdown),
		limits: webhook.Limits{
			BodyBytes:   int64(f.count("limits.body", file.Limits.Body, inbox.MaxBodyBytes)),
			ReadTimeout: f.duration("limits.read", file.Limits.Read),
			WorkTimeout: f.duration("limits.work", file.Limits.Work),
			RetryAfter:  f.duration("limits.retry_after", file.Limits.RetryAfter),
		},
	}
	c.setDefaults()
	switch {
	case disposable:
	case file.Database.line == 0:
		f.add(1, "database is missing: write env:NAME of a variable that holds a postgres:// URL, "+
			"or start with --disposable")
	default:
		c.database = f.secret("database", file.Database)
	}
	if len(file.Routes) == 0 {
		f.add(1, "routes is missing: without one nothing can be delivered")
	}
	taken := map[string]bool{"/healthz": true, "/readyz": true}
	for i, route := range file.Routes {
		c.routes = append(c.routes, f.route(route, lines[i]))
		if taken[route.Path.text] {
			f.add(route.Path.line, "path: %q is taken already: choose another", route.Path.text)
		}
		taken[route.Path.text] = route.Path.text != ""
	}
	return c, f.err()
}

func (c *serveConfig) setDefaults() {
	if c.pool == 0 {
		c.pool = 10
	}
	if c.connections == 0 {
		c.connections = 512
	}
	if c.shutdown == 0 {
		c.shutdown = 30 * time.Second
	}
}

// parseServeFile gives the file and the line where each route begins.
func parseServeFile(path string, text []byte) (serveFile, []int, error) {
	var file serveFile
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return file, nil, yamlFaults(path, err)
	}
	var places struct {
		Routes []yaml.Node `yaml:"routes"`
	}
	if err := yaml.Unmarshal(text, &places); err != nil {
		return file, nil, yamlFaults(path, err)
	}
	var lines []int
	for _, place := range places.Routes {
		lines = append(lines, place.Line)
	}
	return file, lines, nil
}

var (
	unknownSetting = regexp.MustCompile(`^line (\d+): field (\S+) not found in type .*$`)
	wrongShape     = regexp.MustCompile(`^line (\d+): cannot unmarshal .* into .*$`)
	anyFault       = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
)

// yamlFaults says in the file's own terms what the YAML reader says in Go's. It repeats names of
// settings and no values.
func yamlFaults(path string, err error) error {
	said := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		said = several.Errors
	}
	f := &faults{file: path}
	for _, text := range said {
		if m := unknownSetting.FindStringSubmatch(text); m != nil {
			f.add(atoi(m[1]), "there is no setting %q here: see lab serve --help", m[2])
		} else if m := wrongShape.FindStringSubmatch(text); m != nil {
			f.add(atoi(m[1]), "this has another form than the setting wants: "+
				"see lab serve --help")
		} else if m := anyFault.FindStringSubmatch(text); m != nil {
			f.add(atoi(m[1]), "%s", m[2])
		} else {
			f.add(1, "%s", text)
		}
	}
	return f.err()
}

// atoi reads digits that a regular expression has found.
func atoi(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
