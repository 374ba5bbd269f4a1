package flawed

import "fmt"

// OutboxKeyPerAttempt gives each attempt an idempotency key of its own. The downstream can't know a
// repetition, and sends the mail twice.
var OutboxKeyPerAttempt = posterWith(func(p *poster) {
	p.key = func(m message) string { return fmt.Sprintf("%s try %d", m.key, m.attempts) }
})
