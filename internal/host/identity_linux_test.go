package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/ipc"
	"golang.org/x/sys/unix"
)

var (
	idA   = strings.Repeat("0123456789abcdef", 4)
	idB   = strings.Repeat("fedcba9876543210", 4)
	podID = "4f6b5d5e-0d3c-4a2b-9c11-3a1f2b4c5d6e"
)

// TestIdentityByGroups: the names that container runtimes and Kubernetes give to control groups.
func TestIdentityByGroups(t *testing.T) {
	type ids struct{ container, pod string }
	under := strings.ReplaceAll(podID, "-", "_")
	for name, tc := range map[string]struct {
		groups string
		want   ids
	}{
		"a host":                   {"0::/system.slice/nginx.service\n", ids{}},
		"a login":                  {"0::/user.slice/user-1000.slice/session-4.scope\n", ids{}},
		"docker":                   {"0::/system.slice/docker-" + idA + ".scope\n", ids{idA, ""}},
		"docker, version 1":        {"11:memory:/docker/" + idA + "\n10:cpu,cpuacct:/docker/" + idA + "\n0::/\n", ids{idA, ""}},
		"docker in docker":         {"11:memory:/docker/" + idA + "/docker/" + idB + "\n", ids{idB, ""}},
		"systemd in docker":        {"0::/docker/" + idA + "/init.scope\n", ids{idA, ""}},
		"podman":                   {"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + idA + ".scope/container\n", ids{idA, ""}},
		"podman, no systemd":       {"0::/libpod_parent/libpod-" + idA + "\n", ids{idA, ""}},
		"containerd in Kubernetes": {"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + under + ".slice/cri-containerd-" + idA + ".scope\n", ids{idA, podID}},
		"crio in Kubernetes":       {"0::/kubepods.slice/kubepods-pod" + under + ".slice/crio-" + idA + ".scope\n", ids{idA, podID}},
		"without systemd":          {"4:memory:/kubepods/besteffort/pod" + podID + "/" + idA + "\n", ids{idA, podID}},
		"systemd, version 1":       {"4:memory:/system.slice/containerd.service/kubepods-burstable-pod" + under + ".slice:cri-containerd:" + idA + "\n", ids{idA, podID}},
		"a pod of the node itself": {"0::/kubepods/burstable/pod" + idA[:32] + "/" + idB + "\n", ids{idB, idA[:32]}},
		"a neighbour's namespace":  {"0::/../cri-containerd-" + idA + ".scope\n", ids{idA, ""}},
		"another pod's namespace":  {"0::/../../kubepods-pod" + under + ".slice/cri-containerd-" + idA + ".scope\n", ids{idA, podID}},
		"its own namespace":        {"0::/\n", ids{}},
		"65 digits":                {"0::/docker/" + idA + "0\n", ids{}},
		"no line end":              {"0::/docker/" + idA, ids{idA, ""}},
		"nothing":                  {"", ids{}},
	} {
		p := host.IdentifiedBy(tc.groups, "")
		if got := (ids{p.ContainerID, p.PodUID}); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestIdentityByMounts: mounts into a container show more, and are the only source in a cgroup
// namespace of the container's own.
func TestIdentityByMounts(t *testing.T) {
	type ids struct{ container, pod, name string }
	line := func(root, point string) string {
		return "1522 1490 8:1 " + root + " " + point + " rw,relatime - ext4 /dev/sda1 rw\n"
	}
	for name, tc := range map[string]struct {
		mounts string
		want   ids
	}{
		"docker":     {line("/var/lib/docker/containers/"+idA+"/hostname", "/etc/hostname"), ids{idA, "", ""}},
		"podman":     {line("/containers/storage/overlay-containers/"+idA+"/userdata/hosts", "/etc/hosts"), ids{idA, "", ""}},
		"its volume": {line("/backup/containers/"+idA+"/data", "/data"), ids{}},
		"Kubernetes": {
			line("/var/lib/docker/containers/"+idA+"/hostname", "/etc/hostname") + // that of the pod
				line("/var/lib/kubelet/pods/"+podID+"/etc-hosts", "/etc/hosts") +
				line("/var/lib/kubelet/pods/"+podID+"/containers/orders-api/1a2b3c4d", "/dev/termination-log"),
			ids{"", podID, "orders-api"},
		},
		"a hostile name": {line("/pods/"+podID+"/containers/A\\012b/1a2b3c4d", "/dev/termination-log"), ids{"", podID, ""}},
		"damaged lines":  {"\n1 2 3\n - \n" + line("/", "/")[:20] + "\n", ids{}},
	} {
		p := host.IdentifiedBy("", tc.mounts)
		if got := (ids{p.ContainerID, p.PodUID, p.ContainerName}); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

// TestIdentityFirst: the first match counts, and control groups take precedence over mounts.
func TestIdentityFirst(t *testing.T) {
	line := func(root, point string) string {
		return "1522 1490 8:1 " + root + " " + point + " rw,relatime - ext4 /dev/sda1 rw\n"
	}
	mounted := func(id, file string) string { return line("/var/lib/docker/containers/"+id+"/x", "/etc/"+file) }
	pod := func(id, name string) string {
		return line("/pods/"+id+"/containers/"+name+"/1a2b", "/dev/termination-log")
	}
	otherPod := strings.ReplaceAll(podID, "4f6b", "0000")
	for name, tc := range map[string]struct {
		groups, mounts       string
		container, pod, name string
	}{
		"two groups":            {"11:memory:/docker/" + idA + "\n10:cpu:/docker/" + idB + "\n", "", idA, "", ""},
		"two groups of pods":    {"1:a:/pod" + podID + "/" + idA + "\n2:b:/pod" + otherPod + "/" + idB + "\n", "", idA, podID, ""},
		"one in another":        {"1:a:/pod" + otherPod + "/" + idA + "/pod" + podID + "/" + idB + "\n", "", idB, podID, ""},
		"groups before mounts":  {"0::/docker/" + idA + "\n", mounted(idB, "hostname"), idA, "", ""},
		"a pod before mounts":   {"0::/pod" + podID + "\n", mounted(idB, "hostname") + pod(otherPod, "orders"), "", podID, "orders"},
		"two pods by mounts":    {"", pod(podID, "orders") + pod(otherPod, "sidecar"), "", podID, "orders"},
		"hosts":                 {"", mounted(idA, "hosts"), idA, "", ""},
		"resolv.conf":           {"", mounted(idA, "resolv.conf"), idA, "", ""},
		"another file":          {"", mounted(idA, "passwd"), "", "", ""},
		"a pod and its hosts":   {"", pod(podID, "orders") + mounted(idA, "hosts"), "", podID, "orders"},
		"a container and a pod": {"0::/docker/" + idA + "\n", pod(podID, "orders") + mounted(idB, "hosts"), idA, podID, "orders"},
	} {
		p := host.IdentifiedBy(tc.groups, tc.mounts)
		if p.ContainerID != tc.container || p.PodUID != tc.pod || p.ContainerName != tc.name {
			t.Errorf("%s: container %q, pod %q, %q; want %q, %q, %q", name, p.ContainerID, p.PodUID, p.ContainerName, tc.container, tc.pod, tc.name)
		}
	}
}

// TestPathBelow: the path from the directory that a mount shows to a group, both as seen from the
// reader's own namespace.
func TestPathBelow(t *testing.T) {
	for _, tc := range []struct {
		root, path string
		want       string
		ok         bool
	}{
		{"/", "/", "", true},
		{"/", "/a/b", "a b", true},
		{"/docker/x", "/docker/x/y", "y", true},
		{"/docker/x", "/docker/xy", "", false},
		{"/", "/../x", "", false},
		{"/..", "/../x", "x", true},
		{"/../..", "/../../p/c", "p c", true},
		{"/../../p/c", "/../../p/c", "", true},
		{"/a", "/a/../b", "", false},
		{"/", strings.Repeat("/a", 65), "", false},
	} {
		got, ok := host.PathBelow(tc.root, tc.path)
		if ok != tc.ok || ok && strings.Join(got, " ") != tc.want {
			t.Errorf("%s below %s: %q, %v, want %q, %v", tc.path, tc.root, got, ok, tc.want, tc.ok)
		}
	}
}

// TestPodOf: the names that the environment of a process in Kubernetes contains.
func TestPodOf(t *testing.T) {
	for _, tc := range []struct {
		env            map[string]string
		pod, namespace string
	}{
		{nil, "", ""},
		{map[string]string{"HOSTNAME": "host", "POD_NAME": "pod", "POD_NAMESPACE": "shop"}, "", ""},
		{map[string]string{"KUBERNETES_SERVICE_HOST": "x", "HOSTNAME": "host"}, "host", ""},
		{map[string]string{"KUBERNETES_SERVICE_HOST": "x", "HOSTNAME": "host", "POD_NAMESPACE": "shop"}, "host", "shop"},
		{map[string]string{"KUBERNETES_SERVICE_HOST": "x", "HOSTNAME": "host", "POD_NAME": "pod"}, "pod", ""},
		{map[string]string{"KUBERNETES_SERVICE_HOST": "x"}, "", ""},
	} {
		if pod, namespace := host.PodOf(tc.env); pod != tc.pod || namespace != tc.namespace {
			t.Errorf("%v: pod %q in %q, want %q in %q", tc.env, pod, namespace, tc.pod, tc.namespace)
		}
	}
}

// TestIdentityInPod: a real process in an environment that looks like a pod from inside.
func TestIdentityInPod(t *testing.T) {
	const secrets = "/run/secrets/kubernetes.io/serviceaccount"
	// plant creates the files of a pod like Kubernetes: the real ones are in a directory that it
	// can replace.
	plant := func(root string) error {
		dir := root + secrets
		return errors.Join(
			os.MkdirAll(dir+"/..2026_11_21", 0o755), os.MkdirAll(root+"/var", 0o755), os.MkdirAll(root+"/etc/podinfo", 0o755),
			os.Symlink("/run", root+"/var/run"), os.Symlink("..2026_11_21", dir+"/..data"),
			os.WriteFile(dir+"/..2026_11_21/namespace", []byte("shop\n"), 0o644))
	}
	kubernetes := []string{"TMPDIR=/", "KUBERNETES_SERVICE_HOST=10.0.0.1", "HOSTNAME=orders-0"}
	outside := filepath.Join(ipc.ShortDir(t), "outside")
	if err := os.WriteFile(outside, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		plant          func(root string) error
		env            []string
		pod, namespace string
	}{
		"a service account": {func(root string) error {
			return os.Symlink("..data/namespace", root+secrets+"/namespace")
		}, kubernetes, "orders-0", "shop"},
		"a plain file": {func(root string) error {
			return os.WriteFile(root+secrets+"/namespace", []byte("plain"), 0o644)
		}, kubernetes, "orders-0", "plain"},
		"the downward API's files": {func(root string) error {
			return errors.Join(os.WriteFile(root+"/etc/podinfo/name", []byte("orders-real"), 0o644), os.WriteFile(root+"/etc/podinfo/namespace", []byte("real"), 0o644))
		}, kubernetes, "orders-real", "real"},
		"the downward API's variables": {func(string) error { return nil }, append(slices.Clone(kubernetes), "POD_NAME=orders-1", "POD_NAMESPACE=prod"), "orders-1", "prod"},
		"no Kubernetes": {func(root string) error {
			return os.Symlink("..data/namespace", root+secrets+"/namespace")
		}, []string{"TMPDIR=/", "HOSTNAME=orders-0"}, "", ""},
		"a link outside": {func(root string) error {
			return os.Symlink(outside, root+secrets+"/namespace")
		}, kubernetes, "orders-0", ""},
		"a link upwards": {func(root string) error {
			return errors.Join(os.WriteFile(root+"/run/secrets/x", []byte("secret"), 0o644), os.Symlink("../../x", root+secrets+"/namespace"))
		}, kubernetes, "orders-0", ""},
		"a pipe": {func(root string) error { return unix.Mkfifo(root+secrets+"/namespace", 0o644) }, kubernetes, "orders-0", ""},
		"no name": {func(root string) error {
			return os.WriteFile(root+secrets+"/namespace", []byte("root:x:0:0\n"), 0o644)
		}, kubernetes, "orders-0", ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := ipc.ShortDir(t)
			if err := errors.Join(plant(root), tc.plant(root)); err != nil {
				t.Fatal(err)
			}
			p := inNamespaces(t, spec{Chroot: root, Dir: "/", Sockets: []string{exact}}, unix.CLONE_NEWNS, tc.env...)
			target := find(t, p)
			if target.Pod != tc.pod || target.Namespace != tc.namespace {
				t.Errorf("pod %q in %q, want %q in %q", target.Pod, target.Namespace, tc.pod, tc.namespace)
			}
		})
	}
}

// TestIdentityByRealMounts: the kernel shows from which directory a file was mounted.
func TestIdentityByRealMounts(t *testing.T) {
	dir := ipc.ShortDir(t)
	p := inNamespaces(t, spec{Sockets: []string{exact}, Bind: map[string]string{
		dir + "/log": dir + "/pods/" + podID + "/containers/orders/1a2b",
	}}, unix.CLONE_NEWNS, "TMPDIR="+dir)
	if got := find(t, p); got.PodUID != podID || got.ContainerName != "orders" {
		t.Errorf("pod %q, container %q", got.PodUID, got.ContainerName)
	}
}

func TestIgnored(t *testing.T) {
	for env, want := range map[string]bool{"GCLOG_IGNORE=1": true, "GCLOG_IGNORE=0": false, "GCLOG_IGNORE=": false, "A=1": false} {
		if got := find(t, run(t, spec{Sockets: []string{exact}}, env)).Ignored(); got != want {
			t.Errorf("%s: %v", env, got)
		}
	}
}
