// Package control is a client for the control API of fakeserver, /_control.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"
)

// timeout is the limit of a request whose context has no earlier deadline.
const timeout = 30 * time.Second

// Match selects the requests and frames at which a fault fires.
type Match struct {
	// Client is the User-Agent up to the first slash.
	Client             string  `json:"client,omitempty"`
	Verb               string  `json:"verb,omitempty"`
	Group              *string `json:"group,omitempty"`
	Resource           string  `json:"resource,omitempty"`
	Subresource        *string `json:"subresource,omitempty"`
	Namespace          string  `json:"namespace,omitempty"`
	Name               string  `json:"name,omitempty"`
	MinResourceVersion uint64  `json:"minResourceVersion,omitempty"`
}

// When selects the occasions at which a fault fires.
type When struct {
	// Nth is the first occasion, from 1.
	Nth uint64 `json:"nth,omitempty"`
	// Times is the most firings.
	Times       *uint64  `json:"times,omitempty"`
	AfterMs     uint64   `json:"afterMs,omitempty"`
	ForMs       *uint64  `json:"forMs,omitempty"`
	Probability *float64 `json:"probability,omitempty"`
	Seed        uint64   `json:"seed,omitempty"`
}

// Fault is a fault to install.
type Fault struct {
	// Name is the name in the catalogue.
	Name  string
	Match Match
	When  When
	// Parameters are those that the catalogue lists for the fault.
	Parameters map[string]any
}

// MarshalJSON puts the parameters beside the name.
func (f Fault) MarshalJSON() ([]byte, error) {
	fields := map[string]any{}
	maps.Copy(fields, f.Parameters)
	fields["fault"] = f.Name
	if f.Match != (Match{}) {
		fields["match"] = f.Match
	}
	if f.When != (When{}) {
		fields["when"] = f.When
	}
	return json.Marshal(fields)
}

// UnmarshalJSON takes the parameters from beside the name.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var known struct {
		Fault string
		Match Match
		When  When
	}
	var parameters map[string]any
	if err := errors.Join(json.Unmarshal(data, &known), json.Unmarshal(data, &parameters)); err != nil {
		return err
	}
	for _, name := range []string{"fault", "match", "when"} {
		delete(parameters, name)
	}
	*f = Fault{known.Fault, known.Match, known.When, parameters}
	return nil
}

// InstalledFault is a fault in force.
type InstalledFault struct {
	ID   uint64 `json:"id"`
	Spec Fault  `json:"spec"`
	// Fired is the number of its firings.
	Fired uint64 `json:"fired"`
	// LastRevision is the revision at its last firing, if it has fired.
	LastRevision *uint64 `json:"lastRevision"`
}

// CatalogueEntry is a fault in the catalogue.
type CatalogueEntry struct {
	Number     string   `json:"number"`
	Fault      string   `json:"fault"`
	Effect     string   `json:"effect"`
	Models     string   `json:"models"`
	Suffered   string   `json:"suffered"`
	Parameters []string `json:"parameters"`
	NeedsTCP   bool     `json:"needsTcp"`
	CanBeHeld  bool     `json:"canBeHeld"`
}

// Stats are counts of a server.
type Stats struct {
	Revision      uint64 `json:"revision"`
	Watchers      int    `json:"watchers"`
	UnseenChanges int    `json:"unseen_changes"`
	// Requests are counts by resource and verb.
	Requests          map[string]map[string]uint64 `json:"requests"`
	RequestsForgotten uint64                       `json:"requests_forgotten"`
}

// Error is an answer that is no success.
type Error struct {
	Operation string
	// StatusCode is the code of HTTP.
	StatusCode int
	// Field is the field of the request that is invalid, if the server has named one.
	Field   string
	Message string
}

// Error returns the operation, the code and the message.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %d: %s", e.Operation, e.StatusCode, e.Message)
}

// Client sends the operations of one server.
type Client struct {
	base   string
	client *http.Client
}

// New returns a client for the server at a URL.
func New(url string, client *http.Client) *Client {
	return &Client{strings.TrimRight(url, "/") + "/_control", client}
}

// Stats returns counts of the server.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return receive[Stats](ctx, c, "stats", http.MethodGet, "/stats", nil)
}

