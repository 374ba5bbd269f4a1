package webhook

import (
	"net/http"
	"time"
)

const shopifySignature = "X-Shopify-Hmac-Sha256"

type shopify struct{ keys }

// NewShopify verifies X-Shopify-Hmac-Sha256, which signs the body and nothing else: neither a time
// nor the event id. What [NewGitHub] says of replays holds here too.
func NewShopify(secrets ...string) (Verifier, error) {
	k, err := wholeKeys("Shopify", secrets)
	if err != nil {
		return nil, err
	}
	return shopify{k}, nil
}

// Verify is [Verifier]'s. There is no time to compare.
func (s shopify) Verify(header http.Header, body []byte, _ time.Time) error {
	elements, err := listed(header, shopifySignature, ",")
	if err != nil {
		return err
	}
	var signatures [][]byte
	for _, element := range elements {
		signatures = append(signatures, base64MAC(element))
	}
	return s.check(shopifySignature, signatures, body)
}

// ShopifyEvent takes id and type from headers that nobody signed. X-Shopify-Event-Id is the
// event's; X-Shopify-Webhook-Id names one delivery. There is no revision.
func ShopifyEvent(header http.Header, body []byte) (Event, error) {
	e := Event{
		Raw:        body,
		Headers:    headersOf(header, shopifySignature),
		DeliveryID: header.Get("X-Shopify-Webhook-Id"),
	}
	var err error
	if e.ID, err = identity(header, "X-Shopify-Event-Id"); err != nil {
		return e, err
	}
	if e.Type, err = single(header, "X-Shopify-Topic"); err != nil {
		return e, invalid("event_type_missing")
	}
	d, err := parseDocument(body)
	if err != nil {
		return e, err
	}
	e.Object, err = d.text("admin_graphql_api_id")
	return e, err
}
