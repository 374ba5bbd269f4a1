package postgres

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
)

// HandoverVariable is the environment variable that carries a Handover to a child process.
const HandoverVariable = "LAB_SERVER_HANDOVER"

// handover is what a child process must know to use its parent's server.
type handover struct {
	Kind, Addr, URL, Base, Origin, Owner, Release string
	Profile                                       Profile
	Version                                       int
	Reasons                                       map[Ability]string
	Control, Token                                string
}

// Handover is an opaque text for a child process's LAB_SERVER_HANDOVER. Start in the child then
// attaches to this very server, with the same abilities, and its Stop drops only the databases
// that it created. The text holds the server's password. It is useless once the owner has ended.
func (s *Server) Handover() string {
	h := handover{
		Kind: s.kind, Addr: s.addr, URL: s.url.String(), Base: s.base, Origin: s.origin,
		Owner: s.owner, Release: s.release, Profile: s.profile, Version: s.version,
		Reasons: s.reasons,
	}
	h.Control, h.Token = s.controlPoint()
	text, err := json.Marshal(h)
	if err != nil {
		s.progress("hand the server over: " + err.Error())
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// controlPoint opens the owner's ear at the first handover; a child hands over its owner's.
func (s *Server) controlPoint() (addr, token string) {
	if r, attached := s.engine.(remote); attached {
		return r.addr, r.token
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control == nil {
		c, err := openControl(s)
		if err != nil {
			s.progress("hand the server over: " + err.Error())
			return "", ""
		}
		s.control = c
	}
	return s.control.listener.Addr().String(), s.control.token
}

// attach is the server that the environment hands over; none when it hands over nothing, or when
// Config asks for another: by a mode of its own, or by a durability that the handed one lacks.
func attach(ctx context.Context, cfg Config) (s *Server, err error) {
	text := os.Getenv(HandoverVariable)
	if text == "" || cfg.Mode != "" {
		return nil, nil
	}
	var h handover
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &h)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w; unset it", HandoverVariable, err)
	}
	if cfg.Profile == Durable && h.Profile != Durable {
		return nil, nil
	}
	s = newServer(cfg)
	if s.url, err = url.Parse(h.URL); err != nil {
		return nil, fmt.Errorf("read %s: its URL is broken; unset it", HandoverVariable)
	}
	r := remote{addr: h.Control, token: h.Token}
	s.engine, s.readLog, s.reasons = r, r.readLog, h.Reasons
	s.kind, s.addr, s.base, s.origin = h.Kind, h.Addr, h.Base, h.Origin
	s.owner, s.profile = h.Owner, h.Profile
	if err := s.inspect(ctx); err != nil {
		return nil, fmt.Errorf("attach to the server of %s: %w; its owner may have ended",
			HandoverVariable, err)
	}
	return s, nil
}
