// Package mutation takes guards away, one at a time, so that a judge can show that each is needed:
// from a schema by the catalogue of a database that holds it and by edits of its text, from a
// receiver by edits of the SQL that it sends.
//
// A mutant that nobody catches is either equivalent, with a reason that is written down, or a hole
// in the tests, or decoration.
package mutation
