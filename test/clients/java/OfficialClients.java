import com.anthropic.client.AnthropicClient;
import com.anthropic.client.okhttp.AnthropicOkHttpClient;
import com.anthropic.helpers.MessageAccumulator;
import com.anthropic.models.messages.ContentBlockParam;
import com.anthropic.models.messages.Message;
import com.anthropic.models.messages.MessageContentParam;
import com.anthropic.models.messages.MessageCreateParams;
import com.anthropic.models.messages.StopReason;
import com.anthropic.models.messages.Tool;
import com.anthropic.models.messages.ToolResultBlockParam;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.helpers.ResponseAccumulator;
import com.openai.models.FunctionDefinition;
import com.openai.models.FunctionParameters;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessage;
import com.openai.models.chat.completions.ChatCompletionStreamOptions;
import com.openai.models.chat.completions.ChatCompletionToolMessageParam;
import com.openai.models.responses.FunctionTool;
import com.openai.models.responses.Response;
import com.openai.models.responses.ResponseCreateParams;
import com.openai.models.responses.ResponseInputItem;
import com.openai.models.responses.ResponseOutputItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The official Java libraries of OpenAI and Anthropic against a running gateway. They check what they read: each whole
 * answer and each event must have every member that its type demands, and no value that its type does not know.
 *
 * <p>One file, so that Java runs it as it is. Its environment names the gateway, its key, and a model for each kind of
 * upstream. Prints "OK" and how many checks there were; else what failed, and ends with 1.
 */
public final class OfficialClients {
  private static final String ORIGIN = System.getenv("DRAGOMAN_ORIGIN");
  private static final String KEY = System.getenv("DRAGOMAN_KEY");
  private static final String SUM = "What is 6 x 7?";
  private static final String QUESTION = "call get_weather {\"city\": \"Lima\"}";
  private static final String RESULT = "fog in Lima";
  private static final Map<String, ?> CITY = Map.of("city", Map.of("type", "string"));

  private static final OpenAIClient openai =
      OpenAIOkHttpClient.builder()
          .baseUrl(ORIGIN + "/v1")
          .apiKey(KEY)
          .maxRetries(0)
          .responseValidation(true)
          .build();
  private static final AnthropicClient anthropic =
      AnthropicOkHttpClient.builder()
          .baseUrl(ORIGIN)
          .apiKey(KEY)
          .maxRetries(0)
          .responseValidation(true)
          .build();

  private static final List<String> failures = new ArrayList<>();
  private static int checks = 0;

  /** What is asked of one model, in both forms of an answer. */
  private interface Check {
    void run(String model, boolean streams) throws Exception;
  }

  public static void main(String[] args) {
    for (String model : System.getenv("DRAGOMAN_MODELS").trim().split("\\s+")) {
      for (boolean streams : new boolean[] {false, true}) {
        check("Chat Completions", model, streams, OfficialClients::chatCompletions);
        check("Responses", model, streams, OfficialClients::responses);
        check("Messages", model, streams, OfficialClients::messages);
      }
    }
    check("lists of models", "", false, (model, streams) -> {
      expect("a list", !openai.models().list().data().isEmpty() && !anthropic.models().list().data().isEmpty());
    });
    failures.forEach(System.out::println);
    System.out.println(failures.isEmpty() ? "OK " + checks : "failed: " + failures.size() + " of " + checks);
    // The libraries keep threads for their connections.
    System.exit(failures.isEmpty() ? 0 : 1);
  }

  private static void check(String what, String model, boolean streams, Check check) {
    checks++;
    try {
      check.run(model, streams);
    } catch (Throwable failure) {
      failures.add(what + ", " + model + (streams ? ", streamed: " : ", whole: ") + failure);
    }
  }

  private static void expect(String what, boolean holds) {
    if (!holds) throw new AssertionError("expected " + what);
  }

  private static void chatCompletions(String model, boolean streams) {
    Function<ChatCompletionCreateParams.Builder, ChatCompletion> run =
        builder -> {
          if (!streams) return openai.chat().completions().create(builder.build());
          builder.streamOptions(ChatCompletionStreamOptions.builder().includeUsage(true).build());
          ChatCompletionAccumulator answer = ChatCompletionAccumulator.create();
          try (var stream = openai.chat().completions().createStreaming(builder.build())) {
            stream.stream().forEach(answer::accumulate);
          }
          return answer.chatCompletion();
        };
    ChatCompletion plain = run.apply(ChatCompletionCreateParams.builder().model(model).addUserMessage(SUM));
    expect("the sum", plain.choices().get(0).message().content().orElse("").contains("42"));
    expect("counts", plain.usage().get().totalTokens() > 0);

    FunctionDefinition weather =
        FunctionDefinition.builder()
            .name("get_weather")
            .parameters(
                FunctionParameters.builder()
                    .putAdditionalProperty("type", JsonValue.from("object"))
                    .putAdditionalProperty("properties", JsonValue.from(CITY))
                    .build())
            .build();
    ChatCompletionCreateParams.Builder asked =
        ChatCompletionCreateParams.builder().model(model).addFunctionTool(weather).addUserMessage(QUESTION);
    ChatCompletionMessage called = run.apply(asked).choices().get(0).message();
    expect("one call", called.toolCalls().orElse(List.of()).size() == 1);
    String id = called.toolCalls().get().get(0).asFunction().id();
    asked.addMessage(called);
    asked.addMessage(ChatCompletionToolMessageParam.builder().toolCallId(id).content(RESULT).build());
    expect("the result", run.apply(asked).choices().get(0).message().content().orElse("").contains(RESULT));
  }

