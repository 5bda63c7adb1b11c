package session

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// What a process is in: its container and its pod, without asking anybody.

var (
	// containerPattern is the id of a container in the path of its control group: a step
	// of its own, or with the name of the runtime before it, as cri-containerd-, docker-,
	// crio-, libpod-.
	containerPattern = regexp.MustCompile(`(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:$|[/\n])`)
	// podPattern is the uid of a pod there; systemd wants its dashes as underscores. The
	// pods that a node begins with have no dashes.
	podPattern = regexp.MustCompile(`[/-]pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:$|[./\n])`)
	// What Kubernetes and others mount into a container comes from folders that are
	// called after it.
	mountedPodPattern       = regexp.MustCompile(`/pods/([0-9a-f-]{32,36})/`)
	mountedNamePattern      = regexp.MustCompile(`/pods/[0-9a-f-]{32,36}/containers/([a-z0-9][-a-z0-9]{0,62})/[0-9a-f]+$`)
	mountedContainerPattern = regexp.MustCompile(`containers/([0-9a-f]{64})/`)
	// namePattern is that of namespaces and pods.
	namePattern = regexp.MustCompile(`^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$`)
)

// identifyByGroups finds the ids in the control groups of the process, which a
// container cannot choose itself. The last one counts: a container may be in another.
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

// lastMatch is what the group of a pattern has matched last, "" if nothing.
func lastMatch(pattern *regexp.Regexp, line []byte) (match string) {
	for _, m := range pattern.FindAllSubmatch(line, -1) {
		match = string(m[1])
	}
	return match
}

// identify finds out the rest.
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
	p.Namespace = firstName(p.readName("/etc/podinfo/namespace"), namespace, p.readName("/var/run/secrets/kubernetes.io/serviceaccount/namespace"))
}

// identifyByMounts goes by what is mounted into a container.
func (p *Process) identifyByMounts(mounts []mount) {
	containers := ""
	for _, m := range mounts {
		if uid := mountedPodPattern.FindStringSubmatch(m.root); uid != nil && p.PodUID == "" {
			p.PodUID = uid[1]
		}
		if name := mountedNamePattern.FindStringSubmatch(m.root); name != nil && p.ContainerName == "" {
			p.ContainerName = name[1]
		}
		if id := mountedContainerPattern.FindStringSubmatch(m.root); id != nil && slices.Contains([]string{"/etc/hostname", "/etc/hosts", "/etc/resolv.conf"}, m.point) {
			containers = id[1]
		}
	}
	// In a pod these files belong to a container that all of the pod have in common.
	if p.ContainerID == "" && p.PodUID == "" {
		p.ContainerID = containers
	}
}

// readName reads a file that holds the name of something in Kubernetes.
func (p *Process) readName(path string) string {
	b, err := p.readFile(path, 256)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(b))
}

// firstName returns the first that can be the name of something in Kubernetes.
func firstName(list ...string) string {
	for _, s := range list {
		if namePattern.MatchString(s) {
			return s
		}
	}
	return ""
}
