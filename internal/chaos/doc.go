// Package chaos draws timelines of actions, and finds the shortest part of one that still has an effect.
package chaos
