// Compares corpus/'s folding with Go's strings.ToLower. FOLD_STDIN names the
// program that folds its standard input.
package fold

import (
	"math/rand"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Capital letters that Unicode 14 added. utf8proc 2.8 knows them; Go 1.19 has
// the tables of Unicode 13, where they are unassigned and stay as they are.
var newInUnicode14 = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2c2f, Hi: 0x2c2f, Stride: 1}, // Glagolitic caudate chri
		{Lo: 0xa7c0, Hi: 0xa7c0, Stride: 1}, // Latin old Polish o
		{Lo: 0xa7d0, Hi: 0xa7d0, Stride: 1}, // Latin closed insular g
		{Lo: 0xa7d6, Hi: 0xa7d8, Stride: 2}, // Latin middle Scots s, sigmoid s
	},
	R32: []unicode.Range32{ // Vithkuqi
		{Lo: 0x10570, Hi: 0x1057a, Stride: 1},
		{Lo: 0x1057c, Hi: 0x1058a, Stride: 1},
		{Lo: 0x1058c, Hi: 0x10592, Stride: 1},
		{Lo: 0x10594, Hi: 0x10595, Stride: 1},
	},
}

// fold returns the lines as the program folds them.
func fold(t *testing.T, lines []string) []string {
	t.Helper()
	program := exec.Command(os.Getenv("FOLD_STDIN"))
	program.Stdin = strings.NewReader(strings.Join(lines, "\n"))
	program.Stderr = os.Stderr
	folded, err := program.Output()
	if err != nil {
		t.Fatalf("FOLD_STDIN=%q: %v", os.Getenv("FOLD_STDIN"), err)
	}
	folds := strings.Split(string(folded), "\n")
	if len(folds) != len(lines) {
		t.Fatalf("%d lines became %d", len(lines), len(folds))
	}
	return folds
}

func TestEveryCodePoint(t *testing.T) {
	var lines []string
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r != '\n' && utf8.ValidRune(r) {
			lines = append(lines, string(r))
		}
	}
	folds := fold(t, lines)
	for i, line := range lines {
		r, _ := utf8.DecodeRuneInString(line)
		lower := strings.ToLower(line)
		if unicode.Is(newInUnicode14, r) && lower == line {
			if folds[i] == line {
				t.Errorf("%U is listed as a difference and is none", r)
			}
		} else if folds[i] != lower {
			t.Errorf("%U: folded to %+q, Go has %+q", r, folds[i], lower)
		}
	}
}

func randomLine(random *rand.Rand) string {
	limits := []rune{0x80, 0x80, 0x600, 0x3000, unicode.MaxRune}
	var line []rune
	for length := random.Intn(60); length > 0; length-- {
		r := random.Int31n(limits[random.Intn(len(limits))])
		if r != '\n' && utf8.ValidRune(r) && !unicode.Is(newInUnicode14, r) {
			line = append(line, r)
		}
	}
	return string(line)
}

func TestRandomLines(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var lines []string
	for len(lines) < 20000 {
		lines = append(lines, randomLine(random))
	}
	for i, folded := range fold(t, lines) {
		if lower := strings.ToLower(lines[i]); folded != lower {
			t.Errorf("%+q: folded to %+q, Go has %+q", lines[i], folded, lower)
		}
	}
}

// Go replaces bytes that are not UTF-8; here they stay, and the rest is folded as usual.
func TestInvalidBytesStay(t *testing.T) {
	lines := []string{"\xffÉA", "A\xc3", "\xed\xa0\x80Ω", "\xc1\x81Z", "\xf4\x90\x80\x80Ж"}
	for i, folded := range fold(t, lines) {
		var want []byte
		for rest := []byte(lines[i]); len(rest) > 0; {
			r, size := utf8.DecodeRune(rest)
			if r == utf8.RuneError && size == 1 {
				want = append(want, rest[0])
			} else {
				want = append(want, string(unicode.ToLower(r))...)
			}
			rest = rest[size:]
		}
		if folded != string(want) {
			t.Errorf("%+q: folded to %+q, not %+q", lines[i], folded, want)
		}
	}
}
