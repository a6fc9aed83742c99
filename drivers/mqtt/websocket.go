package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/gorilla/websocket"

	"sixnines/driver"
	"sixnines/drivers/internal/kit"
)

// isWebSocket reports whether a server is reached by WebSocket.
func isWebSocket(to kit.Server) bool { return to.Scheme == "ws" || to.Scheme == "wss" }

// overWebSocket opens a WebSocket on a connection, which may be encrypted, and has MQTT's packets in its binary messages
// (MQTT 5, section 6). path is the URL's; empty: mqtt, as brokers have it.
func overWebSocket(ctx context.Context, to kit.Conn, path string) (kit.Conn, error) {
	d := websocket.Dialer{Subprotocols: []string{"mqtt"}, NetDialContext: func(context.Context, string, string) (net.Conn, error) { return to.Conn, nil }}
	at := url.URL{Scheme: "ws", Host: to.To.Address, Path: "/" + cmp.Or(path, "mqtt")} // encryption is to's
	c, answer, err := d.DialContext(ctx, at.String(), nil)
	switch {
	case errors.Is(err, websocket.ErrBadHandshake) && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden):
		return to, fmt.Errorf("%w: the server answers %s to a WebSocket at %s", driver.ErrUnauthorized, answer.Status, at.Path)
	case errors.Is(err, websocket.ErrBadHandshake):
		return to, fmt.Errorf("%w: the server answers %s to a WebSocket at %s; give the path of the broker's WebSocket listener in the URL, such as ws://host:8083/mqtt", driver.ErrNotConnected, answer.Status, at.Path)
	case err != nil:
		return to, err
	}
	to.Conn = &webSocket{Conn: c}
	return to, nil
}

// webSocket is a WebSocket as a stream of bytes. One goroutine reads and one writes, at a time.
type webSocket struct {
	*websocket.Conn
	in io.Reader // of the message at hand; nil: the next one has not begun
}

// Read implements net.Conn. The library forgets that a read was too late for its deadline.
func (c *webSocket) Read(p []byte) (n int, err error) {
	for {
		if c.in == nil {
			kind, in, err := c.NextReader()
			if err != nil {
				return 0, ended(err)
			}
			if kind != websocket.BinaryMessage {
				return 0, fmt.Errorf("%w: the server sends text, and MQTT is binary", driver.ErrNotConnected)
			}
			c.in = in
		}
		n, err = c.in.Read(p)
		if errors.Is(err, io.EOF) {
			if c.in, err = nil, nil; n == 0 {
				continue
			}
		}
		return n, ended(err)
	}
}

// ended returns io.EOF for an end that the server has announced.
func ended(err error) error {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case errors.As(err, &closed):
		return io.EOF
	case errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("%w: %w", os.ErrDeadlineExceeded, err)
	}
	return err
}

// Write implements net.Conn: p is one message.
func (c *webSocket) Write(p []byte) (int, error) {
	if err := c.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// SetDeadline implements net.Conn.
func (c *webSocket) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
