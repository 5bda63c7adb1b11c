package otlp

import (
	"fmt"
	"slices"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"

	"github.com/gclog/gclog/formats/fields"
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
	of := *p
	of.Host = host
	list := []attribute{
		{"service.instance.id", instance},
		{"process.runtime.name", ".NET"},
		{container, p.ContainerName},
	}
	for _, f := range fields.Process() {
		if f.Unit == fields.Text && f.OTel != "" {
			list = append(list, attribute{f.OTel, f.Text(&of)})
		}
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
