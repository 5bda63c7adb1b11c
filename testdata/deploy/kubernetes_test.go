// Package deploy checks the files for deployments against the types of the programs that read them.
// It is a separate module, because gclog needs none of these.
package deploy

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var samples = filepath.Join("..", "..", "samples")

// manifest reads the objects of a file: each must have the type of its kind, and no unknown field.
func manifest(t *testing.T, name string, into ...any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(samples, "kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	documents := bytes.Split(b, []byte("\n---\n"))
	if len(documents) != len(into) {
		t.Fatalf("%s holds %d objects, not %d", name, len(documents), len(into))
	}
	for i, d := range documents {
		if err := yaml.UnmarshalStrict(d, into[i]); err != nil {
			t.Fatalf("%s, object %d: %v", name, i+1, err)
		}
	}
}

// checkGclog checks what gclog needs in every pod.
func checkGclog(t *testing.T, pod *corev1.PodSpec, c *corev1.Container) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || s.Privileged != nil || s.Capabilities == nil || s.SeccompProfile == nil || s.RunAsUser == nil {
		t.Fatalf("the security context is not complete: %+v", s)
	}
	if s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem {
		t.Error("the root file system can be written")
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		t.Error("privileges can be escalated")
	}
	if !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) {
		t.Errorf("dropped: %v", s.Capabilities.Drop)
	}
	if s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("seccomp: %s", s.SeccompProfile.Type)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
		t.Error("it has a token for the API, which it does not need")
	}
	if pod.HostNetwork || pod.HostIPC {
		t.Error("it has the network or the IPC of the host")
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		t.Errorf("resources: %+v", c.Resources)
	}
	if limit, ok := environment(c)["GOMEMLIMIT"]; !ok || !strings.HasSuffix(limit, "MiB") {
		t.Errorf("GOMEMLIMIT is %q", limit)
	}
	for _, v := range c.VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(x corev1.Volume) bool { return x.Name == v.Name }) {
			t.Errorf("there is no volume %s", v.Name)
		}
	}
}

func environment(c *corev1.Container) map[string]string {
	all := map[string]string{}
	for _, e := range c.Env {
		all[e.Name] = e.Value
	}
	return all
}

// mounted returns the volume on which a path of a container is.
func mounted(t *testing.T, pod *corev1.PodSpec, c *corev1.Container, path string) *corev1.Volume {
	t.Helper()
	for _, m := range c.VolumeMounts {
		if path != m.MountPath && !strings.HasPrefix(path, m.MountPath+"/") {
			continue
		}
		for i := range pod.Volumes {
			if pod.Volumes[i].Name == m.Name {
				return &pod.Volumes[i]
			}
		}
	}
	t.Fatalf("%s: %s is on no volume", c.Name, path)
	return nil
}

func isHealthProbe(p *corev1.Probe) bool {
	return p != nil && p.Exec != nil && slices.Equal(p.Exec.Command, []string{"/usr/bin/gclog", "health"})
}

