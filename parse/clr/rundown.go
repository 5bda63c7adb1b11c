package clr

// Bits of GCSettings.Bits.
const (
	SettingConcurrent     = 0x1
	SettingLargePages     = 0x2
	SettingFrozenSegments = 0x4
	SettingHardLimit      = 0x8
	SettingNoAffinitize   = 0x10
)

// GCSettings contains the limits under which the GC works (D 10, .NET 7).
type GCSettings struct {
	Instance
	HardLimit            uint64 // bytes, 0: none
	LOHThreshold         uint64
	PhysicalMemoryConfig uint64
	Gen0MinBudget        uint64
	Gen0MaxBudget        uint64
	HighMemoryPercent    uint32
	Bits                 uint32
}

func (e *GCSettings) decode(p *payload, _ int) {
	*e = GCSettings{
		HardLimit: p.u64(), LOHThreshold: p.u64(), PhysicalMemoryConfig: p.u64(),
		Gen0MinBudget: p.u64(), Gen0MaxBudget: p.u64(), HighMemoryPercent: p.u32(), Bits: p.u32(),
		Instance: p.instance(),
	}
}

// Module is a module of an assembly (R 152 when it is loaded; D 153 and 154, for each module, at the
// beginning and the end of a session with rundown).
type Module struct {
	Instance
	ID         uint64
	Assembly   uint64
	Flags      uint32
	ILPath     UTF16 // empty for modules that the program makes
	NativePath UTF16
}

func (e *Module) decode(p *payload, _ int) {
	*e = Module{ID: p.u64(), Assembly: p.u64(), Flags: p.u32()}
	p.u32() // reserved
	e.ILPath, e.NativePath, e.Instance = p.utf16z(), p.utf16z(), p.instance()
}

// Method is a method with compiled code (R 143 when it has been compiled, R 144 when its code has been
// freed; D 144, for each at the end of a session with rundown). A method may have several bodies of code.
type Method struct {
	Instance
	ID           uint64 // of its MethodDesc
	Module       uint64
	StartAddress uint64
	Size         uint32 // bytes
	Token        uint32
	Flags        uint32
	Namespace    UTF16 // the class that declares it, with its namespace
	Name         UTF16
	Signature    UTF16
}

func (e *Method) decode(p *payload, _ int) {
	*e = Method{
		ID: p.u64(), Module: p.u64(), StartAddress: p.u64(), Size: p.u32(), Token: p.u32(), Flags: p.u32(),
		Namespace: p.utf16z(), Name: p.utf16z(), Signature: p.utf16z(), Instance: p.instance(),
	}
}

// R2REntryPoint is a precompiled method that is called for the first time (R 159).
type R2REntryPoint struct {
	Instance
	ID         uint64 // of its MethodDesc
	Namespace  UTF16  // the class that declares it, with its namespace
	Name       UTF16
	Signature  UTF16
	EntryPoint uint64 // start address; the size is unknown
}

func (e *R2REntryPoint) decode(p *payload, _ int) {
	*e = R2REntryPoint{
		ID: p.u64(), Namespace: p.utf16z(), Name: p.utf16z(), Signature: p.utf16z(),
		EntryPoint: p.u64(), Instance: p.instance(),
	}
}

// RundownMark says that the rundown of methods and modules starts (D 148) or is complete (D 146).
type RundownMark struct {
	Instance
	End bool
}

func (e *RundownMark) decode(p *payload, _ int) { e.Instance = p.instance() }

// Bits of RuntimeInformation.StartupFlags.
const (
	StartupConcurrentGC = 0x1
	StartupServerGC     = 0x1000
)

// RuntimeInformation describes the runtime (R 187 when it starts, D 187 at the end of a session
// with rundown).
type RuntimeInformation struct {
	Instance
	Sku            uint16
	BCLVersion     [4]uint16
	VMVersion      [4]uint16
	StartupFlags   uint32
	StartupMode    uint8
	CommandLine    UTF16
	ComObjectGUID  [16]byte
	RuntimeDLLPath UTF16
}

func (e *RuntimeInformation) decode(p *payload, _ int) {
	e.ClrInstance = p.u16()
	e.Sku = p.u16()
	for i := range e.BCLVersion {
		e.BCLVersion[i] = p.u16()
	}
	for i := range e.VMVersion {
		e.VMVersion[i] = p.u16()
	}
	e.StartupFlags, e.StartupMode = p.u32(), p.u8()
	e.CommandLine = p.utf16z()
	copy(e.ComObjectGUID[:], p.take(16))
	e.RuntimeDLLPath = p.utf16z()
}

// ProcessInfo describes the process (EventPipe provider, 1, at the end of a session that a client
// stops).
type ProcessInfo struct {
	Instance            // always 0
	CommandLine   UTF16 // without quotes
	OSInformation UTF16 // .NET 5 and later: "Linux"
	Architecture  UTF16 // .NET 5 and later: "x64"
}

func (e *ProcessInfo) decode(p *payload, version int) {
	*e = ProcessInfo{CommandLine: p.utf16z()}
	if has(version, 1) && p.rest() >= 4 {
		e.OSInformation, e.Architecture = p.utf16z(), p.utf16z()
	}
}
