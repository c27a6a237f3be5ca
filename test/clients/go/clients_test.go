package clients

import (
	"context"
	"os"
	"strings"
	"testing"
)

var (
	origin = os.Getenv("DRAGOMAN_ORIGIN")
	key    = os.Getenv("DRAGOMAN_KEY")
	ctx    = context.Background()
)

const (
	sum      = "What is 6 x 7?"
	question = `call get_weather {"city": "Lima"}`
	result   = "fog in Lima"
)

// Schema of the arguments of get_weather.
var schema = map[string]any{
	"type":       "object",
	"properties": map[string]any{"city": map[string]any{"type": "string"}},
	"required":   []string{"city"},
}

// Runs a test for each model that the environment names: one for each kind of upstream.
func eachModel(t *testing.T, run func(t *testing.T, model string)) {
	models := strings.Fields(os.Getenv("DRAGOMAN_MODELS"))
	if len(models) == 0 {
		t.Fatal("DRAGOMAN_MODELS names no models")
	}
	for _, model := range models {
		t.Run(model, func(t *testing.T) { run(t, model) })
	}
}

// Fails for every defect of an answer.
func strict(t *testing.T, what string, answer any) {
	t.Helper()
	for _, defect := range defects(answer) {
		t.Errorf("%s%s", what, defect)
	}
}

// What a call gave, where it did not fail: must(call())(t).
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func contains(t *testing.T, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Fatalf("%q is not in %q", part, text)
	}
}
