// Package fleetrun joins the fleet, the engine and the merging of results: what an agent does with a plan
// ([Runner]), how a scenario is divided ([Divider]), and how what agents record becomes one result ([Collector]).
package fleetrun
