// Prints the text of a recording, through cgo.
//
//	go build && ./transcribe output_graph.pb speech.wav [kenlm.scorer]
//
// The recording is a WAV file of 16-bit samples, one channel, at the model's sample rate.
package main

// #cgo pkg-config: deepspeech
// #include <deepspeech.h>
// #include <stdlib.h>
import "C"

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"
)

// Model is a speech recognizer, which several goroutines may share.
type Model struct{ state *C.ModelState }

// NewModel loads an exported graph, and a scorer unless its path is empty.
func NewModel(path, scorer string) (*Model, error) {
	// The last error is that of a thread, so what may fail and what tells why stay on one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	graph := C.CString(path)
	defer C.free(unsafe.Pointer(graph))
	model := &Model{}
	if C.DS_CreateModel(graph, &model.state) != C.DS_ERR_OK {
		return nil, lastError()
	}
	if scorer != "" {
		file := C.CString(scorer)
		defer C.free(unsafe.Pointer(file))
		if C.DS_EnableExternalScorer(model.state, file) != C.DS_ERR_OK {
			defer model.Close()
			return nil, lastError()
		}
	}
	return model, nil
}

// Close frees the model.
func (model *Model) Close() { C.DS_FreeModel(model.state) }

// SampleRate returns the rate that samples must have, in Hz.
func (model *Model) SampleRate() int { return int(C.DS_GetModelSampleRate(model.state)) }

// Transcribe returns the text of samples and its confidence.
func (model *Model) Transcribe(samples []int16) (string, float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var first *C.short
	if len(samples) > 0 {
		first = (*C.short)(unsafe.Pointer(&samples[0]))
	}
	heard := C.DS_SpeechToTextWithWords(model.state, first, C.uint(len(samples)), 1)
	if heard == nil {
		return "", 0, lastError()
	}
	defer C.DS_FreeTranscripts(heard)
	return C.GoString(heard.transcripts.text), float64(heard.transcripts.confidence), nil
}

func lastError() error { return errors.New(C.GoString(C.DS_LastErrorMessage())) }

// readSamples finds the samples of a WAV file: after "RIFF", a size and "WAVE" come chunks of a name, a size and content.
func readSamples(path string, rate int) ([]int16, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	right := false
	for left := data[min(12, len(data)):]; len(left) >= 8; {
		name, size := string(left[:4]), min(int(binary.LittleEndian.Uint32(left[4:])), len(left)-8)
		content := left[8 : 8+size]
		if name == "fmt " && size >= 16 {
			channels, bits := binary.LittleEndian.Uint16(content[2:]), binary.LittleEndian.Uint16(content[14:])
			right = channels == 1 && bits == 16 && int(binary.LittleEndian.Uint32(content[4:])) == rate
		}
		if name == "data" && right {
			samples := make([]int16, size/2)
			return samples, binary.Read(bytes.NewReader(content), binary.LittleEndian, samples)
		}
		left = left[min(8+size+size%2, len(left)):]
	}
	return nil, fmt.Errorf("%s: not 16-bit mono at %d Hz, the model's sample rate", path, rate)
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func run(arguments []string) error {
	if len(arguments) < 3 {
		return errors.New("usage: transcribe MODEL WAV [SCORER]")
	}
	model, err := NewModel(arguments[1], append(arguments, "")[3])
	if err != nil {
		return err
	}
	defer model.Close()
	samples, err := readSamples(arguments[2], model.SampleRate())
	if err != nil {
		return err
	}
	text, confidence, err := model.Transcribe(samples)
	if err != nil {
		return err
	}
	fmt.Printf("%s\nconfidence %.4f\n", text, confidence)
	return nil
}

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "transcribe:", err)
		os.Exit(1)
	}
}
