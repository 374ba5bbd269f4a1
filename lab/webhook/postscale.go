package webhook

// NewPostscale verifies X-Postscale-Signature, written as Stripe's is. That the signed bytes are
// "SECONDS.BODY" is an assumption: this provider's documentation doesn't say. Its delivery id names
// an attempt, not an event, and never serves as one.
func NewPostscale(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("Postscale", secrets)
	if err != nil {
		return nil, err
	}
	return stamped{k, "X-Postscale-Signature"}, nil
}
