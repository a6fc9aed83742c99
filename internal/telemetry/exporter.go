package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// exporter posts metrics to a collector, by OTLP over HTTP with protocol buffers. OpenTelemetry's
// own exporter does so, too, and links gRPC for it: 108 packages, 11 s of processor of a first
// build.
type exporter struct {
	target  Target
	client  *http.Client
	agent   string // of the header User-Agent
	gzip    bool
	timeout time.Duration // of one request
}

// mostAnswer bounds what is read of an answer.
const mostAnswer = 64 << 10

// newExporter reads OpenTelemetry's variables: compression, timeout and certificates. An error
// says that they do not fit the target.
func newExporter(t Target, version string, getenv func(string) string) (*exporter, error) {
	variable := func(name string) (key, value string) {
		for _, key = range []string{"OTEL_EXPORTER_OTLP_METRICS_" + name, "OTEL_EXPORTER_OTLP_" + name} {
			if value = getenv(key); value != "" {
				break
			}
		}
		return key, value
	}
	e := &exporter{target: t, agent: "sixnines/" + version, timeout: pushTimeout}
	switch key, value := variable("COMPRESSION"); value {
	case "", "none":
	case "gzip":
		e.gzip = true
	default:
		return nil, fmt.Errorf("%s is %q, and must be gzip or none", key, value)
	}
	if key, value := variable("TIMEOUT"); value != "" {
		ms, err := strconv.Atoi(value)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%s is %q, and must be a number of milliseconds above 0", key, value)
		}
		e.timeout = min(e.timeout, time.Duration(ms)*time.Millisecond)
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
	authorityKey, authority := variable("CERTIFICATE")
	certificateKey, certificate := variable("CLIENT_CERTIFICATE")
	privateKey, private := variable("CLIENT_KEY")
	switch {
	case authority+certificate+private != "" && t.url.Scheme != "https":
		return nil, fmt.Errorf("certificates are for https, and %s is insecure", t)
	case (certificate == "") != (private == ""):
		return nil, fmt.Errorf("%s and %s go together", certificateKey, privateKey)
	}
	if authority != "" {
		text, err := os.ReadFile(authority)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", authorityKey, err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM", authorityKey, authority)
		}
		transport.TLSClientConfig.RootCAs = pool
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, private)
		if err != nil {
			return nil, fmt.Errorf("%s and %s: %w", certificateKey, privateKey, err)
		}
		transport.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	e.client = &http.Client{Transport: transport}
	return e, nil
}

// errBusy says that the collector asks to be asked again.
var errBusy = errors.New("the collector is busy")

// export posts metrics, again while the collector is busy and ctx lasts.
func (e *exporter) export(ctx context.Context, m *metrics.ResourceMetrics) error {
	// A request of the collector's service has the same form as MetricsData, whose package does not link gRPC.
	body, err := proto.Marshal(&metrics.MetricsData{ResourceMetrics: []*metrics.ResourceMetrics{m}})
	if err != nil {
		return err
	}
	if e.gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write(body); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
		body = b.Bytes()
	}
	for wait := pushTimeout / 10; ; wait = min(2*wait, pushTimeout/2) {
		after, err := e.post(ctx, body)
		if !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-time.After(max(wait, after)):
		case <-ctx.Done():
			return err
		}
	}
}

// post makes one request. An error that wraps errBusy comes with the time that the collector asks
// for.
func (e *exporter) post(ctx context.Context, body []byte) (after time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, e.target.url.String(), bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	for name, value := range e.target.headers {
		q.Header.Set(name, value)
	}
	q.Header.Set("Content-Type", "application/x-protobuf")
	q.Header.Set("User-Agent", e.agent)
	if e.gzip {
		q.Header.Set("Content-Encoding", "gzip")
	}
	a, err := e.client.Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, mostAnswer))
	switch {
	case a.StatusCode == http.StatusTooManyRequests || a.StatusCode == http.StatusBadGateway ||
		a.StatusCode == http.StatusServiceUnavailable || a.StatusCode == http.StatusGatewayTimeout:
		if n, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && n > 0 {
			after = time.Duration(min(n, 3600)) * time.Second
		}
		return after, fmt.Errorf("%w: %s", errBusy, a.Status)
	case a.StatusCode/100 != 2:
		return 0, fmt.Errorf("the collector answers %s", a.Status)
	case err != nil:
		return 0, err
	}
	return 0, rejected(text)
}

// rejected returns an error if the answer, an ExportMetricsServiceResponse, says that the collector
// took not all: its field 1 has the number in field 1 and why in field 2.
func rejected(answer []byte) error {
	partial, _, _ := field(answer, 1)
	_, number, _ := field(partial, 1)
	if why, _, ok := field(partial, 2); number > 0 || ok && len(why) > 0 {
		return fmt.Errorf("the collector rejected %d of the points: %q", number, why)
	}
	return nil
}

// field returns the last field of a message with a number, as bytes or as an integer; false: the
// message does not have it, or is damaged.
func field(message []byte, number protowire.Number) (text []byte, n uint64, ok bool) {
	for len(message) > 0 {
		found, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil, 0, false
		}
		message = message[size:]
		if size = protowire.ConsumeFieldValue(found, kind, message); size < 0 {
			return nil, 0, false
		}
		switch {
		case found != number:
		case kind == protowire.BytesType:
			text, _ = protowire.ConsumeBytes(message)
			ok = true
		case kind == protowire.VarintType:
			n, _ = protowire.ConsumeVarint(message)
			ok = true
		}
		message = message[size:]
	}
	return text, n, ok
}