// Compact forgets the history for lists.
func (c *Client) Compact(ctx context.Context) error {
	return c.do(ctx, "compact", http.MethodPost, "/compact")
}

// Expire forgets the history for lists and watches.
func (c *Client) Expire(ctx context.Context) error {
	return c.do(ctx, "expire", http.MethodPost, "/expire")
}

// Disconnect ends every open watch.
func (c *Client) Disconnect(ctx context.Context) error {
	return c.do(ctx, "disconnect", http.MethodPost, "/disconnect")
}

// Reset takes the objects back to those of the start. Faults stay.
func (c *Client) Reset(ctx context.Context) error {
	return c.do(ctx, "reset", http.MethodPost, "/reset")
}

// Snapshot returns the whole state as lines of JSON.
func (c *Client) Snapshot(ctx context.Context) ([]byte, error) {
	return c.send(ctx, "snapshot", http.MethodGet, "/snapshot", nil)
}

// SaveSnapshot writes the state to the file of --data.
func (c *Client) SaveSnapshot(ctx context.Context) error {
	return c.do(ctx, "saveSnapshot", http.MethodPost, "/snapshot")
}

// ListFaults lists the faults in force.
func (c *Client) ListFaults(ctx context.Context) ([]InstalledFault, error) {
	return c.faults(ctx, "listFaults", http.MethodGet, nil)
}

// InstallFaults installs all of the faults or none, and returns them with their ids.
func (c *Client) InstallFaults(ctx context.Context, faults ...Fault) ([]InstalledFault, error) {
	return c.faults(ctx, "installFaults", http.MethodPost, faults)
}

// GetFault returns a fault in force.
func (c *Client) GetFault(ctx context.Context, id uint64) (*InstalledFault, error) {
	return receive[InstalledFault](ctx, c, "getFault", http.MethodGet, fmt.Sprintf("/faults/%d", id), nil)
}

// RemoveFault removes a fault.
func (c *Client) RemoveFault(ctx context.Context, id uint64) error {
	return c.do(ctx, "removeFault", http.MethodDelete, fmt.Sprintf("/faults/%d", id))
}

// RemoveFaults removes all faults.
func (c *Client) RemoveFaults(ctx context.Context) error {
	return c.do(ctx, "removeFaults", http.MethodDelete, "/faults")
}

// FaultCatalogue returns the catalogue of faults.
func (c *Client) FaultCatalogue(ctx context.Context) ([]CatalogueEntry, error) {
	entries, err := receive[[]CatalogueEntry](ctx, c, "faultCatalogue", http.MethodGet, "/faults/catalogue", nil)
	if err != nil {
		return nil, err
	}
	return *entries, nil
}

func (c *Client) faults(ctx context.Context, operation, method string, body any) ([]InstalledFault, error) {
	type list struct{ Items []InstalledFault }
	found, err := receive[list](ctx, c, operation, method, "/faults", body)
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

func (c *Client) do(ctx context.Context, operation, method, path string) error {
	_, err := c.send(ctx, operation, method, path, nil)
	return err
}

func receive[T any](ctx context.Context, c *Client, operation, method, path string, body any) (*T, error) {
	answer, err := c.send(ctx, operation, method, path, body)
	if err != nil {
		return nil, err
	}
	value := new(T)
	if err := json.Unmarshal(answer, value); err != nil {
		return nil, fmt.Errorf("%s: unexpected answer: %w", operation, err)
	}
	return value, nil
}

func (c *Client) send(ctx context.Context, operation, method, path string, body any) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", operation, err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return nil, refusal(operation, answer.StatusCode, text)
	}
	return text, nil
}

func refusal(operation string, code int, text []byte) *Error {
	var status struct {
		Message string
		Details struct{ Causes []struct{ Field string } }
	}
	refused := &Error{Operation: operation, StatusCode: code, Message: strings.TrimSpace(string(text))}
	if json.Unmarshal(text, &status) == nil && status.Message != "" {
		refused.Message = status.Message
	}
	if causes := status.Details.Causes; len(causes) > 0 {
		refused.Field = causes[0].Field
	}
	return refused
}
