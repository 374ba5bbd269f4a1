package flawed

import "github.com/jackc/pgx/v5"

// DefaultIsolation begins its transaction at whatever level the role or the database says. Under
// a stricter one its waiting copies can't see what they waited for, whatever they try.
var DefaultIsolation = with(func(s *steps) {
	s.receive = oneTransaction(pgx.TxOptions{})
	s.tries = 1
})
