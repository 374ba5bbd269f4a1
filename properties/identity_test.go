package properties_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"webhooklab/lab"
	"webhooklab/properties"
)

// One value in two spellings is one event, two values are a reused event id: says the receiver,
// says PostgreSQL's jsonb, says the canonical form.
func TestJSONIdentity(t *testing.T) {
	law := property{law: "JSON is content, its spelling is not", percent: 15}.begin(t)
	s := reference()
	r := s.open(t)
	law.check(t, func(t *rapid.T) {
		w := drawnWritings().Draw(t, "writings")
		found, err := w.judge(t.Context(), r)
		require.NoError(t, err)
		found.none(t, sourceNames())
	})
}

// writings are a snapshot, its value written otherwise, and another value.
type writings struct{ first, same, other string }

func drawnWritings() *rapid.Generator[writings] {
	return rapid.Custom(func(t *rapid.T) writings {
		value := drawObject(t, "value")
		return writings{value.spell(t), value.spell(t), value.change(t).spell(t)}
	})
}

// judge hands the writings over under one event id and compares all three judges.
func (w writings) judge(ctx context.Context, r lab.Receiver) (found findings, err error) {
	_, sources := sequence{}.fresh()
	d := lab.Delivery{Source: sources[0], EventID: "evt", ObjectID: "document", Revision: 1}
	m := &properties.Model{}
	for i, want := range []lab.Answer{lab.Applied, lab.Duplicate, lab.ReusedEventID} {
		d.Snapshot = []byte([]string{w.first, w.same, w.other}[i])
		got, err := r.Receive(ctx, d)
		if err != nil {
			found = append(found, finding{answered, fmt.Sprintf("%s: %v", d.Snapshot, err)})
		}
		ground.drawn.answers[got.Outcome]++
		if by := m.Deliver(d); by != want {
			found = append(found, finding{modelDecides,
				fmt.Sprintf("the model answers %s with %q, want %q", d.Snapshot, by, want)})
		}
		if got != want {
			found = append(found, finding{modelDecides,
				fmt.Sprintf("%s is answered %q, want %q", d.Snapshot, got, want)})
		}
	}
	f, err := w.compare(ctx)
	return append(found, f...), err
}

// compare asks PostgreSQL and the canonical form which of the writings are equal.
func (w writings) compare(ctx context.Context) (found findings, err error) {
	var same, other bool
	err = ground.judge.QueryRow(ctx, `
SELECT $1::text::jsonb = $2::text::jsonb, $1::text::jsonb = $3::text::jsonb`,
		w.first, w.same, w.other).Scan(&same, &other)
	if err != nil {
		return nil, fmt.Errorf("compare %s with %s and %s: %w", w.first, w.same, w.other, err)
	}
	var forms []string
	for _, text := range []string{w.first, w.same, w.other} {
		form, err := properties.Canonical([]byte(text))
		if err != nil {
			return nil, err
		}
		forms = append(forms, form)
	}
	if !same || other || forms[0] != forms[1] || forms[0] == forms[2] {
		found = append(found, finding{modelDecides, fmt.Sprintf(
			"%s and %s are equal to PostgreSQL: %t, canonically %s and %s; "+
				"%s is equal to the first: %t, canonically %s",
			w.first, w.same, same, forms[0], forms[1], w.other, other, forms[2])})
	}
	return found, nil
}

// What PostgreSQL refuses, the canonical form refuses.
func TestCanonicalRefusals(t *testing.T) {
	for _, document := range []string{
		``, ` `, `{`, `{"a":1,}`, `{"a":01}`, `{"a":.5}`, `{"a":1.}`, `{"a":+1}`, `{"a":NaN}`,
		`{"a":1}{}`, `{"a":1} x`, `{'a':1}`, `{"a":"\x"}`, `{"a":"\u12"}`, "\ufeff{}",
		`{"a":"\u0000"}`, `{"\u0000":1}`, `{"a":"\\\u0000"}`,
		`{"a":"\ud800"}`, `{"a":"\udc00"}`, `{"a":"\ud800\ud800"}`, `{"a":"\ud800x\udc00"}`,
		`{"a":"\udc00\ud800"}`, `{"a":"\ud800\n"}`, `{"a":"\ud800\\udc00"}`,
		"{\"a\":\"\n\"}",
	} {
		var valid bool
		err := ground.judge.QueryRow(t.Context(),
			`SELECT $1::text::jsonb IS NOT NULL`, document).Scan(&valid)
		require.Error(t, err, document)
		_, err = properties.Canonical([]byte(document))
		require.Error(t, err, document)
	}
	_, err := properties.Canonical([]byte("{\"a\":\"\xff\"}"))
	require.ErrorContains(t, err, "not UTF-8")
}

func TestCanonicalForms(t *testing.T) {
	for _, same := range [][]string{
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, `{"a":7,"b":2,"a":1e0}`, ` {"\u0061":10e-1,"b":2} `},
		{`{"a":0}`, `{"a":-0}`, `{"a":0.00}`, `{"a":0e9}`, `{"a":-0.0E-7}`},
		{`{"a":100}`, `{"a":1e2}`, `{"a":1.00e+02}`, `{"a":0.01e4}`},
		{`{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		{`{"a":"\\u0000"}`, `{"\u0061":"\u005cu0000"}`},
		{`{"a":1e131071}`, `{"a":10e131070}`},
		{`{"a":[1,{}]}`, `{"a":[1.0,{ }]}`},
		{`{}`, `{ }`},
	} {
		first, err := properties.Canonical([]byte(same[0]))
		require.NoError(t, err)
		for _, document := range same[1:] {
			got, err := properties.Canonical([]byte(document))
			require.NoError(t, err, document)
			require.Equal(t, first, got, document)
		}
	}
	forms := map[string]string{}
	for _, document := range []string{
		`{"a":true}`, `{"a":1}`, `{"a":"1"}`, `{"a":null}`, `{"a":false}`, `{"a":0}`, `{"a":""}`,
		`{"a":-1}`, `{"a":10}`, `{"a":0.1}`, `{"a":9007199254740992}`, `{"a":9007199254740993}`,
		`{"a":[]}`, `{"a":{}}`, `{"a":[1]}`, `{"a":[1,2]}`, `{"a":[2,1]}`, `{"A":1}`, `{"a":"é"}`,
		"{\"a\":\"e\u0301\"}", `{"a":"true"}`, `{"a":"1e0"}`, `{"a":"\u2028"}`, `{"a":" "}`, `{}`,
		`{"a":["1,2"]}`, `{"a":["1","2"]}`, `{"a":"\ufffd"}`,
	} {
		form, err := properties.Canonical([]byte(document))
		require.NoError(t, err, document)
		require.Empty(t, forms[form], "%s has the form of %s: %s", document, forms[form], form)
		forms[form] = document
	}
}
