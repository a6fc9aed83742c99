package selftest

import "os"

func suspend(*os.Process) error { return errNoStopping }

func resume(*os.Process) error { return errNoStopping }
