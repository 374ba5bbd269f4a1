package properties_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/properties"
)

// Whatever bytes come as a body, they are answered: as invalid, and then they leave nothing but a
// refusal, or as what the model says, and then they are stored.
func TestAnyBytes(t *testing.T) {
	law := property{
		law:     "any bytes at all end in invalid or in a stored event",
		percent: 15,
		proof: func(drawn tally) string {
			for _, a := range []lab.Answer{lab.Applied, lab.Invalid} {
				if drawn.answers[a.Outcome] == 0 {
					return "no body was answered " + a.Outcome
				}
			}
			return ""
		},
	}.begin(t)
	s := reference()
	r := s.open(t)
	law.check(t, func(t *rapid.T) {
		bodies := rapid.SliceOfN(rapid.Custom(drawBody), 1, 4).Draw(t, "bodies")
		drawn := sequence{}
		for _, b := range bodies {
			drawn.deliveries = append(drawn.deliveries,
				lab.Delivery{Source: sourceNames()[0], Body: b})
		}
		drawn, sources := drawn.fresh()
		found, err := s.bytes(t.Context(), r, drawn, sources)
		require.NoError(t, err)
		found.none(t, sources)
	})
}

// bytes delivers bodies and judges them by the model and by what is stored, which the model has no
// part in: each acknowledged body has its row.
func (s subject) bytes(
	ctx context.Context, r lab.Receiver, drawn sequence, sources []string,
) (findings, error) {
	m := &properties.Model{}
	h := lab.NewHistory()
	found := decides(ctx, h.Record("sender", r), m, drawn.deliveries)
	ground.drawn.hear(h.Operations())
	stored, f := s.after(ctx, m, sources, h.Operations())
	found = append(found, f...)
	accepted := 0
	for _, op := range h.Operations() {
		if op.Answer == lab.Applied || op.Answer == lab.Stale {
			accepted++
		}
	}
	if len(stored.Events) != accepted {
		found = append(found, finding{modelHolds, fmt.Sprintf(
			"%d bodies are answered as accepted, %d are stored", accepted, len(stored.Events))})
	}
	return found, nil
}

// drawBody draws a body that is sound, nearly so, or nothing of the kind.
func drawBody(t *rapid.T) []byte {
	switch rapid.SampledFrom([]string{"sound", "bent", "nasty", "noise"}).Draw(t, "body") {
	case "bent":
		return bend(t, drawSound(t))
	case "nasty":
		return []byte(drawNasty(t))
	case "noise":
		// Not nil: a nil body would mean that there is none.
		return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "noise")...)
	}
	return drawSound(t)
}

// drawSound writes a body that is an event, its fields in any order and others among them.
func drawSound(t *rapid.T) []byte {
	n := rapid.IntRange(1, 3).Draw(t, "event")
	fields := []string{
		spellText(t, "event_id") + `:` + spellText(t, fmt.Sprintf("evt_%d", n)),
		`"object_id":` + space(t) + spellText(t, "order"),
		fmt.Sprintf(`"revision"%s:%d`, space(t), rapid.IntRange(1, 3).Draw(t, "revision")),
		`"snapshot":` + drawObject(t, "snapshot").spell(t),
	}
	if rapid.Bool().Draw(t, "more") {
		more := spellText(t, drawText(t)) + `:[1,{"snapshot":{}}]`
		fields = append(fields, `"source":"bank"`, more)
	}
	fields = rapid.Permutation(fields).Draw(t, "order")
	return []byte("{" + space(t) + strings.Join(fields, ","+space(t)) + "}")
}

