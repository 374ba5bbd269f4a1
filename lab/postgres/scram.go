package postgres

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
)

// newSecret is 128 random bits in hexadecimal.
func newSecret() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// scramVerifier is what PostgreSQL stores for a password (RFC 5803). One iteration: stretching
// protects guessable passwords, ours has 128 bits, and the default 4,096 would be paid by both
// ends at every connection.
func scramVerifier(password string) (string, error) {
	const iterations = 1
	var salt [16]byte
	rand.Read(salt[:])
	salted, err := pbkdf2.Key(sha256.New, password, salt[:], iterations, sha256.Size)
	if err != nil {
		return "", fmt.Errorf("derive the SCRAM verifier of a random password: %w", err)
	}
	stored := sha256.Sum256(keyed(salted, "Client Key"))
	b64 := base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations,
		b64(salt[:]), b64(stored[:]), b64(keyed(salted, "Server Key"))), nil
}

func keyed(key []byte, label string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(label))
	return mac.Sum(nil)
}
