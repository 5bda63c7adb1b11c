package view

import "github.com/gclog/gclog/formats/screen"

// Series returns the looks of lines that stand for no class, such as sizes of the heap, in the order
// in which a chart uses them.
func Series() []Look {
	return []Look{
		{"first", "1", "circle", screen.Plain, blue, skyBlue},
		{"second", "2", "square", screen.Plain, orange, orange},
		{"third", "3", "triangle", screen.Plain, green, green},
		{"fourth", "4", "diamond", screen.Plain, purple, purple},
		{"fifth", "5", "cross", screen.Plain, skyBlue, blue},
		{"sixth", "6", "circle", screen.Plain, vermillion, vermillion},
	}
}
