package scenarios

import "embed"

// goldens are the transcripts that the reference receivers are held against, to the letter.
//
//go:embed testdata/*.txt
var goldens embed.FS

// Transcript is the golden transcript of a scenario. Those that run freely have none.
func Transcript(name string) (string, bool) {
	text, err := goldens.ReadFile("testdata/" + name + ".txt")
	return string(text), err == nil
}
