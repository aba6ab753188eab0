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

// generated from /_control/openapi.json by scripts/packages/control_clients.py

// InstalledFault: a fault in force.
type InstalledFault struct {
	// Fired: the number of its firings.
	Fired uint64 `json:"fired"`
	// ID: the id by which it can be removed.
	ID uint64 `json:"id"`
	// LastRevision: the revision at its last firing.
	LastRevision *uint64 `json:"lastRevision"`
	// Spec: see its type.
	Spec Fault `json:"spec"`
}

// FaultList: faults in force.
type FaultList struct {
	// Items: see its type.
	Items []InstalledFault `json:"items"`
}

// CatalogueEntry: what is known about a fault.
type CatalogueEntry struct {
	// CanBeHeld: whether a correct client can hold it.
	CanBeHeld bool `json:"canBeHeld"`
	// Effect: the effect, in a paragraph.
	Effect string `json:"effect"`
	// Fault: the name.
	Fault string `json:"fault"`
	// Models: the situation that it models, in a line.
	Models string `json:"models"`
	// NeedsTCP: whether the fault itself happens over TCP only.
	NeedsTCP bool `json:"needsTcp"`
	// Number: the number, `F1` and up. Several faults may share one.
	Number string `json:"number"`
	// Parameters: the names of its parameters.
	Parameters []string `json:"parameters"`
	// Suffered: clients that suffered from it, or the kind of client that does.
	Suffered string `json:"suffered"`
}

// Stats: the counts of a server.
type Stats struct {
	// Requests: the number of requests, by resource (`deployments.apps`, `pods/status`) and verb.
	Requests map[string]map[string]uint64 `json:"requests"`
	// RequestsForgotten: the number of requests that the log no longer has.
	RequestsForgotten uint64 `json:"requests_forgotten"`
	// Revision: the revision of the last write.
	Revision uint64 `json:"revision"`
	// UnseenChanges: the number of changes that the controllers have not processed yet.
	UnseenChanges uint64 `json:"unseen_changes"`
	// Watchers: the number of open watches.
	Watchers uint64 `json:"watchers"`
}

// KubernetesVersions: the release of Kubernetes that is served, and those that there are.
type KubernetesVersions struct {
	// Version: the release that is served: `1.36.2`.
	Version string `json:"version"`
	// Versions: all releases, from old to new.
	Versions []string `json:"versions"`
}

// UpgradeReport: a change of the version of Kubernetes.
type UpgradeReport struct {
	// From: the release before: `1.36.2`.
	From string `json:"from"`
	// ObjectsWithUnknownFields: the number of objects with unknown fields.
	ObjectsWithUnknownFields uint64 `json:"objectsWithUnknownFields"`
	// To: the release now.
	To string `json:"to"`
	// UnknownFields: the unknown fields of the first 100 objects that have some, by `resource.group namespace/name`.
	UnknownFields map[string][]string `json:"unknownFields"`
	// Unserved: the resources that are not served, with the number of their objects.
	Unserved map[string]uint64 `json:"unserved"`
}

// end of what is generated

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

// generated from /_control/openapi.json by scripts/packages/control_clients.py

// Stats returns the counts of the server.
func (c *Client) Stats(ctx context.Context) (*Stats, error) {
	return receive[Stats](ctx, c, "stats", http.MethodGet, "/stats", nil)
}

// Snapshot returns the whole state, a line of JSON an object.
func (c *Client) Snapshot(ctx context.Context) ([]byte, error) {
	return c.send(ctx, "snapshot", http.MethodGet, "/snapshot", nil)
}

// SaveSnapshot writes the state to the data file; 409 if the server has none.
func (c *Client) SaveSnapshot(ctx context.Context) error {
	return c.do(ctx, "saveSnapshot", http.MethodPost, "/snapshot")
}

// Compact removes history: lists of older versions are answered with 410. Watches go on.
func (c *Client) Compact(ctx context.Context) error {
	return c.do(ctx, "compact", http.MethodPost, "/compact")
}

// Expire removes history for watches, too: one that begins at an older version receives an ERROR event with 410.
func (c *Client) Expire(ctx context.Context) error {
	return c.do(ctx, "expire", http.MethodPost, "/expire")
}

// Disconnect ends all open watches.
func (c *Client) Disconnect(ctx context.Context) error {
	return c.do(ctx, "disconnect", http.MethodPost, "/disconnect")
}

// Reset restores the state of the start: later objects are gone, and all watches end. Faults stay in force.
func (c *Client) Reset(ctx context.Context) error {
	return c.do(ctx, "reset", http.MethodPost, "/reset")
}

// RemoveFaults removes all faults.
func (c *Client) RemoveFaults(ctx context.Context) error {
	return c.do(ctx, "removeFaults", http.MethodDelete, "/faults")
}

// ListFaults returns the faults in force.
func (c *Client) ListFaults(ctx context.Context) (*FaultList, error) {
	return receive[FaultList](ctx, c, "listFaults", http.MethodGet, "/faults", nil)
}

// InstallFaults installs a fault, or several, all or none; 400 names the invalid field.
func (c *Client) InstallFaults(ctx context.Context, faults ...Fault) (*FaultList, error) {
	return receive[FaultList](ctx, c, "installFaults", http.MethodPost, "/faults", faults)
}

// FaultCatalogue returns what is known about each fault.
func (c *Client) FaultCatalogue(ctx context.Context) ([]CatalogueEntry, error) {
	return receiveAll[CatalogueEntry](ctx, c, "faultCatalogue", http.MethodGet, "/faults/catalogue")
}

// RemoveFault removes a fault.
func (c *Client) RemoveFault(ctx context.Context, id uint64) error {
	return c.do(ctx, "removeFault", http.MethodDelete, fmt.Sprintf("/faults/%d", id))
}

// GetFault returns a fault in force.
func (c *Client) GetFault(ctx context.Context, id uint64) (*InstalledFault, error) {
	return receive[InstalledFault](ctx, c, "getFault", http.MethodGet, fmt.Sprintf("/faults/%d", id), nil)
}

// KubernetesVersion returns the release of Kubernetes that is served, and those that there are.
func (c *Client) KubernetesVersion(ctx context.Context) (*KubernetesVersions, error) {
	return receive[KubernetesVersions](ctx, c, "kubernetesVersion", http.MethodGet, "/kubernetes-version", nil)
}

// Upgrade serves another version of Kubernetes, newer or older, with open watches; 400 lists the versions.
func (c *Client) Upgrade(ctx context.Context, version string) (*UpgradeReport, error) {
	return receive[UpgradeReport](ctx, c, "upgrade", http.MethodPost, "/kubernetes-version", map[string]string{"version": version})
}

// end of what is generated

func receiveAll[T any](ctx context.Context, c *Client, operation, method, path string) ([]T, error) {
	items, err := receive[[]T](ctx, c, operation, method, path, nil)
	if err != nil {
		return nil, err
	}
	return *items, nil
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
