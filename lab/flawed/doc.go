// Package flawed is a zoo of receivers that are broken on purpose, one sin a file, named by it. Each
// looks like code that somebody ships, and is sound but for its sin: the sound parts are those of
// receiver.go, mailer.go, handler.go, clerk.go, poster.go and door.go. What each of them leads to,
// and the scenario that catches it, stands in the list scenarios.Sinners: they are how the lab
// shows that its judge can say no.
package flawed
