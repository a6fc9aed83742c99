package mqtt_test

import (
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"sixnines/driver"
	"sixnines/drivers/internal/sessiontest"
	"sixnines/drivers/mqtt"
	"sixnines/internal/brokers"
	"sixnines/internal/brokers/brokertest"
)

// gateway passes on to a broker what comes by WebSocket at /mqtt. It puts packets together and cuts them, as a server may.
func gateway(t *testing.T, broker string) http.Handler {
	up := websocket.Upgrader{Subprotocols: []string{"mqtt"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/mqtt" {
			http.NotFound(w, r)
			return
		}
		ws, err := up.Upgrade(w, r, nil)
		if err != nil || ws.Subprotocol() != "mqtt" {
			t.Errorf("a WebSocket of protocol %q: %v", r.Header.Values("Sec-WebSocket-Protocol"), err)
			return
		}
		defer ws.Close()
		tcp, err := net.Dial("tcp", broker)
		if err != nil {
			return
		}
		defer tcp.Close()
		go func() {
			defer ws.Close()
			for p := make([]byte, 100); ; {
				n, err := tcp.Read(p)
				if err != nil || ws.WriteMessage(websocket.BinaryMessage, p[:n]) != nil {
					return
				}
			}
		}()
		for {
			kind, in, err := ws.NextReader()
			if err != nil {
				return
			}
			if kind != websocket.BinaryMessage {
				t.Errorf("a message of kind %d", kind)
			}
			if _, err := io.Copy(tcp, in); err != nil {
				return
			}
		}
	})
}

func testWebSocket(t *testing.T, c *brokers.Cluster, login map[string]any) {
	handler := gateway(t, brokertest.Address(t, c.URL))
	plain, encrypted := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	t.Cleanup(plain.Close)
	t.Cleanup(encrypted.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: encrypted.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	at := map[string]driver.Target{
		"ws":  {URL: strings.Replace(plain.URL, "http", "ws", 1)},
		"wss": {URL: strings.Replace(encrypted.URL, "http", "ws", 1) + "/mqtt", TLS: &driver.TLS{CA: ca}},
	}
	for name, target := range at {
		for kind, more := range map[string][]any{"direct": nil, "library": {"client", "library"}, "library 3.1.1": {"client", "library", "version", "3.1.1"}} {
			t.Run(name+" "+kind, func(t *testing.T) {
				target.Run, target.Options = "socket", options(login, more...)
				if got := sessiontest.Works(t, mqtt.Entry().Driver, target); !strings.HasSuffix(got.Transport, ", websocket") || got.Encrypted != (name == "wss") {
					t.Errorf("transport %q, encrypted %t", got.Transport, got.Encrypted)
				}
			})
		}
	}
	elsewhere := at["ws"]
	elsewhere.URL, elsewhere.Run = elsewhere.URL+"/elsewhere", "socket"
	if _, err := mqtt.Entry().Driver.Open(t.Context(), elsewhere); !errors.Is(err, driver.ErrNotConnected) || !strings.Contains(err.Error(), "give the path") {
		t.Errorf("a path where nothing is: %v", err)
	}
}
