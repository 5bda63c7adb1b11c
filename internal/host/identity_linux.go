package host

import (
	"bytes"
	"context"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// The container and the pod of a process, found without asking any other process.

var (
	// containerPattern matches the id of a container in the path of its control group: a path
	// element of its own, or after the name of the container runtime: cri-containerd-, docker-,
	// crio-, libpod-.
	containerPattern = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:$|[/\n])`)
	// podPattern matches the uid of a pod there; systemd requires underscores in place of its
	// dashes. The uids of a node's static pods have no dashes.
	podPattern = regexp.MustCompile(
		`[/-]pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:$|[./\n])`)
	// Files that Kubernetes and others mount into a container come from directories named after the
	// pod or the container.
	mountedPodPattern  = regexp.MustCompile(`/pods/([0-9a-f-]{32,36})/`)
	mountedNamePattern = regexp.MustCompile(
		`/pods/[0-9a-f-]{32,36}/containers/([a-z0-9][-a-z0-9]{0,62})/[0-9a-f]+$`)
	mountedContainerPattern = regexp.MustCompile(`containers/([0-9a-f]{64})/`)
	// namePattern matches names of namespaces and pods.
	namePattern = regexp.MustCompile(`^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// identifyByGroups takes the ids from the control groups of the process, which a container cannot
// choose itself. The last id in the path counts, because containers can be nested.
func (p *Process) identifyByGroups(groups []byte) {
	for line := range bytes.Lines(groups) {
		if p.ContainerID == "" {
			p.ContainerID = lastMatch(containerPattern, line)
		}
		if p.PodUID == "" {
			p.PodUID = strings.ReplaceAll(lastMatch(podPattern, line), "_", "-")
		}
	}
}

// lastMatch returns the last match of the pattern's group, or "" if there is none.
func lastMatch(pattern *regexp.Regexp, line []byte) (match string) {
	for _, m := range pattern.FindAllSubmatch(line, -1) {
		match = string(m[1])
	}
	return match
}

// identify determines what identifyByGroups could not.
func (p *Process) identify() {
	if proc, err := p.openProc(); err == nil {
		p.identifyByMounts(readMounts(proc))
		_ = unix.Close(proc)
	}
	pod, namespace := PodOf(p.Environ)
	if p.PodUID == "" && p.Environ["KUBERNETES_SERVICE_HOST"] == "" {
		return
	}
	p.Pod = firstName(p.readName("/etc/podinfo/name"), pod)
	p.Namespace = firstName(p.readName("/etc/podinfo/namespace"), namespace,
		p.readName("/var/run/secrets/kubernetes.io/serviceaccount/namespace"))
}

// identifyByMounts takes the ids from what is mounted into a container.
func (p *Process) identifyByMounts(mounts []mount) {
	containers := ""
	for _, m := range mounts {
		if uid := mountedPodPattern.FindStringSubmatch(m.root); uid != nil && p.PodUID == "" {
			p.PodUID = uid[1]
		}
		if name := mountedNamePattern.FindStringSubmatch(m.root); name != nil && p.ContainerName == "" {
			p.ContainerName = name[1]
		}
		switch m.point {
		case "/etc/hostname", "/etc/hosts", "/etc/resolv.conf":
			if id := mountedContainerPattern.FindStringSubmatch(m.root); id != nil {
				containers = id[1]
			}
		}
	}
	// In a pod these files belong to a container that the whole pod shares.
	if p.ContainerID == "" && p.PodUID == "" {
		p.ContainerID = containers
	}
}

// readName reads a file that contains the name of a Kubernetes object.
func (p *Process) readName(path string) string {
	b, _ := p.readFile(context.Background(), path, 256) // one that cannot be read contains no name
	return string(bytes.TrimSpace(b))
}

// firstName returns the first string that is a valid name of a Kubernetes object.
func firstName(list ...string) string {
	for _, s := range list {
		if namePattern.MatchString(s) {
			return s
		}
	}
	return ""
}
