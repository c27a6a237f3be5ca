// Bedrock's Converse in front of the simulated service: its blocks are Anthropic's under other names, so the simulated
// Claude answers. Signatures of requests are not looked at. Knows nothing of the gateway.
import { createSim } from '../../../sim/index.ts';
import { event } from './event-stream-frame.ts';
import { at, list, type Json } from './json-path.ts';

/** Name of a model in the address; the simulated Claude answers under any name. */
export const CONVERSE_MODEL = 'anthropic.claude-sonnet-4-5-20250929-v1:0';

type Block = Readonly<Record<string, unknown>>;

/** Serves it on a free loopback port. */
export function serveConverseSim(): { readonly origin: string; stop(): Promise<void> } {
  const sim = createSim();
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const asked = (await request.json()) as Json;
      const answered = await sim.fetch(
        new Request('http://127.0.0.1/anthropic/v1/messages', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
          body: JSON.stringify(messagesRequest(asked)),
        }),
      );
      const answer = (await answered.json()) as Json;
      if (!answered.ok)
        return Response.json({ message: at(answer, 'error', 'message') }, { status: answered.status });
      if (!new URL(request.url).pathname.endsWith('/converse-stream'))
        return Response.json({
          output: { message: { role: 'assistant', content: list(answer, 'content').map(blockOf) } },
          stopReason: stopReasonOf(answer),
          ...countsOf(answer),
        });
      return new Response(Buffer.concat(eventsOf(answer)), {
        headers: { 'content-type': 'application/vnd.amazon.eventstream' },
      });
    },
  });
  return { origin: `http://127.0.0.1:${server.port}`, stop: () => server.stop(true) };
}

function messagesRequest(asked: Json): object {
  const tools = list(asked, 'toolConfig', 'tools').flatMap((tool) => at(tool, 'toolSpec') ?? []);
  const schema = at(asked, 'outputConfig', 'textFormat', 'structure', 'jsonSchema', 'schema');
  const more = at(asked, 'additionalModelRequestFields') as { output_config?: object } | undefined;
  return {
    model: 'messages',
    max_tokens: at(asked, 'inferenceConfig', 'maxTokens') ?? 8000,
    stop_sequences: at(asked, 'inferenceConfig', 'stopSequences'),
    system: list(asked, 'system').flatMap(anthropicBlock),
    messages: list(asked, 'messages').map((message) => ({
      role: at(message, 'role'),
      content: list(message, 'content').flatMap(anthropicBlock),
    })),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({
        name: at(tool, 'name'),
        description: at(tool, 'description'),
        input_schema: at(tool, 'inputSchema', 'json'),
      })),
      tool_choice: choiceOf(at(asked, 'toolConfig', 'toolChoice')),
    }),
    ...more,
    ...(typeof schema === 'string' && {
      output_config: { ...more?.output_config, format: { type: 'json_schema', schema: JSON.parse(schema) } },
    }),
  };
}

function choiceOf(choice: Json | undefined): object | undefined {
  const name = at(choice, 'tool', 'name');
  if (name !== undefined) return { type: 'tool', name };
  return at(choice, 'any') === undefined ? undefined : { type: 'any' };
}

/** A block of a request as Anthropic has it; none for a cache point. */
function anthropicBlock(block: Json): readonly object[] {
  const call = at(block, 'toolUse');
  const result = at(block, 'toolResult');
  const thought = at(block, 'reasoningContent', 'reasoningText');
  const hidden = at(block, 'reasoningContent', 'redactedContent');
  if (at(block, 'text') !== undefined) return [{ type: 'text', text: at(block, 'text') }];
  if (call)
    return [
      { type: 'tool_use', id: at(call, 'toolUseId'), name: at(call, 'name'), input: at(call, 'input') },
    ];
  if (result)
    return [
      {
        type: 'tool_result',
        tool_use_id: at(result, 'toolUseId'),
        content: list(result, 'content').flatMap(anthropicBlock),
        is_error: at(result, 'status') === 'error',
      },
    ];
  if (thought)
    return [{ type: 'thinking', thinking: at(thought, 'text'), signature: at(thought, 'signature') }];
  return hidden === undefined ? [] : [{ type: 'redacted_thinking', data: hidden }];
}

/** A block of an answer as Converse has it. */
function blockOf(block: Json): Block {
  switch (at(block, 'type')) {
    case 'thinking':
      return {
        reasoningContent: {
          reasoningText: { text: at(block, 'thinking'), signature: at(block, 'signature') },
        },
      };
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: at(block, 'data') } };
    case 'tool_use':
      return { toolUse: { toolUseId: at(block, 'id'), name: at(block, 'name'), input: at(block, 'input') } };
    default:
      return { text: at(block, 'text') };
  }
}

/** Converse has no word for a refusal (API reference, 2026-11). */
function stopReasonOf(answer: Json): Json | undefined {
  const reason = at(answer, 'stop_reason');
  return reason === 'refusal' ? 'content_filtered' : reason;
}

function countsOf(answer: Json): object {
  const inputTokens = Number(at(answer, 'usage', 'input_tokens'));
  const outputTokens = Number(at(answer, 'usage', 'output_tokens'));
  return {
    usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    metrics: { latencyMs: 1 },
  };
}

/** The frames of an answer: texts in pieces, as Bedrock sends them (recorded 2026). */
function eventsOf(answer: Json): Buffer[] {
  const frames = [event('messageStart', { role: 'assistant' })];
  list(answer, 'content').forEach((block, contentBlockIndex) => {
    const delta = (value: object): void => {
      frames.push(event('contentBlockDelta', { contentBlockIndex, delta: value }));
    };
    switch (at(block, 'type')) {
      case 'thinking':
        for (const text of piecesOf(at(block, 'thinking'))) delta({ reasoningContent: { text } });
        delta({ reasoningContent: { signature: at(block, 'signature') } });
        break;
      case 'redacted_thinking':
        delta({ reasoningContent: { redactedContent: at(block, 'data') } });
        break;
      case 'tool_use': {
        const toolUse = { toolUseId: at(block, 'id'), name: at(block, 'name') };
        frames.push(event('contentBlockStart', { contentBlockIndex, start: { toolUse } }));
        for (const input of piecesOf(JSON.stringify(at(block, 'input')))) delta({ toolUse: { input } });
        break;
      }
      default:
        for (const text of piecesOf(at(block, 'text'))) delta({ text });
    }
    frames.push(event('contentBlockStop', { contentBlockIndex }));
  });
  frames.push(
    event('messageStop', { stopReason: stopReasonOf(answer) }),
    event('metadata', countsOf(answer)),
  );
  return frames;
}

function piecesOf(text: unknown): string[] {
  return String(text).match(/[^]{1,12}/gu) ?? [];
}
