package clients

import (
	"testing"

	"google.golang.org/genai"
)

// Google's library remembers nothing of what was missing: what it makes of the answers has to do.
func TestGenerateContent(t *testing.T) {
	client := must(genai.NewClient(ctx, &genai.ClientConfig{
		APIKey: key, Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: origin},
	}))(t)
	eachModel(t, func(t *testing.T, model string) {
		config := &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{
			{Name: "get_weather", ParametersJsonSchema: schema},
		}}}}
		send := func(history []*genai.Content) []*genai.GenerateContentResponse {
			return []*genai.GenerateContentResponse{must(client.Models.GenerateContent(ctx, model, history, config))(t)}
		}
		streamed := func(history []*genai.Content) (chunks []*genai.GenerateContentResponse) {
			for chunk, err := range client.Models.GenerateContentStream(ctx, model, history, config) {
				chunks = append(chunks, must(chunk, err)(t))
			}
			return chunks
		}
		for _, run := range []func([]*genai.Content) []*genai.GenerateContentResponse{send, streamed} {
			history := []*genai.Content{genai.NewContentFromText(question, genai.RoleUser)}
			called := genai.NewContentFromParts(partsOf(run(history)), genai.RoleModel)
			var results []*genai.Part
			for _, part := range called.Parts {
				if call := part.FunctionCall; call != nil {
					answer := genai.NewPartFromFunctionResponse(call.Name, map[string]any{"output": result})
					answer.FunctionResponse.ID = call.ID
					results = append(results, answer)
				}
			}
			if len(results) != 1 {
				t.Fatalf("made no call: %+v", called)
			}
			// All of what was said goes back, the empty part at the end of some streams included.
			chunks := run(append(history, called, genai.NewContentFromParts(results, genai.RoleUser)))
			text := ""
			for _, part := range partsOf(chunks) {
				text += part.Text
			}
			contains(t, text, result)
			last := chunks[len(chunks)-1]
			if last.Candidates[0].FinishReason != genai.FinishReasonStop || last.UsageMetadata.TotalTokenCount == 0 {
				t.Fatalf("has no proper end: %+v", last)
			}
		}
	})
}

func partsOf(chunks []*genai.GenerateContentResponse) (parts []*genai.Part) {
	for _, chunk := range chunks {
		parts = append(parts, chunk.Candidates[0].Content.Parts...)
	}
	return parts
}
