//go:build zeromq && cgo && !windows

package zeromq

/*
#cgo pkg-config: libzmq
#cgo noescape sn_send
#cgo nocallback sn_send
#cgo noescape sn_request
#cgo nocallback sn_request
#cgo noescape sn_reply
#cgo nocallback sn_reply
#cgo noescape sn_receive
#cgo nocallback sn_receive

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

// All functions return the negated errno of a failure.

typedef struct {
	void *data;
	size_t size;
} sn_view;

// What one call has received. ids are the senders' identities, which only a
// ROUTER gets.
typedef struct {
	int size;
	sn_view *views;
	zmq_msg_t *ids;
	zmq_msg_t *bodies;
} sn_batch;

static sn_batch *sn_batch_new(int size) {
	sn_batch *b = calloc(1, sizeof *b);
	if (b == NULL)
		return NULL;
	b->size = size;
	b->views = calloc(size, sizeof *b->views);
	b->ids = calloc(size, sizeof *b->ids);
	b->bodies = calloc(size, sizeof *b->bodies);
	if (b->views == NULL || b->ids == NULL || b->bodies == NULL) {
		free(b->views);
		free(b->ids);
		free(b->bodies);
		free(b);
		return NULL;
	}
	for (int i = 0; i < size; i++) {
		zmq_msg_init(&b->ids[i]);
		zmq_msg_init(&b->bodies[i]);
	}
	return b;
}

static void sn_batch_free(sn_batch *b) {
	for (int i = 0; i < b->size; i++) {
		zmq_msg_close(&b->ids[i]);
		zmq_msg_close(&b->bodies[i]);
	}
	free(b->views);
	free(b->ids);
	free(b->bodies);
	free(b);
}

static int sn_msg_recv(void *s, zmq_msg_t *m) {
	int n;
	do
		n = zmq_msg_recv(m, s, ZMQ_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

// sn_receive takes up to b->size messages without waiting. It gives the last
// batch's memory free, message by message.
static int sn_receive(void *s, sn_batch *b, int routed) {
	int count = 0;
	for (; count < b->size; count++) {
		zmq_msg_t *body = &b->bodies[count];
		if (routed) {
			int n = sn_msg_recv(s, &b->ids[count]);
			if (n < 0)
				return count > 0 ? count : n;
			if (!zmq_msg_more(&b->ids[count])) {
				count--; // a message of one frame is not from one of us
				continue;
			}
		}
		int n = sn_msg_recv(s, body);
		if (n < 0)
			return count > 0 ? count : n;
		while (zmq_msg_more(body)) // nor one of several more
			if ((n = sn_msg_recv(s, body)) < 0)
				return count > 0 ? count : n;
		b->views[count].data = zmq_msg_data(body);
		b->views[count].size = zmq_msg_size(body);
	}
	return count;
}

static int sn_msg_send(void *s, zmq_msg_t *m, int flags) {
	int n;
	do
		n = zmq_msg_send(m, s, flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

// sn_send sends head and body as one frame without waiting.
static int sn_send(void *s, const void *head, size_t nh, const void *body, size_t nb) {
	zmq_msg_t m;
	if (zmq_msg_init_size(&m, nh + nb) != 0)
		return -errno;
	char *to = zmq_msg_data(&m);
	if (nh > 0)
		memcpy(to, head, nh);
	if (nb > 0)
		memcpy(to + nh, body, nb);
	int rc = sn_msg_send(s, &m, ZMQ_DONTWAIT);
	if (rc < 0)
		zmq_msg_close(&m);
	return rc;
}

// sn_events returns the socket's events. It processes what other threads have
// told the socket, as every call does: see socket.go.
static int sn_events(void *s) {
	int events = 0;
	size_t size = sizeof events;
	if (zmq_getsockopt(s, ZMQ_EVENTS, &events, &size) != 0)
		return -errno;
	return events;
}

// sn_request sends body and tells whether there is something to receive.
static int sn_request(void *s, const void *body, size_t nb) {
	int rc = sn_send(s, NULL, 0, body, nb);
	int events = sn_events(s);
	if (rc < 0)
		return rc;
	return events > 0 && (events & ZMQ_POLLIN) ? 1 : 0;
}

// sn_reply sends body to the sender of the batch's message i.
static int sn_reply(void *s, sn_batch *b, int i, const void *body, size_t nb) {
	zmq_msg_t id;
	zmq_msg_init(&id);
	zmq_msg_copy(&id, &b->ids[i]);
	int rc = sn_msg_send(s, &id, ZMQ_DONTWAIT | ZMQ_SNDMORE);
	if (rc < 0) {
		zmq_msg_close(&id);
		return rc;
	}
	return sn_send(s, NULL, 0, body, nb);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// version returns libzmq's.
func version() string {
	var major, minor, patch C.int
	C.zmq_version(&major, &minor, &patch)
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// failure makes an error of a function's negated errno. libzmq has numbers of
// its own besides the system's.
func failure(rc C.int) error {
	if rc >= 0 {
		return nil
	}
	if errno := syscall.Errno(-rc); errno < 1<<16 {
		return errno
	}
	return errors.New(C.GoString(C.zmq_strerror(-rc)))
}

// called makes an error of a call that has set errno.
func called(rc C.int, err error) error {
	if rc == 0 {
		return nil
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return failure(-C.int(errno))
	}
	return err
}

// complete makes a call on a socket until no signal cuts it short. Each looks first for
// what other threads have to say, which a signal ends, and then has done nothing yet; Go
// itself sends its threads signals.
func complete(call func() (C.int, error)) error {
	for {
		if rc, err := call(); rc == 0 || !errors.Is(err, syscall.EINTR) {
			return called(rc, err)
		}
	}
}

// library is a context of libzmq.
type library struct {
	ptr   unsafe.Pointer
	curve *curve // nil: no security
}

func newLibrary(ioThreads int, secure bool) (*library, error) {
	l := &library{}
	if secure {
		var err error
		if l.curve, err = newCurve(); err != nil {
			return nil, err
		}
	}
	ptr, err := C.zmq_ctx_new()
	if ptr == nil {
		return nil, err
	}
	l.ptr = ptr
	C.zmq_ctx_set(ptr, C.ZMQ_IO_THREADS, C.int(ioThreads))
	C.zmq_ctx_set(ptr, C.ZMQ_MAX_SOCKETS, C.zmq_ctx_get(ptr, C.ZMQ_SOCKET_LIMIT))
	return l, nil
}

// ioThreads returns how many threads the library has for connections.
func (l *library) ioThreads() int { return int(C.zmq_ctx_get(l.ptr, C.ZMQ_IO_THREADS)) }

// terminate waits until all sockets have gone.
func (l *library) terminate() {
	for {
		if rc, err := C.zmq_ctx_term(l.ptr); rc == 0 || !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// curve is the keys of a run: one pair of the side that binds, one of the other.
type curve struct {
	serverPublic, serverSecret, clientPublic, clientSecret string
}

func newCurve() (*curve, error) {
	pair := func() (public, secret string, err error) {
		var p, s [41]C.char
		if rc, err := C.zmq_curve_keypair(&p[0], &s[0]); rc != 0 {
			return "", "", fmt.Errorf("libzmq %s makes no CURVE keys: %w", version(), called(rc, err))
		}
		return C.GoString(&p[0]), C.GoString(&s[0]), nil
	}
	var c curve
	var err, err2 error
	c.serverPublic, c.serverSecret, err = pair()
	c.clientPublic, c.clientSecret, err2 = pair()
	return &c, errors.Join(err, err2)
}

// open makes a socket of the type.
func (l *library) open(kind C.int) (unsafe.Pointer, error) {
	ptr, err := C.zmq_socket(l.ptr, kind)
	if ptr == nil {
		var errno syscall.Errno
		if errors.As(err, &errno) {
			err = failure(-C.int(errno))
		}
		return nil, err
	}
	return ptr, nil
}

func setInt(s unsafe.Pointer, option C.int, value int) error {
	v := C.int(value)
	return complete(func() (C.int, error) {
		rc, err := C.zmq_setsockopt(s, option, unsafe.Pointer(&v), C.size_t(unsafe.Sizeof(v)))
		return rc, err
	})
}

func setString(s unsafe.Pointer, option C.int, value string) error {
	v := C.CString(value)
	defer C.free(unsafe.Pointer(v))
	return complete(func() (C.int, error) {
		rc, err := C.zmq_setsockopt(s, option, unsafe.Pointer(v), C.size_t(len(value)))
		return rc, err
	})
}

func getInt(s unsafe.Pointer, option C.int) (int, error) {
	var v C.int
	size := C.size_t(unsafe.Sizeof(v))
	err := complete(func() (C.int, error) {
		rc, err := C.zmq_getsockopt(s, option, unsafe.Pointer(&v), &size)
		return rc, err
	})
	return int(v), err
}

func lastEndpoint(s unsafe.Pointer) (string, error) {
	var text [512]C.char
	size := C.size_t(len(text))
	err := complete(func() (C.int, error) {
		rc, err := C.zmq_getsockopt(s, C.ZMQ_LAST_ENDPOINT, unsafe.Pointer(&text[0]), &size)
		return rc, err
	})
	return C.GoString(&text[0]), err
}

func bind(s unsafe.Pointer, endpoint string) error {
	e := C.CString(endpoint)
	defer C.free(unsafe.Pointer(e))
	return complete(func() (C.int, error) {
		rc, err := C.zmq_bind(s, e)
		return rc, err
	})
}

func connect(s unsafe.Pointer, endpoint string) error {
	e := C.CString(endpoint)
	defer C.free(unsafe.Pointer(e))
	return complete(func() (C.int, error) {
		rc, err := C.zmq_connect(s, e)
		return rc, err
	})
}

func disconnect(s unsafe.Pointer, endpoint string) error {
	e := C.CString(endpoint)
	defer C.free(unsafe.Pointer(e))
	return complete(func() (C.int, error) {
		rc, err := C.zmq_disconnect(s, e)
		return rc, err
	})
}

// send sends head and body as one message without waiting. Full queues, and no
// peers, are syscall.EAGAIN.
func send(s unsafe.Pointer, head string, body []byte) C.int {
	before := unsafe.Pointer(unsafe.StringData(head))
	if len(body) == 0 {
		return C.sn_send(s, before, C.size_t(len(head)), nil, 0)
	}
	// Written this way, cgo looks for pointers in the slice only, and not in all
	// that was allocated with it.
	return C.sn_send(s, before, C.size_t(len(head)), unsafe.Pointer(&body[0]), C.size_t(len(body)))
}

// request sends body and reports whether there is something to receive.
func request(s unsafe.Pointer, body []byte) (rc C.int, news bool) {
	if len(body) == 0 {
		rc = C.sn_request(s, nil, 0)
	} else {
		rc = C.sn_request(s, unsafe.Pointer(&body[0]), C.size_t(len(body)))
	}
	return min(rc, 0), rc > 0
}

// again reports whether rc says that the socket could not do it now.
func again(rc C.int) bool { return rc == -C.EAGAIN }

// unreachable reports whether rc says that a ROUTER does not know the peer.
func unreachable(rc C.int) bool { return rc == -C.EHOSTUNREACH }

// batch is the memory of messages that were received by one call.
type batch struct {
	ptr   *C.sn_batch
	views []C.sn_view
}

func newBatch(size int) (*batch, error) {
	ptr := C.sn_batch_new(C.int(size))
	if ptr == nil {
		return nil, syscall.ENOMEM
	}
	return &batch{ptr: ptr, views: unsafe.Slice(ptr.views, size)}, nil
}

// receive replaces the batch's messages by those that have come; it returns how
// many, or a negated errno.
func (b *batch) receive(s unsafe.Pointer, routed bool) C.int {
	flag := C.int(0)
	if routed {
		flag = 1
	}
	return C.sn_receive(s, b.ptr, flag)
}

// message returns message i, which is valid until the next receive.
func (b *batch) message(i int) []byte {
	v := &b.views[i]
	return unsafe.Slice((*byte)(v.data), int(v.size))
}

// reply sends body to the sender of message i.
func (b *batch) reply(s unsafe.Pointer, i int, body []byte) C.int {
	if len(body) == 0 {
		return C.sn_reply(s, b.ptr, C.int(i), nil, 0)
	}
	return C.sn_reply(s, b.ptr, C.int(i), unsafe.Pointer(&body[0]), C.size_t(len(body)))
}

func (b *batch) free() { C.sn_batch_free(b.ptr) }
