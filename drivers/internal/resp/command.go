package resp

import "strconv"

// AppendCommand appends a command as the server reads it: an array of strings.
func AppendCommand(b []byte, words ...string) []byte {
	b = AppendWords(b, len(words))
	for _, w := range words {
		b = AppendWord(b, w)
	}
	return b
}

// AppendWords appends the beginning of a command of n words.
func AppendWords(b []byte, n int) []byte {
	b = append(b, Array)
	b = strconv.AppendInt(b, int64(n), 10)
	return append(b, "\r\n"...)
}

// AppendWord appends a word of a command.
func AppendWord[S string | []byte](b []byte, word S) []byte {
	b = append(b, Bulk)
	b = strconv.AppendInt(b, int64(len(word)), 10)
	b = append(b, "\r\n"...)
	b = append(b, word...)
	return append(b, "\r\n"...)
}

// wordRoom is how many bytes AppendWord may add to a word.
const wordRoom = 1 + 20 + 2 + 2
