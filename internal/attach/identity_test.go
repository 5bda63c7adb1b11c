package attach

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// TestIdentify: what people have configured takes precedence over what can be seen from outside.
func TestIdentify(t *testing.T) {
	type names struct{ service, version, container, pod, uid, namespace string }
	program := names{service: "Shop.Orders"}
	seen := host.Process{Pod: "orders-7d4b9c6f5-x2x9z", Namespace: "shop", ContainerName: "app", PodUID: "u-1"}
	for name, tc := range map[string]struct {
		env  map[string]string
		from host.Process
		want names
	}{
		"nothing is known": {want: program},
		"OpenTelemetry's name comes first": {
			map[string]string{"OTEL_SERVICE_NAME": "a", "OTEL_RESOURCE_ATTRIBUTES": "service.name=b", "ELASTIC_APM_SERVICE_NAME": "c", "DD_SERVICE": "d", "NEW_RELIC_APP_NAME": "e"},
			seen,
			names{"a", "", "app", "orders-7d4b9c6f5-x2x9z", "u-1", "shop"},
		},
		"then its attributes": {
			map[string]string{"OTEL_RESOURCE_ATTRIBUTES": " service.version = 1%2E2+3 ,nonsense,service.name=b%20c,", "ELASTIC_APM_SERVICE_NAME": "c", "ELASTIC_APM_SERVICE_VERSION": "7", "DD_VERSION": "8"},
			host.Process{},
			names{service: "b c", version: "1.2+3"},
		},
		"then Elastic's": {
			map[string]string{"ELASTIC_APM_SERVICE_NAME": "c", "DD_SERVICE": "d", "NEW_RELIC_APP_NAME": "e", "ELASTIC_APM_SERVICE_VERSION": "7", "DD_VERSION": "8"},
			host.Process{},
			names{service: "c", version: "7"},
		},
		"then Datadog's": {
			map[string]string{"DD_SERVICE": "d", "NEW_RELIC_APP_NAME": "e", "DD_VERSION": "8"},
			host.Process{},
			names{service: "d", version: "8"},
		},
		"then New Relic's":        {map[string]string{"NEW_RELIC_APP_NAME": "e"}, seen, names{"e", "", "app", "orders-7d4b9c6f5-x2x9z", "u-1", "shop"}},
		"then the container":      {nil, seen, names{"app", "", "app", "orders-7d4b9c6f5-x2x9z", "u-1", "shop"}},
		"then the deployment":     {nil, host.Process{Pod: "orders-7d4b9c6f5-x2x9z"}, names{service: "orders", pod: "orders-7d4b9c6f5-x2x9z"}},
		"a pod of no deployment":  {nil, host.Process{Pod: "orders-0"}, names{service: "Shop.Orders", pod: "orders-0"}},
		"over the socket":         {map[string]string{"KUBERNETES_SERVICE_HOST": "10.0.0.1", "HOSTNAME": "orders-0", "POD_NAMESPACE": "shop"}, host.Process{}, names{service: "Shop.Orders", pod: "orders-0", namespace: "shop"}},
		"a host is no pod":        {map[string]string{"HOSTNAME": "server-1"}, host.Process{}, program},
		"damaged percent escapes": {map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "service.name=100%"}, host.Process{}, names{service: "100%"}},
		"all that OpenTelemetry's operator writes": {
			map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "k8s.container.name=api,k8s.deployment.name=orders,k8s.namespace.name=prod,k8s.node.name=n1,k8s.pod.name=p-1,k8s.pod.uid=u-2"},
			seen,
			names{"api", "", "api", "p-1", "u-2", "prod"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := gclog.Process{Name: "dotnet", EntryAssembly: "Shop.Orders.dll"}
			identify(tc.env, &tc.from, &p)
			got := names{p.Service, p.ServiceVersion, p.ContainerName, p.Pod, p.PodUID, p.Namespace}
			if got != tc.want {
				t.Errorf("%+v, want %+v", got, tc.want)
			}
		})
	}
}
