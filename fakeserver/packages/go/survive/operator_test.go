package survive_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"
)

const (
	// operator is the variable that makes this program an operator, with or without its bug.
	operator = "SURVIVE_TEST_OPERATOR"
	maps     = "/api/v1/namespaces/default/configmaps"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv(operator); kind != "" && os.Getenv("SURVIVE_WORKDIR") != "" {
		operate(kind == "buggy")
	}
	os.Exit(m.Run())
}

type metadata struct {
	Name            string            `json:"name,omitempty"`
	GenerateName    string            `json:"generateName,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
}

type object struct {
	Metadata metadata          `json:"metadata"`
	Data     map[string]string `json:"data,omitempty"`
}

type list struct {
	Metadata metadata `json:"metadata"`
	Items    []object `json:"items"`
}

// operate makes a copy of each config map with the label `wanted`, and notes that. With its bug the server completes the names of the
// copies, so that one that was not noted is made again.
func operate(isBuggy bool) {
	server := address()
	for {
		if err := round(server, isBuggy); err != nil {
			fmt.Println(err)
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func address() string {
	var kubeconfig struct {
		Clusters []struct{ Cluster struct{ Server string } }
	}
	text, err := os.ReadFile(os.Getenv("KUBECONFIG"))
	if err = errors.Join(err, json.Unmarshal(text, &kubeconfig)); err != nil {
		panic(err)
	}
	return kubeconfig.Clusters[0].Cluster.Server
}

// round copies what is there, and waits for the next change.
func round(server string, isBuggy bool) error {
	answer, err := http.Get(server + maps + "?labelSelector=wanted")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var found list
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return err
	}
	for _, original := range found.Items {
		if original.Metadata.Annotations["copied"] != "" {
			continue
		}
		if err := duplicate(server, original, isBuggy); err != nil {
			return err
		}
	}
	events, err := http.Get(server + maps + "?watch=true&labelSelector=wanted&resourceVersion=" + found.Metadata.ResourceVersion)
	if err != nil {
		return err
	}
	defer events.Body.Close()
	_, err = io.ReadFull(events.Body, make([]byte, 1))
	return err
}

func duplicate(server string, original object, isBuggy bool) error {
	made := object{metadata{Name: original.Metadata.Name + "-copy"}, original.Data}
	if isBuggy {
		made.Metadata = metadata{GenerateName: original.Metadata.Name + "-"}
	}
	if err := send(http.MethodPost, server+maps, "application/json", made); err != nil {
		return err
	}
	note := object{Metadata: metadata{Annotations: map[string]string{"copied": "yes"}}}
	return send(http.MethodPatch, server+maps+"/"+original.Metadata.Name, "application/merge-patch+json", note)
}

// send sends a write. A conflict is the work of an earlier process.
func send(method, url, mediaType string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", mediaType)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 && (method != http.MethodPost || answer.StatusCode != http.StatusConflict) {
		return errors.New(answer.Status)
	}
	return nil
}