func TestDaemonSet(t *testing.T) {
	var namespace corev1.Namespace
	var config corev1.ConfigMap
	var set appsv1.DaemonSet
	manifest(t, "daemonset.yaml", &namespace, &config, &set)
	pod := &set.Spec.Template.Spec
	if len(pod.Containers) != 1 || len(pod.InitContainers) != 0 {
		t.Fatal("it is one container")
	}
	c := &pod.Containers[0]
	checkGclog(t, pod, c)

	// The privileges that it needs, and no others.
	if !pod.HostPID {
		t.Error("it does not see the processes of the node")
	}
	if got := c.SecurityContext.Capabilities.Add; !slices.Equal(got, []corev1.Capability{"SYS_PTRACE", "DAC_OVERRIDE"}) {
		t.Errorf("capabilities: %v", got)
	}
	if *c.SecurityContext.RunAsUser != 0 {
		t.Error("without root the capabilities are not effective")
	}
	if namespace.Labels["pod-security.kubernetes.io/enforce"] != "privileged" {
		t.Error("the namespace does not admit hostPID")
	}

	if set.Namespace != namespace.Name || config.Namespace != namespace.Name {
		t.Error("the namespaces differ")
	}
	for k, v := range set.Spec.Selector.MatchLabels {
		if set.Spec.Template.Labels[k] != v {
			t.Errorf("the selector %s=%s does not select the pods", k, v)
		}
	}
	if !slices.ContainsFunc(pod.Tolerations, func(x corev1.Toleration) bool { return x.Operator == "Exists" && x.Key == "" }) {
		t.Error("it does not run on every node")
	}
	if !isHealthProbe(c.StartupProbe) || !isHealthProbe(c.LivenessProbe) {
		t.Error("the probes do not ask gclog itself")
	}
	if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace < 10 {
		t.Error("it has no time to end its sessions")
	}

	// It reads the file of the ConfigMap, and the logs are on the node.
	i := slices.Index(c.Args, "-c")
	if i < 0 || i+1 == len(c.Args) {
		t.Fatalf("arguments: %v", c.Args)
	}
	file := c.Args[i+1]
	if v := mounted(t, pod, c, file); v.ConfigMap == nil || v.ConfigMap.Name != config.Name || config.Data[filepath.Base(file)] == "" {
		t.Errorf("%s is not of the ConfigMap", file)
	}
	if v := mounted(t, pod, c, "/var/log/gclog"); v.HostPath == nil || v.HostPath.Path != "/var/log/gclog" {
		t.Error("the logs are not in the node's /var/log/gclog")
	}
	if !strings.Contains(config.Data["gclog.yaml"], "path: /var/log/gclog/") {
		t.Error("the logs are not written to /var/log/gclog")
	}
}

func TestSidecar(t *testing.T) {
	var deployment appsv1.Deployment
	manifest(t, "sidecar.yaml", &deployment)
	pod := &deployment.Spec.Template.Spec
	if len(pod.InitContainers) != 1 || len(pod.Containers) != 1 || pod.HostPID {
		t.Fatal("it is one sidecar beside one program, and sees no others")
	}
	c, app := &pod.InitContainers[0], &pod.Containers[0]
	checkGclog(t, pod, c)
	if c.RestartPolicy == nil || *c.RestartPolicy != corev1.ContainerRestartPolicyAlways {
		t.Error("it is no native sidecar: the program would wait for its end")
	}
	if len(c.SecurityContext.Capabilities.Add) != 0 || *c.SecurityContext.RunAsUser == 0 || !*c.SecurityContext.RunAsNonRoot {
		t.Error("it has rights that it does not need")
	}
	if !isHealthProbe(c.StartupProbe) {
		t.Error("the program may start before gclog listens")
	}

	// Both use the same socket, on a volume that they share; nothing waits for it.
	i := slices.Index(c.Args, "--listen")
	if i < 0 || i+1 == len(c.Args) {
		t.Fatalf("arguments: %v", c.Args)
	}
	socket := c.Args[i+1]
	if got := environment(app)["DOTNET_DiagnosticPorts"]; got != socket+",connect,nosuspend" {
		t.Errorf("DOTNET_DiagnosticPorts is %q", got)
	}
	if ours, theirs := mounted(t, pod, c, socket), mounted(t, pod, app, socket); ours != theirs || ours.EmptyDir == nil {
		t.Error("the socket is not on a volume of both")
	}
	if i = slices.Index(c.Args, "-o"); i < 0 || mounted(t, pod, c, c.Args[i+1]).EmptyDir == nil {
		t.Error("the logs are on no volume")
	}
}

// TestDebugContainer: kubectl accepts the file as parts of a container.
func TestDebugContainer(t *testing.T) {
	var c corev1.Container
	manifest(t, "debug-container.yaml", &c)
	if s := c.SecurityContext; s == nil || *s.RunAsUser == 0 || len(s.Capabilities.Add) != 0 {
		t.Errorf("%+v", s)
	}
	if c.Name != "" || c.Image != "" || c.Command != nil {
		t.Error("kubectl refuses a custom profile with these")
	}
}
