package analysis

import "testing"

func TestOrdinal(t *testing.T) {
	for n, want := range map[int]string{
		1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 10: "10th", 11: "11th", 12: "12th", 13: "13th", 14: "14th", 20: "20th", 21: "21st", 22: "22nd", 23: "23rd",
		101: "101st", 102: "102nd", 110: "110th", 111: "111th", 112: "112th", 113: "113th", 114: "114th", 121: "121st", 1011: "1011th", 1012: "1012th", 1103: "1103rd",
	} {
		if got := ordinal(n); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestNumbersText(t *testing.T) {
	for want, list := range map[string][]uint32{
		"":                             nil,
		"7":                            {7},
		"7 and 8":                      {7, 8},
		"7 to 9":                       {7, 8, 9},
		"5, 7 and 8":                   {5, 7, 8},
		"5, 7 to 10 and 12":            {5, 7, 8, 9, 10, 12},
		"31 to 33, 36 and 37":          {31, 32, 33, 36, 37},
		"1, 2, 4, 5 and 4294967295":    {1, 2, 4, 5, 1<<32 - 1},
		"4294967295 and 0":             {1<<32 - 1, 0}, // a number that began again
		"1 to 3, 5 to 7, 9, 10 and 12": {1, 2, 3, 5, 6, 7, 9, 10, 12},
	} {
		if got := numbersText(list); got != want {
			t.Errorf("%v is %q, want %q", list, got, want)
		}
	}
}
