package clients

import (
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"
)

func openaiClient() openai.Client {
	return openai.NewClient(option.WithBaseURL(origin+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
}

func TestChatCompletions(t *testing.T) {
	client := openaiClient()
	eachModel(t, func(t *testing.T, model string) {
		ask := func(messages ...openai.ChatCompletionMessageParamUnion) openai.ChatCompletionNewParams {
			return openai.ChatCompletionNewParams{
				Model:    model,
				Messages: messages,
				Tools: []openai.ChatCompletionToolUnionParam{
					openai.ChatCompletionFunctionTool(openai.FunctionDefinitionParam{Name: "get_weather", Parameters: schema}),
				},
			}
		}
		plain := ask(openai.UserMessage(sum))
		plain.Tools = nil
		whole := must(client.Chat.Completions.New(ctx, plain))(t)
		strict(t, "completion", whole)
		contains(t, whole.Choices[0].Message.Content, "42")

		streamed := func(params openai.ChatCompletionNewParams) openai.ChatCompletion {
			params.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)}
			stream := client.Chat.Completions.NewStreaming(ctx, params)
			answer := openai.ChatCompletionAccumulator{}
			for stream.Next() {
				strict(t, "chunk", stream.Current())
				if !answer.AddChunk(stream.Current()) {
					t.Fatalf("does not belong to the stream: %s", stream.Current().RawJSON())
				}
			}
			if stream.Err() != nil {
				t.Fatal(stream.Err())
			}
			if answer.Usage.TotalTokens == 0 {
				t.Error("the stream has no counts")
			}
			return answer.ChatCompletion
		}
		contains(t, streamed(plain).Choices[0].Message.Content, "42")

		for _, answer := range []openai.ChatCompletion{
			*must(client.Chat.Completions.New(ctx, ask(openai.UserMessage(question))))(t),
			streamed(ask(openai.UserMessage(question))),
		} {
			message := answer.Choices[0].Message
			if len(message.ToolCalls) != 1 || answer.Choices[0].FinishReason != "tool_calls" {
				t.Fatalf("made no call: %+v", message)
			}
			told := must(client.Chat.Completions.New(ctx, ask(
				openai.UserMessage(question), message.ToParam(), openai.ToolMessage(result, message.ToolCalls[0].ID),
			)))(t)
			strict(t, "completion", told)
			contains(t, told.Choices[0].Message.Content, result)
		}
	})
}

func TestResponses(t *testing.T) {
	client := openaiClient()
	eachModel(t, func(t *testing.T, model string) {
		ask := func(input string) responses.ResponseNewParams {
			return responses.ResponseNewParams{
				Model: model,
				Input: responses.ResponseNewParamsInputUnion{OfString: openai.String(input)},
				Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{
					Name: "get_weather", Parameters: schema, Strict: openai.Bool(false),
				}}},
			}
		}
		send := func(params responses.ResponseNewParams) responses.Response {
			response := must(client.Responses.New(ctx, params))(t)
			strict(t, "response", response)
			return *response
		}
		streamed := func(params responses.ResponseNewParams) responses.Response {
			stream := client.Responses.NewStreaming(ctx, params)
			var last responses.Response
			for stream.Next() {
				event := stream.Current()
				strict(t, "event", event)
				if event.Type == "response.completed" {
					last = event.AsResponseCompleted().Response
				}
			}
			if stream.Err() != nil {
				t.Fatal(stream.Err())
			}
			return last
		}
		plain := ask(sum)
		plain.Tools = nil
		for _, run := range []func(responses.ResponseNewParams) responses.Response{send, streamed} {
			contains(t, run(plain).OutputText(), "42")

			called := run(ask(question))
			var outputs responses.ResponseInputParam
			for _, item := range called.Output {
				if item.Type == "function_call" {
					output := responses.ResponseInputItemParamOfFunctionCallOutput(result)
					output.OfFunctionCallOutput.CallID = openai.String(item.CallID)
					outputs = append(outputs, output)
				}
			}
			if len(outputs) != 1 {
				t.Fatalf("made no call: %s", called.RawJSON())
			}
			next := ask("")
			next.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: outputs}
			next.PreviousResponseID = openai.String(called.ID)
			contains(t, run(next).OutputText(), result)
		}
		kept := must(client.Responses.Get(ctx, send(plain).ID, responses.ResponseGetParams{}))(t)
		strict(t, "kept", kept)
	})
}

func TestModelsOfOpenAI(t *testing.T) {
	client := openaiClient()
	strict(t, "models", must(client.Models.List(ctx))(t).Data)
}
