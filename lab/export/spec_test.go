package export

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Steps of two sessions never share a name, or one would play what is the other's.
func TestStepsAreNamedApart(t *testing.T) {
	short, long := &terminal{name: "a"}, &terminal{name: "a_b"}
	s := &Script{terminals: []*terminal{short, long}, lines: []*line{
		{terminal: short, label: "B c", sql: []string{"SELECT 1"}},
		{terminal: long, label: "C", sql: []string{"SELECT 1"}},
		{terminal: short, label: "B c", sql: []string{"SELECT 1"}},
		{terminal: short, label: "B c", sql: []string{"SELECT 2"}},
		{terminal: short, label: "B c", sql: []string{"SELECT 1", "SELECT '}'"}},
	}}
	steps, err := s.steps()
	require.NoError(t, err)
	var names []string
	for _, st := range steps {
		names = append(names, st.name)
	}
	require.Equal(t, []string{"a_b_c", "a_b_c_2", "a_b_c", "a_b_c_3", "a_b_c_4"}, names)
	require.Equal(t, "SELECT 1;\nSELECT E'\\x7D'", steps[4].sql)
}

func TestNamesThatTheTesterReads(t *testing.T) {
	for text, want := range map[string]string{
		"first": "first", "Copy 1": "copy_1", "2nd": "_2nd", "session": "_session", "": "_",
		"straße": "stra_e",
	} {
		require.Equal(t, want, identifier(text))
	}
}
