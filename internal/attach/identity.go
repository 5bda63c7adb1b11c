package attach

import (
	"cmp"
	"net/url"
	"regexp"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// identify fills in what a process belongs to: its service, its container, its pod. What people
// have set in its environment takes precedence over what can be seen from outside.
func identify(env map[string]string, from *host.Process, p *gclog.Process) {
	attributes := resource(env)
	pod, namespace := host.PodOf(env)
	p.Pod = cmp.Or(attributes["k8s.pod.name"], from.Pod, pod)
	p.PodUID = cmp.Or(attributes["k8s.pod.uid"], from.PodUID)
	p.Namespace = cmp.Or(attributes["k8s.namespace.name"], from.Namespace, namespace)
	p.ContainerName = cmp.Or(attributes["k8s.container.name"], from.ContainerName, attributes["container.name"])
	p.Service = cmp.Or(serviceName(env, attributes), p.ContainerName,
		attributes["k8s.deployment.name"], deployment(p.Pod),
		strings.TrimSuffix(p.EntryAssembly, ".dll"), p.Name)
	p.ServiceVersion = cmp.Or(attributes["service.version"], env["ELASTIC_APM_SERVICE_VERSION"], env["DD_VERSION"])
}

// serviceName returns the service that a process belongs to, by the conventions of OpenTelemetry
// and of the vendors, in this order.
func serviceName(env, attributes map[string]string) string {
	return cmp.Or(env["OTEL_SERVICE_NAME"], attributes["service.name"], env["ELASTIC_APM_SERVICE_NAME"],
		env["DD_SERVICE"], env["NEW_RELIC_APP_NAME"])
}

// resource parses OpenTelemetry's resource attributes: name=value pairs separated by commas, with
// special characters percent-encoded (%20).
func resource(env map[string]string) map[string]string {
	attributes := map[string]string{}
	for attribute := range strings.SplitSeq(env["OTEL_RESOURCE_ATTRIBUTES"], ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(attribute), "=")
		if !ok {
			continue
		}
		if plain, err := url.PathUnescape(value); err == nil {
			value = plain
		}
		attributes[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return attributes
}

// deploymentPattern matches the names that Kubernetes gives to the pods of a deployment: the
// deployment's name, a hash of the template and a random suffix, both from an alphabet that cannot
// form words.
var deploymentPattern = regexp.MustCompile(
	`^(.+)-[bcdfghjklmnpqrstvwxz2456789]{6,10}-[bcdfghjklmnpqrstvwxz2456789]{5}$`)

func deployment(pod string) string {
	if m := deploymentPattern.FindStringSubmatch(pod); m != nil {
		return m[1]
	}
	return ""
}