  private static void responses(String model, boolean streams) {
    Function<ResponseCreateParams.Builder, Response> run =
        builder -> {
          if (!streams) return openai.responses().create(builder.build());
          ResponseAccumulator answer = ResponseAccumulator.create();
          try (var stream = openai.responses().createStreaming(builder.build())) {
            stream.stream().forEach(answer::accumulate);
          }
          return answer.response();
        };
    expect("the sum", textOf(run.apply(ResponseCreateParams.builder().model(model).input(SUM))).contains("42"));

    FunctionTool weather =
        FunctionTool.builder()
            .name("get_weather")
            .strict(false)
            .parameters(
                FunctionTool.Parameters.builder()
                    .putAdditionalProperty("type", JsonValue.from("object"))
                    .putAdditionalProperty("properties", JsonValue.from(CITY))
                    .build())
            .build();
    Response called = run.apply(ResponseCreateParams.builder().model(model).addTool(weather).input(QUESTION));
    List<ResponseInputItem> outputs = new ArrayList<>();
    for (ResponseOutputItem item : called.output()) {
      if (!item.isFunctionCall()) continue;
      outputs.add(
          ResponseInputItem.ofFunctionCallOutput(
              ResponseInputItem.FunctionCallOutput.builder()
                  .callId(item.asFunctionCall().callId())
                  .output(RESULT)
                  .build()));
    }
    expect("one call", outputs.size() == 1);
    Response told =
        run.apply(
            ResponseCreateParams.builder()
                .model(model)
                .addTool(weather)
                .previousResponseId(called.id())
                .inputOfResponse(outputs));
    expect("the result", textOf(told).contains(RESULT));
    expect("the same response later", textOf(openai.responses().retrieve(told.id())).equals(textOf(told)));
  }

  private static String textOf(Response response) {
    StringBuilder text = new StringBuilder();
    for (ResponseOutputItem item : response.output())
      item.message().ifPresent(
          message ->
              message.content().forEach(
                  part -> part.outputText().ifPresent(said -> text.append(said.text()))));
    return text.toString();
  }

  private static void messages(String model, boolean streams) {
    Function<MessageCreateParams.Builder, Message> run =
        builder -> {
          if (!streams) return anthropic.messages().create(builder.build());
          MessageAccumulator answer = MessageAccumulator.create();
          try (var stream = anthropic.messages().createStreaming(builder.build())) {
            stream.stream().forEach(answer::accumulate);
          }
          return answer.message();
        };
    MessageCreateParams.Builder plain =
        MessageCreateParams.builder().model(model).maxTokens(8000).enabledThinking(2000).addUserMessage(SUM);
    expect("the sum", textOf(run.apply(plain)).contains("42"));

    Tool weather =
        Tool.builder()
            .name("get_weather")
            .inputSchema(
                Tool.InputSchema.builder()
                    .properties(com.anthropic.core.JsonValue.from(CITY).convert(Tool.InputSchema.Properties.class))
                    .build())
            .build();
    MessageCreateParams.Builder asked =
        MessageCreateParams.builder()
            .model(model)
            .maxTokens(8000)
            .enabledThinking(2000)
            .addTool(weather)
            .addUserMessage(QUESTION);
    Message called = run.apply(asked);
    expect("a call", called.stopReason().equals(java.util.Optional.of(StopReason.TOOL_USE)));
    List<ContentBlockParam> results = new ArrayList<>();
    called.content().forEach(
        block ->
            block.toolUse().ifPresent(
                call ->
                    results.add(
                        ContentBlockParam.ofToolResult(
                            ToolResultBlockParam.builder().toolUseId(call.id()).content(RESULT).build()))));
    expect("one call", results.size() == 1);
    asked.addMessage(called).addUserMessage(MessageContentParam.ofContentBlockParams(results));
    expect("the result", textOf(run.apply(asked)).contains(RESULT));
  }

  private static String textOf(Message message) {
    StringBuilder text = new StringBuilder();
    message.content().forEach(block -> block.text().ifPresent(said -> text.append(said.text())));
    return text.toString();
  }
}
