package flawed

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"webhooklab/lab"
)

// encode writes a delivery as the body that a provider would send, keeping broken texts broken.
func encode(d lab.Delivery) []byte {
	var b bytes.Buffer
	b.WriteString(`{"event_id":`)
	b.Write(quoted(d.EventID))
	b.WriteString(`,"object_id":`)
	b.Write(quoted(d.ObjectID))
	b.WriteString(`,"revision":`)
	number, _ := json.Marshal(d.Revision) // an integer always marshals
	b.Write(number)
	b.WriteString(`,"snapshot":`)
	b.Write(d.Snapshot)
	b.WriteString(`}`)
	return b.Bytes()
}

func quoted(text string) []byte {
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.Bytes()
}

func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