// bend changes a body as bad wires, bad code and attackers do.
func bend(t *rapid.T, body []byte) []byte {
	for range rapid.IntRange(1, 3).Draw(t, "bends") {
		from := rapid.IntRange(0, len(body)).Draw(t, "from")
		to := rapid.IntRange(from, min(len(body), from+8)).Draw(t, "to")
		bends := []string{"cut out", "end", "repeat", "byte", "piece"}
		switch rapid.SampledFrom(bends).Draw(t, "bend") {
		case "cut out":
			body = slices.Delete(slices.Clone(body), from, to)
		case "end":
			body = body[:from]
		case "repeat":
			body = slices.Insert(slices.Clone(body), from, body[from:to]...)
		case "byte":
			body = slices.Insert(slices.Clone(body), from, rapid.Byte().Draw(t, "byte"))
		case "piece":
			piece := rapid.SampledFrom(pieces()).Draw(t, "piece")
			body = slices.Insert(slices.Clone(body), from, piece...)
		}
	}
	return append([]byte{}, body...)
}

func pieces() [][]byte {
	var all [][]byte
	for _, text := range []string{
		`\u0000`, `\ud800`, `\udc00`, "\x00", "\xff", "\xed\xa0\x80", "\ufeff", `\`, `"`, `{`, `}`,
		`[`, `]`, `,`, `:`, `-`, `.`, `e9`, `E+400`, `0`, `1e131072`, `null`,
		`"event_id":"evt_1",`,
		`"snapshot":{},`, `"revision":2,`, `"Revision":2,`, "\n",
	} {
		all = append(all, []byte(text))
	}
	return all
}

// drawNasty writes a body that is an event but for one place, which stands at or over some limit.
func drawNasty(t *rapid.T) string {
	id, revision, snapshot := `"evt_1"`, `1`, `{}`
	// A full size is drawn seldom: one costs as much as a hundred of the others.
	place := rapid.SampledFrom([]string{
		"number", "depth", "text", "revision", "number", "depth", "text", "revision", "size",
	}).Draw(t, "nasty")
	if place == "size" && rapid.IntRange(0, 3).Draw(t, "full size") > 0 {
		place = "text"
	}
	switch place {
	case "number":
		snapshot = `{"n":` + rapid.SampledFrom([]string{
			`1e131071`, `1e131072`, `-9.99e131071`, `10e131071`, `1e-16383`, `1e-16384`,
			`0e-16384`, `1.0e-16383`, `0e2097152`, `0e2097153`, `1e99999999999999999999`,
			`0.1e131072`,
			`0.1e131073`, `1e-99999999999999999999`, `1` + strings.Repeat("0", 131071),
			`1` + strings.Repeat("0", 131072), `0.` + strings.Repeat("0", 16383),
			`0.` + strings.Repeat("0", 16384), `0.` + strings.Repeat("1", 16383), `1e+0131071`,
		}).Draw(t, "number") + `}`
	case "depth":
		snapshot = nested(rapid.IntRange(505, 520).Draw(t, "depth"))
		if rapid.Bool().Draw(t, "elsewhere") {
			id, snapshot = `"evt_1","other":`+snapshot, `{}`
		}
	case "text":
		id = `"` + rapid.SampledFrom([]string{
			``, ` `, `\u0000`, `a\u0000`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, `\\ud800`,
			strings.Repeat("a", 1024), strings.Repeat("a", 1025), strings.Repeat("é", 512),
			strings.Repeat("é", 513), strings.Repeat(`\u00e9`, 513), "\ufffd", `\ufeff`,
		}).Draw(t, "text") + `"`
	case "revision":
		revision = rapid.SampledFrom([]string{
			`0`, `-1`, `-0`, `1.0`, `1e0`, `"1"`, `9223372036854775807`, `9223372036854775808`,
			`-9223372036854775809`, `true`, `null`, `[1]`, `1e400`, `00`, `+1`,
		}).Draw(t, "revision")
	case "size":
		room := 1<<20 - len(`{"a":""}`)
		room += rapid.IntRange(-1, 1).Draw(t, "room")
		snapshot = `{"a":"` + strings.Repeat("x", room) + `"}`
	}
	return `{"event_id":` + id + `,"object_id":"order","revision":` + revision +
		`,"snapshot":` + snapshot + `}`
}

func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
}
