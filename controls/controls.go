// Package controls is the harness tested by itself: every broken lock has to be caught by the property that it names and
// by no other but the consequences that its scenario lists, and right locks may never be accused. It has only tests.
package controls
