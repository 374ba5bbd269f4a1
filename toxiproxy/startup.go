package toxiproxy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Codes of the packets that may open a connection.
const (
	codeCancel = 80877102
	codeTLS    = 80877103
	codeGSS    = 80877104
)

// maxStartup bounds a start-up packet, in bytes, as PostgreSQL does.
const maxStartup = 10000

// tlsHandshake is the first byte of a TLS record that opens a connection.
const tlsHandshake = 0x16

// greeting is the packet after which a connection knows what it is.
type greeting struct {
	packet []byte
	cancel bool
}

// refusal is why a connection is turned away by name, with the SQLSTATE its client is told.
type refusal struct {
	sqlState string
	reason   string
}

func (r *refusal) Error() string { return r.reason }

// greet reads the client's start-up phase. Encryption is answered "no": a wire that can't read
// the stream would never fire. It fails with a *refusal, or with the client's read error.
func (c *connection) greet() (greeting, error) {
	encryption := ""
	for range 3 { // GSSAPI, TLS, start-up
		packet, err := c.packet()
		if encryption != "" && errors.Is(err, io.EOF) {
			err = &refusal{"", "its client asked for " + encryption + " and left when it was " +
				"refused; connect with sslmode=disable, or prefer"}
		}
		if err != nil {
			return greeting{}, err
		}
		switch code := binary.BigEndian.Uint32(packet[4:]); {
		case code == codeTLS:
			encryption = "TLS"
		case code == codeGSS:
			encryption = "GSSAPI encryption"
		case code == codeCancel:
			return greeting{packet, true}, nil
		case code>>16 != 3:
			return greeting{}, &refusal{"0A000", fmt.Sprintf(
				"its client speaks protocol %d.%d, this wire only 3", code>>16, code&0xffff)}
		default:
			return greeting{packet: packet}, replication(packet)
		}
		if _, err := c.client.net.Write([]byte{'N'}); err != nil {
			return greeting{}, fmt.Errorf("refuse %s: %w", encryption, err)
		}
	}
	return greeting{}, &refusal{"08P01", "its client asks for encryption again and again"}
}

// packet reads one untyped packet and not a byte more.
func (c *connection) packet() ([]byte, error) {
	packet := make([]byte, 8)
	if _, err := io.ReadFull(c.client.net, packet[:1]); err != nil {
		return nil, err
	}
	if packet[0] == tlsHandshake {
		return nil, &refusal{"", "its client speaks TLS, which this wire can't read; " +
			"connect with sslmode=disable"}
	}
	if err := c.rest(packet[1:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(packet)
	if size < 8 || size > maxStartup {
		return nil, &refusal{"08P01", fmt.Sprintf(
			"its client opens with a packet of %d bytes, which is no PostgreSQL start-up", size)}
	}
	packet = append(packet, make([]byte, size-8)...)
	if err := c.rest(packet[8:]); err != nil {
		return nil, err
	}
	return packet, nil
}

// rest reads what must follow.
func (c *connection) rest(b []byte) error {
	_, err := io.ReadFull(c.client.net, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &refusal{"", "its client left in the middle of its start-up packet"}
	}
	return err
}

// replication refuses a start-up packet that asks for a replication connection.
func replication(packet []byte) error {
	for b := (body{rest: packet[8:]}); ; {
		name := b.text()
		value := b.text()
		if name == "" || b.err != nil {
			return nil // an ill-formed list is the server's to refuse
		}
		if name == "replication" && !off(value) {
			return &refusal{"0A000", "its client asks for a replication connection, " +
				"which this wire can't follow; connect to the server directly"}
		}
	}
}

func off(value string) bool {
	switch strings.ToLower(value) {
	case "false", "off", "no", "0", "f", "n":
		return true
	}
	return false
}

// cancel carries a CancelRequest to the server over a connection of its own, and closes the
// client's end once the server has closed: that is how a client knows it was looked at.
func (c *connection) cancel(packet []byte) error {
	server, err := c.proxy.dial()
	if err != nil {
		return err
	}
	if !c.adopt(server) {
		return server.Close()
	}
	if _, err := server.Write(packet); err != nil {
		return fmt.Errorf("send a CancelRequest to %s: %w", c.proxy.config.Upstream, err)
	}
	_, err = io.Copy(io.Discard, server)
	return err
}

// errorResponse is a FATAL error in the server's own form.
func errorResponse(sqlState, text string) []byte {
	fields := "SFATAL\x00VFATAL\x00C" + sqlState + "\x00M" + text + "\x00\x00"
	m := binary.BigEndian.AppendUint32([]byte{'E'}, uint32(len(fields)+4))
	return append(m, fields...)
}
