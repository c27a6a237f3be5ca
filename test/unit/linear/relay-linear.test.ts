// Cost of a relayed stream: it grows with its bytes and with nothing else, not with how many events arrive at once, and
// not with how small the pieces are that one event comes in. A client that does not read makes the former of any stream.
import { describe, expect, test } from 'bun:test';
import { findProtocol, type RelayStream } from '../../../src/protocols/index.ts';
import type { ProtocolName } from '../../../src/canonical/index.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { LINEAR, settledGrowth } from '../../support/growth.ts';

const FACTS = { id: 'gen-1', model: 'one/m', showUsage: false, redact: (json: string) => json };

function chat(delta: string, end = ',"finish_reason":null}],"usage":null}'): string {
  return `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta}${end}\n\n`;
}

function event(type: string, members: string): string {
  return `event: ${type}\ndata: {"type":"${type}",${members}}\n\n`;
}

interface Shape {
  readonly name: string;
  readonly protocol: ProtocolName;
  readonly opening: string;
  /** With one `~`, which takes a text of any length. */
  readonly delta: string;
}

const MESSAGE = event('message_start', '"message":{"id":"m","model":"x","content":[]}');
const TOOL_USE = event(
  'content_block_start',
  '"index":0,"content_block":{"type":"tool_use","id":"t","name":"f"}',
);
const RESPONSE =
  event('response.created', '"sequence_number":0,"response":{"id":"r","model":"m"}') +
  event('response.output_text.delta', '"sequence_number":1,"delta":"a"');
const GEMINI = (text: string): string =>
  `data: {"candidates":[{"content":{"parts":[{"text":"${text}"}],"role":"model"}}],"modelVersion":"x"}\n\n`;

const SHAPES: readonly Shape[] = [
  {
    name: 'Chat, arguments',
    protocol: 'openai-chat',
    opening: chat('{"content":"a"}'),
    delta: chat('{"tool_calls":[{"index":0,"function":{"arguments":"~"}}]}'),
  },
  {
    name: 'Chat, neither finish reason nor counts',
    protocol: 'openai-chat',
    opening: chat('{"content":"a"}'),
    delta: chat('{"other":"~"}', '}]}'),
  },
  {
    name: 'Messages, arguments',
    protocol: 'anthropic-messages',
    opening: MESSAGE + TOOL_USE,
    delta: event('content_block_delta', '"index":0,"delta":{"type":"input_json_delta","partial_json":"~"}'),
  },
  {
    name: 'Messages, unknown deltas',
    protocol: 'anthropic-messages',
    opening: MESSAGE + TOOL_USE,
    delta: event('content_block_delta', '"index":0,"delta":{"type":"new","new":"~"}'),
  },
  {
    name: 'Responses, arguments',
    protocol: 'openai-responses',
    opening: RESPONSE,
    delta: event('response.function_call_arguments.delta', '"output_index":0,"delta":"~"'),
  },
  {
    name: 'Responses, deltas without one',
    protocol: 'openai-responses',
    opening: RESPONSE,
    delta: event('response.new.delta', '"new":"~"'),
  },
  { name: 'Gemini', protocol: 'gemini', opening: GEMINI('a'), delta: GEMINI('~') },
];

function open({ protocol, opening }: Shape): RelayStream {
  const stream = findProtocol(protocol)?.relay?.openStream(FACTS);
  if (!stream) throw new Error(`${protocol} is not relayed`);
  stream.push(opening);
  return stream;
}

/** Milliseconds. */
function timeOf(shape: Shape, reads: readonly string[]): number {
  const stream = open(shape);
  const from = usedMs();
  for (const read of reads) stream.push(read);
  const took = usedMs() - from;
  expect(stream.error).toBeUndefined();
  return took;
}

describe.each(SHAPES)('$name', (shape) => {
  test('many events in one read take linear time', async () => {
    const frame = shape.delta.replace('~', 'ab');
    // One string, as a read gives it, rather than many that are joined when they are looked at.
    const read = (n: number): string => Buffer.from(frame.repeat(2000 * n)).toString('latin1');
    const reads = new Map([1, 4].map((n) => [n, read(n)]));
    expect(await settledGrowth((n) => timeOf(shape, [reads.get(n) ?? '']))).toBeLessThanOrEqual(LINEAR);
  });

  test.each(['\n', '\r\n'])('one event in many reads, lines end with %j', async (line) => {
    const read = (n: number): string[] => {
      const frame = shape.delta.replace('~', 'y'.repeat(400_000 * n)).replaceAll('\n', line);
      return frame.match(/[^]{1,400}/g) ?? [];
    };
    const reads = new Map([1, 4].map((n) => [n, read(n)]));
    expect(await settledGrowth((n) => timeOf(shape, reads.get(n) ?? []))).toBeLessThanOrEqual(LINEAR);
  });
});
