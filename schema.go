// Package webhooklab embeds schema.sql, the tables of the reference receivers.
package webhooklab

import _ "embed"

// Schema is the text of schema.sql: plain SQL for an empty database of PostgreSQL 14 or newer.
//
//go:embed schema.sql
var Schema string
