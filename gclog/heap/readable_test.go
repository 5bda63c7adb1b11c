package heap_test

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

func TestReadable(t *testing.T) {
	for exact, want := range map[string]string{
		"System.Int32":    "int",
		"System.String[]": "string[]",
		"System.Collections.Generic.Dictionary<System.String, Shop.Cart>":             "System.Collections.Generic.Dictionary<string, Shop.Cart>",
		"System.Collections.Generic.Dictionary<System.String, System.Object>+Entry[]": "System.Collections.Generic.Dictionary<string, object>.Entry[]",
		"GcLoad.Graph.Outer<System.String>+Inner<System.Int32>[,][]":                  "GcLoad.Graph.Outer<string>.Inner<int>[,][]",
		"System.Int32*":                                    "int*",
		"Shop.Int32":                                       "Shop.Int32",
		"Shop.Cart+<Load>d__5":                             "Shop.Cart.Load() state machine",
		"Shop.Cart+<Load>d__5<System.Int32>":               "Shop.Cart.Load<int>() state machine",
		"Shop.Cart+<>c":                                    "lambdas of Shop.Cart",
		"Shop.Cart+<>c[]":                                  "lambdas of Shop.Cart[]",
		"Shop.Cart+<>O":                                    "delegates of Shop.Cart",
		"Shop.Cart<System.Byte>+<>c":                       "lambdas of Shop.Cart<byte>",
		"Shop.Cart+<>c__DisplayClass10_0":                  "closure in Shop.Cart",
		"<>c__DisplayClass10_0<System.String[]>":           "<>c__DisplayClass10_0<string[]>",
		"<>f__AnonymousType3<System.Int32, System.String>": "anonymous type 3<int, string>",
		"System.Collections.Generic.List<<>f__AnonymousType0<System.Int32>>": "System.Collections.Generic.List<anonymous type 0<int>>",
		"<PrivateImplementationDetails>":                                     "<PrivateImplementationDetails>",
		"<PrivateImplementationDetails>+__StaticArrayInitTypeSize=16":        "<PrivateImplementationDetails>.__StaticArrayInitTypeSize=16",
		"Shop.<Program>F0AB__Secret":                                         "Shop.<Program>F0AB__Secret",
		"System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>+AsyncStateMachineBox<Shop.Cart+<Load>d__5>": "async Shop.Cart.Load()",
		"AsyncStateMachineBox<System.Int32, Shop.Cart+<Load>d__5>":                                                                                 "async Shop.Cart.Load()",
		"System.Runtime.CompilerServices.PoolingAsyncValueTaskMethodBuilder<System.Int32>+StateMachineBox<Shop.Cart+<Load>d__5>":                   "async Shop.Cart.Load()",
		"AsyncStateMachineBox<System.Int32, Program+<<Main>$>d__0>":                                                                                "async Program.Main()",
		"AsyncStateMachineBox<System.Int32, Shop.Cart+<>c+<<Run>b__0_0>d>":                                                                         "async Shop.Cart.Run() lambda",
		"AsyncStateMachineBox<System.Int32, Shop.Cart+<>c__DisplayClass1_0+<<Run>g__Try|0>d__2>":                                                   "async Shop.Cart.Run.Try()",
		"AsyncStateMachineBox<System.Int32, System.__Canon>":                                                                                       "AsyncStateMachineBox<int, System.__Canon>",
		"unknown type 0x7f00": "unknown type 0x7f00",
		"":                    "",
		"A<B":                 "A<B",
		"A<>":                 "A<>",
		"A>":                  "A>",
		"<A":                  "<A",
		"+":                   "+",
		`A\<B\+C`:             `A\<B\+C`,
	} {
		if got := heap.Readable(exact); got != want {
			t.Errorf("%s: %s, want %s", exact, got, want)
		}
	}
	nested := strings.Repeat("A<", 100) + "B" + strings.Repeat(">", 100)
	if heap.Readable(nested) != nested {
		t.Error("nesting changed a name")
	}
	deep := strings.Repeat("A<", 1e6)
	if heap.Readable(deep) != deep {
		t.Error("deep nesting changed a name")
	}
}
