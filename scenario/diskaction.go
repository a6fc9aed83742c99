package scenario

import (
	"fmt"
	"path"

	"sixnines/internal/strict"
)

// Disk are the parameters of an action that happens to the disks of nodes.
type Disk struct {
	Full bool `yaml:"full,omitempty" doc:"fill all free space"`
	Node Node `yaml:"node,omitempty" doc:"which nodes: a number from 0, leader, followers, random or all; default all" pattern:"[0-9]{1,3}|leader|followers|random|all"`
}

// Corrupt are the parameters of an action that damages files of nodes.
type Corrupt struct {
	Node Node   `yaml:"node" doc:"which nodes: a number from 0, leader, followers, random or all" pattern:"[0-9]{1,3}|leader|followers|random|all"`
	File string `yaml:"file" doc:"pattern for the names of files, or for their paths below the node's directory, such as *.blk or *.log"`
	Bits int    `yaml:"bits,omitempty" doc:"how many bits are turned over in each node's files; default 1" min:"1" max:"4096"`
}

// Flips returns how many bits are turned over in each node's files.
func (c *Corrupt) Flips() int { return max(1, c.Bits) }

// nodes returns which nodes are meant.
func (d *Disk) nodes() Node {
	if d.Node == "" {
		return EveryNode
	}
	return d.Node
}

// checkDisk checks what is to happen to disks.
func checkDisk(v *validator, a *Act) {
	v.refuse(!a.Disk.Full, "the action disk does not say what happens", "write disk: {full: true}", strict.Join(a.key, string(a.Kind)), a.key)
	checkNodes(v, a)
}

// checkCorrupt checks the choice of files to damage.
func checkCorrupt(v *validator, a *Act) {
	_, err := path.Match(a.Corrupt.File, "x")
	v.refuse(a.Corrupt.File == "", "the action corrupt does not say which files", "write corrupt: {node: 0, file: \"*.blk\"}", strict.Join(a.key, string(a.Kind)), a.key)
	v.refuse(err != nil, fmt.Sprintf("%s is not a pattern for file names", quote(a.Corrupt.File)), "* matches any characters, ? matches one, [a-z] matches one of these", strict.Join(a.key, string(a.Kind)), a.key)
	checkNodes(v, a)
}
