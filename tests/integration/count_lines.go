// Command count_lines counts the lines of a text that contain a phrase, ignoring
// case: the independent count that agreement_test.py holds the server's against.
//
//	count_lines FILE... <PHRASES
//
// The phrases end with a NUL byte each; the counts are written one a line.
package main

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

// lines returns the lower-cased lines of the file; what follows the last newline
// is a line when it is not empty.
func lines(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = strings.ToLower(lines[i])
	}
	return lines
}

func count(lines []string, phrase string) int {
	found := 0
	for _, line := range lines {
		if strings.Contains(line, strings.ToLower(phrase)) {
			found++
		}
	}
	return found
}

func main() {
	var text []string
	for _, path := range os.Args[1:] {
		text = append(text, lines(path)...)
	}
	phrases := bufio.NewReader(os.Stdin)
	for {
		phrase, err := phrases.ReadString(0)
		if err == io.EOF {
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(count(text, phrase[:len(phrase)-1]))
	}
}
