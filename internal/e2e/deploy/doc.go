// Package deploy tests packages, units and manifests with the programs that read them, and the
// daemon run the way they run it. "make deploy-test" runs the tests, which need Linux.
package deploy
