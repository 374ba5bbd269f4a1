package postgres

import (
	"os"
	"strings"
)

// DefaultImage is the container image used when neither Config nor LAB_POSTGRES_IMAGE names one:
// a multi-platform index, pinned by digest so that every machine runs the same server.
const DefaultImage = "postgres:16.14" +
	"@sha256:95206741a5b214807675e14165369d05b93a9cf692223b616d07cca227e74b0b"

// prefix begins the name of every database that the lab creates, and of nothing else.
const prefix = "webhooklab_"

// Profile says how much a server pays for durability.
type Profile int

const (
	// Fast skips fsync and full-page writes. It survives the death of the server's processes
	// and proves nothing about power loss.
	Fast Profile = iota
	// Durable keeps every safe setting and never lives in memory: for crash tests.
	Durable
)

// String is the word that Describe shows.
func (p Profile) String() string {
	if p == Durable {
		return "durable"
	}
	return "fast"
}

// Config says which server Start gives. Its zero value is a fast server of the best kind found.
type Config struct {
	// Mode is auto, container, local or a postgres:// URL. Empty means LAB_POSTGRES, else auto.
	Mode string
	// Profile is Fast or Durable. A server given by URL keeps its own settings.
	Profile Profile
	// Image is the container's image. Empty means LAB_POSTGRES_IMAGE, else DefaultImage.
	Image string
	// LogDir receives the server's log. Empty means a private folder that Stop removes.
	LogDir string
	// Progress is told in words what is being waited for. Nil discards it.
	Progress func(line string)
}

// withDefaults fills what the environment decides, so that the rest of Start reads only Config.
func (c Config) withDefaults() Config {
	c.Mode = firstNonEmpty(c.Mode, os.Getenv("LAB_POSTGRES"), "auto")
	c.Image = firstNonEmpty(c.Image, os.Getenv("LAB_POSTGRES_IMAGE"), DefaultImage)
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	return c
}

// givesDSN tells whether the mode is the URL of a server that someone else runs.
func givesDSN(mode string) bool {
	return strings.HasPrefix(mode, "postgres://") || strings.HasPrefix(mode, "postgresql://")
}

// keepRequested tells whether the user asked for servers to outlive the run.
func keepRequested() bool { return os.Getenv("LAB_KEEP") == "1" }

func firstNonEmpty(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
