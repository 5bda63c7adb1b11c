package heap

import "testing"

func TestProgramOf(t *testing.T) {
	for commandLine, want := range map[string]string{
		"": "", "/opt/shop/Shop.Api": "Shop.Api", `C:\shop\Shop.exe --urls http://+:80`: "Shop",
		"/usr/bin/dotnet Shop.Api.dll plugin.dll": "Shop.Api", "dotnet exec --depsfile x.json /app/Shop.dll": "Shop",
		"/opt/gcload /opt/gcload.dll graph": "gcload", "dotnet build": "dotnet", "corerun.dll": "corerun",
		"/opt/host /opt/Plugin.dll": "host",
	} {
		if got := programOf(commandLine); got != want {
			t.Errorf("%s: %q, want %q", commandLine, got, want)
		}
	}
}
