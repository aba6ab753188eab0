package process

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"regexp"
)

// clientFor returns a client for the server of a kubeconfig that fakeserver has written.
func clientFor(kubeconfig string) (*http.Client, error) {
	written, err := os.ReadFile(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("fakeserver has written no kubeconfig: %w", err)
	}
	transport := &http.Transport{}
	authority, err := data(written, "certificate-authority")
	if err != nil {
		return nil, err
	}
	if authority != nil {
		certificate, err := data(written, "client-certificate")
		if err != nil {
			return nil, err
		}
		key, err := data(written, "client-key")
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("the client certificate in %s: %w", kubeconfig, err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}}
	}
	return &http.Client{Transport: transport}, nil
}

// data returns a field of the first cluster or user, who is the administrator.
func data(kubeconfig []byte, field string) ([]byte, error) {
	found := regexp.MustCompile(`(?m)^\s*` + field + `-data: (\S+)$`).FindSubmatch(kubeconfig)
	if found == nil {
		return nil, nil
	}
	decoded, err := base64.StdEncoding.DecodeString(string(found[1]))
	if err != nil {
		return nil, fmt.Errorf("%s-data of the kubeconfig: %w", field, err)
	}
	return decoded, nil
}
