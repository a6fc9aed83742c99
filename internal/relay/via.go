package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
)

// Via is a relay through which connections are made. Its methods are safe for concurrent use.
type Via struct {
	Address string `json:"address"` // on loopback
	Token   string `json:"token"`   // who knows it is served
}

// The relay's answers to a request to connect. The rest of the line is the address, or the error: its number, if it has one, and
// its text.
const (
	answerHere  = "here" // connected, and both ends of the relay's connection are on this machine
	answerAway  = "away" // connected, to another machine
	answerError = "error"
	mostAnswer  = 4 << 10
)

// Far is the other end of a connection through a relay.
type Far struct {
	Address netip.AddrPort
	Here    bool // it is on this machine
}

// Dial connects to an address through the relay, as net.Dialer does.
func (v Via) Dial(ctx context.Context, network, address string) (conn net.Conn, far Far, err error) {
	fail := func(err error) (net.Conn, Far, error) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, Far{}, &net.OpError{Op: "dial", Net: network, Err: err}
	}
	if !strings.HasPrefix(network, "tcp") {
		return fail(errors.New("the relay carries TCP only"))
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", v.Address)
	if err != nil {
		return fail(fmt.Errorf("the relay: %w", err))
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	answer, err := ask(c, v.Token+" "+network+" "+address+"\n")
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err == nil {
		switch word, rest, _ := strings.Cut(answer, " "); word {
		case answerHere, answerAway:
			far.Here = word == answerHere
			if far.Address, err = netip.ParseAddrPort(rest); err == nil {
				return c, far, nil
			}
		default:
			number, text, _ := strings.Cut(rest, " ")
			if err = errors.New(text); number != "0" {
				if n, bad := strconv.Atoi(number); bad == nil {
					err = syscall.Errno(n)
				}
			}
		}
	}
	_ = c.Close()
	return fail(err)
}

// ask writes a line and reads one. It reads no byte of what follows.
func ask(c net.Conn, line string) (answer string, err error) {
	if _, err := io.WriteString(c, line); err != nil {
		return "", err
	}
	text := make([]byte, 0, 64)
	for one := make([]byte, 1); len(text) < mostAnswer; text = append(text, one[0]) {
		if _, err := io.ReadFull(c, one); err != nil {
			return "", err
		}
		if one[0] == '\n' {
			return string(text), nil
		}
	}
	return "", errors.New("the relay's answer is too long")
}

// request reads what a client asks for. Nothing follows the line before it is answered.
func request(c net.Conn) (token, network, address string, err error) {
	line, err := bufio.NewReaderSize(io.LimitReader(c, mostAnswer), 512).ReadString('\n')
	if err != nil {
		return "", "", "", err
	}
	words := strings.Fields(line)
	if len(words) != 3 {
		return "", "", "", errors.New("not a request")
	}
	return words[0], words[1], words[2], nil
}

// connected is the answer to a request that succeeded.
func connected(c net.Conn) string {
	from, to := c.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	if to.IP.IsLoopback() || to.IP.Equal(from.IP) { // the kernel connects to an own address from that same address
		return answerHere + " " + to.AddrPort().String()
	}
	return answerAway + " " + to.AddrPort().String()
}

// refused is the answer to a request that failed.
func refused(err error) string {
	var number syscall.Errno
	errors.As(err, &number)
	return fmt.Sprintf("%s %d %s", answerError, int(number), strings.ReplaceAll(err.Error(), "\n", " "))
}
