package top

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gclog/gclog/formats/screen"
)

// key handles a key. While something is typed or asked, keys mean nothing else.
func (m *Model) key(k string) (command any) {
	switch k {
	case "ctrl+c":
		return Quit{}
	case "ctrl+z":
		return Suspend{}
	}
	m.message = ""
	switch {
	case m.filtering:
		m.typeFilter(k)
		return nil
	case m.confirming:
		m.confirming = false
		if p := m.current(); p != nil && (k == "y" || k == "Y") {
			m.message = fmt.Sprintf("requested a collection of process %d", p.PID)
			return Induce{p.ID, p.PID}
		}
		return nil
	}
	switch k {
	case "q":
		if m.page == pageHelp {
			m.leave()
			return nil
		}
		return Quit{}
	case "esc", "left", "backspace":
		m.leave()
	case "?", "h", "f1":
		m.enter(pageHelp)
	case "p", "space", " ":
		m.pause()
	case "e":
		return m.export()
	case "g":
		m.askInduce()
	case "a":
		return m.askProfile()
	default:
		m.pageKey(k)
	}
	return nil
}

// pageKey handles the keys that depend on the page.
func (m *Model) pageKey(k string) {
	switch m.page {
	case pageList:
		m.listKey(k)
	case pageProcess, pageHeaps:
		m.processKey(k)
	default:
		m.scroll = max(0, m.scroll+m.step(k))
	}
}

func (m *Model) listKey(k string) {
	switch k {
	case "enter", "right", "l":
		if m.current() != nil {
			m.enter(pageProcess)
		}
	case "v":
		if m.current() != nil {
			m.enter(pageHeaps)
		}
	case "/":
		m.filtering, m.filter = true, ""
	case "s":
		m.sort = (m.sort + 1) % len(sorts)
		m.message = "sorted by " + sorts[m.sort].name
	default:
		list := m.shown()
		if by := m.step(k); by != 0 && len(list) > 0 {
			m.selected = list[max(0, min(m.index(list)+by, len(list)-1))].ID
		}
	}
}

func (m *Model) processKey(k string) {
	p := m.current()
	switch k {
	case "enter", "right", "l":
		if p.chosen() != nil {
			p.cursor = p.chosen().Index // it stays the same while it is explained
			m.enter(pageExplain)
		}
	case "v":
		if m.page == pageHeaps {
			m.leave()
			return
		}
		m.enter(pageHeaps)
	default:
		p.move(m.step(k))
	}
}

// step returns how far a key moves the cursor.
func (m *Model) step(k string) int {
	const far = 1 << 20
	screen := max(1, m.height-listFixed)
	return map[string]int{
		"down": 1, "j": 1, "up": -1, "k": -1, "pgdown": screen, "ctrl+f": screen, "pgup": -screen, "ctrl+b": -screen,
		"end": far, "G": far, "home": -far,
	}[k]
}

func (m *Model) typeFilter(k string) {
	switch {
	case k == "enter":
		m.filtering = false
	case k == "esc":
		m.filtering, m.filter = false, ""
	case k == "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.filter = m.filter[:len(m.filter)-n]
	case k == "space":
		m.filter += " "
	case utf8.RuneCountInString(k) == 1 && len(m.filter) < 100:
		m.filter += k
	}
	selected := func(p *process) bool { return p.ID == m.selected }
	if list := m.shown(); len(list) > 0 && !slices.ContainsFunc(list, selected) {
		m.selected = list[0].ID
	}
}

func (m *Model) enter(p page) {
	if p != m.page {
		m.back = append(m.back, m.page)
		m.page, m.scroll = p, 0
	}
}

// leave returns to the page before.
func (m *Model) leave() {
	m.scroll = 0
	switch n := len(m.back); {
	case n > 0:
		m.page, m.back = m.back[n-1], m.back[:n-1]
	case m.page != pageList:
		m.page = pageList
	case m.filter != "":
		m.filter = ""
	}
}

func (m *Model) export() any {
	color := m.o.Color
	m.o.Color = false
	text := m.View()
	m.o.Color = color
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	name := "gclog-top-" + m.now.In(m.o.Zone).Format("20060102-150405") + ".txt"
	return Export{name, strings.Join(lines[:len(lines)-1], "\n") + "\n"}
}

// askProfile shows who allocates in the process of the page, and has it watched, unless it is being watched.
func (m *Model) askProfile() any {
	p := m.current()
	switch {
	case p == nil || m.page != pageProcess && m.page != pageHeaps && m.page != pageAllocations:
		return nil
	case m.o.Replay:
		m.message = "this is a replay: gclog alloc FILE shows who allocates, if the recording has call stacks"
		return nil
	case p.exited:
		m.message = fmt.Sprintf("process %d has exited", p.PID)
		return nil
	case p.trouble != "":
		m.message = fmt.Sprintf("top cannot attach to it: run gclog alloc %d as its user, or as root", p.PID)
		return nil
	}
	m.enter(pageAllocations)
	if p.profile != nil && !p.profile.Done {
		return nil
	}
	p.profile = &Profiled{ID: p.ID, Text: "opening a session"}
	return Profile{p.ID, p.PID}
}

func (m *Model) askInduce() {
	p := m.current()
	switch {
	case p == nil:
	case m.o.Replay:
		m.message = "no collection can be induced: this is a replay"
	case p.exited:
		m.message = fmt.Sprintf("process %d has exited", p.PID)
	default:
		m.confirming = true
		m.message = fmt.Sprintf("Induce a full blocking collection, which pauses process %d (%s)? y/N",
			p.PID, screen.Cut(p.title(), 12))
	}
}
