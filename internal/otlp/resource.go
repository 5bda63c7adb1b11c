package otlp

import (
	"fmt"
	"slices"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"

	"github.com/gclog/gclog/gclog"
)

// resourceOf returns the resource of a process: its attributes, then those of more that it lacks.
func resourceOf(p *gclog.Process, host string, more []attribute) *resource.Resource {
	instance := p.Cookie
	if instance == "" { // .NET Core 3.1
		instance = fmt.Sprintf("%s/%d/%d", host, p.ID, p.StartKey)
	}
	container := "container.name"
	if p.Pod != "" {
		container = "k8s.container.name"
	}
	list := []attribute{
		{"service.name", p.Service},
		{"service.version", p.ServiceVersion},
		{"service.instance.id", instance},
		{"process.executable.name", p.Name},
		{"process.executable.path", p.Executable},
		{"process.runtime.name", ".NET"},
		{"process.runtime.version", p.RuntimeVersion},
		{"host.name", host},
		{"container.id", p.ContainerID},
		{container, p.ContainerName},
		{"k8s.namespace.name", p.Namespace},
		{"k8s.pod.name", p.Pod},
		{"k8s.pod.uid", p.PodUID},
	}
	r := attributes(list, more)
	r.Attributes = append(r.Attributes, &common.KeyValue{Key: "process.pid", Value: integer(p.ID)})
	return r
}

// attributes returns a resource with the attributes of list that have a value, and those of more
// whose names are not among them.
func attributes(list, more []attribute) *resource.Resource {
	r := &resource.Resource{}
	for _, x := range more {
		if !slices.ContainsFunc(list, func(mine attribute) bool { return mine.name == x.name && mine.value != "" }) {
			list = append(slices.Clone(list), x)
		}
	}
	for _, x := range list {
		if x.value != "" {
			r.Attributes = append(r.Attributes, &common.KeyValue{Key: x.name, Value: text(x.value)})
		}
	}
	return r
}

func text(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: valid(s)}}
}

func integer(n int64) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}
}
