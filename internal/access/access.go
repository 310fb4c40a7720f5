// Package access is how servers that aren't ours let clients in, by names, passwords and TLS, and how none of that is ever shown.
// It knows no server.
package access

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
)

// Spec says where everything is to be found. It has no secret itself, so that it can be written down and handed on.
type Spec struct {
	User         string `json:"user,omitempty"`
	PasswordEnv  string `json:"password_env,omitempty"`  // name of a variable of the environment
	PasswordFile string `json:"password_file,omitempty"` // one line
	TLS          bool   `json:"tls,omitempty"`           // implied by a CA or a certificate
	CA           string `json:"tls_ca,omitempty"`        // PEM file; empty: the system's
	Cert         string `json:"tls_cert,omitempty"`      // PEM files of the client's own certificate
	Key          string `json:"tls_key,omitempty"`
}

// Access is what a Spec leads to. The zero Access is a server that anybody enters.
type Access struct {
	User     string
	Password Secret
	tls      *tls.Config // without a server's name; nil: plain
}

// shortest is the shortest password that can be kept out of what is written: a shorter one would be found everywhere.
const shortest = 4

// Open reads what s names.
func (s Spec) Open() (Access, error) {
	a := Access{User: s.User}
	var err error
	if a.Password, err = s.password(); err != nil {
		return Access{}, err
	}
	if n := len(a.Password.value); n > 0 && n < shortest {
		return Access{}, fmt.Errorf("the password has fewer than %d characters: that can't be kept out of logs and reports", shortest)
	}
	a.tls, err = s.config()
	return a, err
}

func (s Spec) password() (Secret, error) {
	switch {
	case s.PasswordEnv != "" && s.PasswordFile != "":
		return Secret{}, errors.New("the password is to come from a variable and from a file")
	case s.PasswordEnv != "":
		value, ok := os.LookupEnv(s.PasswordEnv)
		if !ok || value == "" {
			return Secret{}, fmt.Errorf("the password is to come from the variable %s, which is not set", s.PasswordEnv)
		}
		return Secret{value}, nil
	case s.PasswordFile != "":
		b, err := os.ReadFile(s.PasswordFile)
		if err != nil {
			return Secret{}, fmt.Errorf("password: %w", err)
		}
		value := strings.TrimRight(string(b), "\r\n")
		if value == "" || strings.ContainsAny(value, "\r\n") {
			return Secret{}, fmt.Errorf("the password is to come from the file %s, which has not one line", s.PasswordFile)
		}
		return Secret{value}, nil
	}
	return Secret{}, nil
}

func (s Spec) config() (*tls.Config, error) {
	if (s.Cert == "") != (s.Key == "") {
		return nil, errors.New("a client's certificate and its key come together")
	}
	if !s.TLS && s.CA == "" && s.Cert == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CA != "" {
		pem, err := os.ReadFile(s.CA)
		if err != nil {
			return nil, fmt.Errorf("certificates of the servers: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificates of the servers: %s has none", s.CA)
		}
	}
	if s.Cert != "" {
		pair, err := tls.LoadX509KeyPair(s.Cert, s.Key)
		if err != nil {
			return nil, fmt.Errorf("the client's certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Encrypted says whether connections are.
func (a Access) Encrypted() bool { return a.tls != nil }

// TLS is how to speak to the server of that name or address; nil: plainly.
func (a Access) TLS(server string) *tls.Config {
	if a.tls == nil {
		return nil
	}
	c := a.tls.Clone()
	c.ServerName = server
	return c
}

// Redactor takes the password out of texts.
func (a Access) Redactor() Redactor { return NewRedactor(a.Password) }
