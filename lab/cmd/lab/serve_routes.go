package main

import (
	"slices"
	"strings"

	"webhooklab/lab/webhook"
)

// routeConfig is one address that was found good.
type routeConfig struct {
	route    webhook.Route // without its receiver, which needs the database
	receiver string
}

// provider is a scheme of signatures with the mapping of who uses it.
type provider struct {
	verifier func(secrets ...string) (webhook.Verifier, error)
	mapping  webhook.Mapping
}

func providers() map[string]provider {
	return map[string]provider{
		"standard_webhooks": {webhook.NewStandardWebhooks, webhook.StandardWebhooksEvent},
		"stripe":            {webhook.NewStripe, webhook.StripeEvent},
		"github":            {webhook.NewGitHub, webhook.GitHubEvent},
		"shopify":           {webhook.NewShopify, webhook.ShopifyEvent},
		"slack":             {webhook.NewSlack, webhook.SlackEvent},
		"postscale":         {webhook.NewPostscale, webhook.PostscaleEvent},
	}
}

// withIDInHeader are providers whose batches would be many events of one id.
var withIDInHeader = []string{"standard_webhooks", "github", "shopify"}

// route checks one address. Its line stands for a setting that is missing.
func (f *faults) route(r serveRoute, line int) routeConfig {
	c := routeConfig{route: webhook.Route{
		Path: r.Path.text, Source: r.Source.text, Batch: f.flag("batch", r.Batch),
	}}
	for _, s := range r.Types {
		c.route.Types = append(c.route.Types, s.text)
	}
	switch {
	case r.Path.text == "":
		f.add(line, "path is missing: write where this sender delivers, such as /orders")
	case !strings.HasPrefix(r.Path.text, "/"):
		f.add(r.Path.line, "path: %q does not begin with a slash", r.Path.text)
	}
	switch {
	case r.Source.text == "":
		f.add(line, "source is missing: name the sender's account, such as acme/account_1")
	case len(r.Source.text) > 255:
		f.add(r.Source.line, "source is longer than 255 bytes")
	}
	name := f.choice("provider", r.Provider, line,
		"standard_webhooks", "stripe", "github", "shopify", "slack", "postscale")
	c.receiver = f.choice("receiver", r.Receiver, line, "snapshots", "atomic", "leased", "emails")
	f.mapping(&c, r, name)
	f.verifier(&c, r, name, line)
	return c
}

func (f *faults) mapping(c *routeConfig, r serveRoute, name string) {
	own := "provider"
	if r.Body.text != "" {
		own = f.choice("body", r.Body, r.Body.line, "provider", "snapshot")
	}
	c.route.Mapping = providers()[name].mapping
	if own == "snapshot" {
		c.route.Mapping = webhook.SnapshotBody
	}
	switch {
	case name == "" || own == "":
	case c.receiver == "snapshots" && own != "snapshot" && name != "standard_webhooks":
		f.add(r.Receiver.line, "receiver: events of %s have no revision, so snapshots can't take "+
			"them: write body: snapshot if the bodies are of that form, or another receiver", name)
	case c.receiver == "emails" && (own == "snapshot" || name != "postscale"):
		f.add(r.Receiver.line, "receiver: emails takes the bodies of postscale alone")
	case c.route.Batch && own != "snapshot" && slices.Contains(withIDInHeader, name):
		f.add(r.Batch.line, "batch: %s names the event in a header, so a body is one event: "+
			"leave batch out", name)
	}
}

func (f *faults) verifier(c *routeConfig, r serveRoute, name string, line int) {
	if len(r.Secrets) == 0 {
		f.add(line, "secrets is missing: write [env:NAME] of a variable that holds the sender's")
		return
	}
	var secrets []string
	before := len(f.all)
	for _, s := range r.Secrets {
		secrets = append(secrets, f.secret("secrets", s))
	}
	if name == "" || len(f.all) > before {
		return
	}
	var err error
	if c.route.Verifier, err = providers()[name].verifier(secrets...); err != nil {
		f.add(r.Secrets[0].line, "secrets: %s", strings.TrimPrefix(err.Error(), "webhook: "))
	}
}
