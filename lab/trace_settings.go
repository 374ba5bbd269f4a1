package lab

import (
	"maps"
	"net/url"
	"slices"
)

// settings are the run-time parameters by which the session differs from the lab, sorted by name.
func (s *Session) settings() (own []Setting) {
	u, err := url.Parse(s.dsn)
	base, baseErr := url.Parse(s.lab.cfg.DSN)
	if err != nil || baseErr != nil {
		return nil
	}
	with, without := u.Query(), base.Query()
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if name != "sslmode" && with.Get(name) != without.Get(name) {
			own = append(own, Setting{name, with.Get(name)})
		}
	}
	return own
}
