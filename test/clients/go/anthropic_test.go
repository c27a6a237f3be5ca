package clients

import (
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
)

func anthropicClient() anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(origin), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func TestMessages(t *testing.T) {
	client := anthropicClient()
	eachModel(t, func(t *testing.T, model string) {
		ask := func(messages ...anthropic.MessageParam) anthropic.MessageNewParams {
			return anthropic.MessageNewParams{
				Model:     anthropic.Model(model),
				MaxTokens: 8000,
				Thinking:  anthropic.ThinkingConfigParamOfEnabled(2000),
				Messages:  messages,
				Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
					Name:        "get_weather",
					InputSchema: anthropic.ToolInputSchemaParam{Properties: schema["properties"], Required: []string{"city"}},
				}}},
			}
		}
		send := func(params anthropic.MessageNewParams) anthropic.Message {
			message := must(client.Messages.New(ctx, params))(t)
			strict(t, "message", message)
			return *message
		}
		streamed := func(params anthropic.MessageNewParams) anthropic.Message {
			stream := client.Messages.NewStreaming(ctx, params)
			var message anthropic.Message
			for stream.Next() {
				strict(t, "event", stream.Current())
				if err := message.Accumulate(stream.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if stream.Err() != nil {
				t.Fatal(stream.Err())
			}
			return message
		}
		text := func(message anthropic.Message) string {
			said := ""
			for _, block := range message.Content {
				said += block.Text
			}
			return said
		}
		plain := ask(anthropic.NewUserMessage(anthropic.NewTextBlock(sum)))
		plain.Tools = nil
		for _, run := range []func(anthropic.MessageNewParams) anthropic.Message{send, streamed} {
			contains(t, text(run(plain)), "42")

			asked := anthropic.NewUserMessage(anthropic.NewTextBlock(question))
			called := run(ask(asked))
			var results []anthropic.ContentBlockParamUnion
			for _, block := range called.Content {
				if block.Type == "tool_use" {
					results = append(results, anthropic.NewToolResultBlock(block.ID, result, false))
				}
			}
			if len(results) != 1 || called.StopReason != "tool_use" {
				t.Fatalf("made no call: %s", called.RawJSON())
			}
			contains(t, text(run(ask(asked, called.ToParam(), anthropic.NewUserMessage(results...)))), result)
		}
		counted := must(client.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
			Model: anthropic.Model(model), Messages: plain.Messages,
		}))(t)
		strict(t, "count", counted)
	})
}

func TestModelsOfAnthropic(t *testing.T) {
	client := anthropicClient()
	strict(t, "models", must(client.Models.List(ctx, anthropic.ModelListParams{}))(t).Data)
}
