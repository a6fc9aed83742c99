package kit

import (
	"context"
	"strconv"
	"time"

	"sixnines/driver"
)

// Role says whose a connection is.
type Role = driver.Role

// The roles of connections.
const (
	Control  = driver.RoleControl
	Producer = driver.RoleProducer
	Consumer = driver.RoleConsumer
)

// Key names a connection within its session: its role, and the number that the
// engine gave it (driver.ProducerSpec.Conn, driver.ConsumerSpec.Conn).
type Key struct {
	Role Role
	Conn int
	// Slow is one of its own for a consumer that takes its time: Conn is its driver.ConsumerSpec.ID.
	Slow bool
}

// String returns the name by which people see the connection.
func (k Key) String() string {
	if k.Role == Control {
		return string(k.Role)
	}
	name := string(k.Role) + "-" + strconv.Itoa(k.Conn)
	if k.Slow {
		name = "slow-" + name
	}
	return name
}

// Grace limits an orderly end to two seconds, and to three quarters of the time until
// ctx's deadline, so that some is left for one that is not.
func Grace(ctx context.Context) (context.Context, context.CancelFunc) {
	grace := 2 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		grace = min(grace, time.Until(deadline)*3/4)
	}
	return context.WithTimeout(ctx, grace)
}
