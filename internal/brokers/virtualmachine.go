package brokers

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// virtualMachine says how to run a product's Java classes.
type virtualMachine struct {
	program string   // java
	libs    string   // the directory of the jars
	heap    string   // the heap's size, at first and at most
	options []string // further arguments
	dir     string   // holds the configuration of logging
}

// Configurations of log4j 1 and 2; each version of a product uses one of them.
const (
	logging1 = "log4j.rootLogger=WARN,out\nlog4j.appender.out=org.apache.log4j.ConsoleAppender\n" +
		"log4j.appender.out.layout=org.apache.log4j.PatternLayout\nlog4j.appender.out.layout.ConversionPattern=%d %p %m (%c)%n\n"
	logging2 = "status=error\nappender.out.type=Console\nappender.out.name=out\nappender.out.layout.type=PatternLayout\n" +
		"appender.out.layout.pattern=%d %p %m (%c)%n\nrootLogger.level=warn\nrootLogger.appenderRef.out.ref=out\n"
)

// newVirtualMachine returns the virtual machine for o, with jars in libs below the
// installation, and o.Settings without java.heap and java.options, which it uses.
func newVirtualMachine(product, libs string, in Installation, o *Options) (virtualMachine, map[string]string, error) {
	program, ok := java(o.Home)
	if !ok {
		return virtualMachine{}, nil, notInstalled("java on PATH or below JAVA_HOME")
	}
	vm := virtualMachine{program: program, libs: filepath.Join(in.Path, libs), heap: "512m", dir: o.Dir}
	own := maps.Clone(o.Settings)
	if heap := own["java.heap"]; heap != "" {
		vm.heap = heap
	}
	vm.options = strings.Fields(own["java.options"])
	delete(own, "java.heap")
	delete(own, "java.options")
	return vm, own, vm.writeLogging()
}

func (vm virtualMachine) writeLogging() error {
	if err := os.WriteFile(filepath.Join(vm.dir, "log4j.properties"), []byte(logging1), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(vm.dir, "log4j2.properties"), []byte(logging2), 0o644)
}

// command returns the command of a long-running process: with the collector and the
// pause limits of Kafka's own scripts.
func (vm virtualMachine) command(class string, args ...string) []string {
	c := []string{vm.program, "-server", "-Xms" + vm.heap, "-Xmx" + vm.heap, "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20",
		"-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true",
		"-Dlog4j.configuration=file:" + filepath.Join(vm.dir, "log4j.properties"),
		"-Dlog4j2.configurationFile=" + filepath.Join(vm.dir, "log4j2.properties")}
	c = append(c, vm.options...)
	return append(append(c, "-cp", filepath.Join(vm.libs, "*"), class), args...)
}

// run runs the class to its end, with the options that are properties (-D…).
func (vm virtualMachine) run(ctx context.Context, env []string, class string, args ...string) error {
	properties := slices.DeleteFunc(slices.Clone(vm.options), func(o string) bool { return !strings.HasPrefix(o, "-D") })
	c := exec.CommandContext(ctx, vm.program, slices.Concat([]string{"-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"}, properties,
		[]string{"-cp", filepath.Join(vm.libs, "*"), class}, args)...)
	c.Env = env
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", class, err, strings.TrimSpace(string(text)))
	}
	return nil
}
