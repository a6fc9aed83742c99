// Package secret knows which parts of a scenario must not be shown: settings by their names,
// the logins in addresses, and options that a driver calls secret. It knows texts and
// dotted keys only, so that the scenario, the engine and the command hide the same.
package secret
