package webhook

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
)

// readBody reads the whole body as it came, within its bounds of size and time. Chunked bodies are
// bounded while they come, announced ones before. On failure it gives the answer.
//
// Connections stay in use after most refusals: net/http reads what is left of a body up to 256 KiB,
// and closes where there is more, or where the body was too large or too slow.
func (h *handler) readBody(w http.ResponseWriter, r *http.Request) ([]byte, *problem) {
	tooLarge := &problem{Status: http.StatusRequestEntityTooLarge, Code: "body_too_large"}
	if r.ContentLength > h.limits.BodyBytes {
		return nil, tooLarge
	}
	connection := http.NewResponseController(w)
	// Without effect on connections that keep no time, such as a test's recorder.
	_ = connection.SetReadDeadline(time.Now().Add(h.limits.ReadTimeout))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.limits.BodyBytes))
	var exceeded *http.MaxBytesError
	switch {
	case errors.As(err, &exceeded):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, &problem{Status: http.StatusRequestTimeout, Code: "body_too_slow"}
	case err != nil:
		return nil, &problem{Status: http.StatusBadRequest, Code: "body_cut_short"}
	}
	// The bound was the body's alone.
	_ = connection.SetReadDeadline(time.Time{})
	return body, nil
}

// checkMediaType refuses what no mapping can read. A sender that names no type is taken at its
// body's word.
func checkMediaType(header http.Header) error {
	for _, encoding := range header.Values("Content-Encoding") {
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			return invalid("content_encoding")
		}
	}
	value := header.Get("Content-Type")
	if value == "" {
		return nil
	}
	mediaType, parameters, err := mime.ParseMediaType(value)
	charset := parameters["charset"]
	switch {
	case err != nil,
		mediaType != "application/json" && !strings.HasSuffix(mediaType, "+json"),
		charset != "" && !strings.EqualFold(charset, "utf-8"):
		return invalid("media_type")
	}
	return nil
}
