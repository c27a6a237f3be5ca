// An answer that broke off and is completed by another endpoint: what the client gets, however the rest is cut into
// pieces. The simulated service plays both parts at the end.
import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import type {
  CanonicalEvent,
  CanonicalRequest,
  ErrorKind,
  EventSink,
  Item,
  Quirks,
} from '../../../src/canonical/index.ts';
import { Collector, GatewayError, NO_USAGE, Report } from '../../../src/canonical/index.ts';
import { buildCatalog } from '../../../src/catalog/index.ts';
import type { Endpoint } from '../../../src/catalog/index.ts';
import type { AttemptOutput } from '../../../src/engine/attempt/attempt-input.ts';
import { ContinuableOutput, isContinuable } from '../../../src/engine/failover/continuation.ts';
import { LearnedRefusals } from '../../../src/engine/attempt/learned-refusals.ts';
import { RepetitionFilter } from '../../../src/engine/failover/repetition-filter.ts';
import { protocols } from '../../../src/protocols/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { NO_QUIRKS } from '../../../src/catalog/providers/provider.ts';
import { createSim, findSimModel, simModels } from '../../../sim/index.ts';
import { simPreset } from '../../../src/catalog/providers/index.ts';
import { EventReader } from '../../../src/engine/attempt/event-reader.ts';
import { codecContext, fillRequest, fillTarget } from '../../support/golden-operations.ts';

/** The client's end: keeps the events, and checks that they could come from one attempt. */
class Client implements AttemptOutput {
  readonly keeps = false;
  readonly events: CanonicalEvent[] = [];
  readonly #open = new Set<number>();
  #items = 0;

  commit(): void {}
  relay(): void {}
  relayWhole(): void {}
  finishing(): void {}
  flush(): void {}

  on(event: CanonicalEvent): void {
    this.events.push(event);
    if (event.type === 'open') {
      expect(event.index).toBe(this.#items++);
      this.#open.add(event.index);
    } else if (event.type === 'finish') expect([...this.#open]).toEqual([]);
    else if ('index' in event) {
      expect(this.#open.has(event.index)).toBe(true);
      if (event.type === 'close') this.#open.delete(event.index);
    }
  }

  get items(): readonly Item[] {
    const collector = new Collector();
    for (const event of this.events) collector.on(event);
    return collector.result().items;
  }

  get text(): string {
    return this.events.map((event) => (event.type === 'text' ? event.text : '')).join('');
  }
}

const START: CanonicalEvent = { type: 'start', id: 'one' };
const FINISH: CanonicalEvent = { type: 'finish', reason: 'stop' };
const message = (index: number): CanonicalEvent => ({ type: 'open', index, item: { type: 'message' } });
const thought = (index: number): CanonicalEvent => ({ type: 'open', index, item: { type: 'reasoning' } });
const close = (index: number): CanonicalEvent => ({ type: 'close', index });
const call = (index: number): CanonicalEvent => ({
  type: 'open',
  index,
  item: { type: 'tool_call', kind: 'function', callId: 'call_1', name: 'look' },
});
const text = (index: number, piece: string, part = 0): CanonicalEvent => ({
  type: 'text',
  index,
  part,
  kind: 'text',
  text: piece,
});
const thinking = (index: number, piece: string): CanonicalEvent => ({
  type: 'reasoning',
  index,
  kind: 'text',
  part: 0,
  text: piece,
});
const usage = (output: number): CanonicalEvent => ({
  type: 'usage',
  usage: {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, uncached: 7 },
    output: { ...NO_USAGE.output, text: output },
    raw: { theirs: true },
  },
});

function play(events: readonly CanonicalEvent[], sink: EventSink): void {
  for (const event of events) sink.on(event);
}

/** Text of a message in pieces of so many characters. */
function inPieces(index: number, whole: string, size: number): CanonicalEvent[] {
  const pieces: CanonicalEvent[] = [];
  for (let at = 0; at < whole.length; at += size) pieces.push(text(index, whole.slice(at, at + size)));
  return pieces;
}

function begun(...events: readonly CanonicalEvent[]): { client: Client; output: ContinuableOutput } {
  const client = new Client();
  const output = new ContinuableOutput(client);
  play([START, ...events], output);
  return { client, output };
}

const QUESTION: CanonicalRequest = fillRequest({
  stream: true,
  maxOutputTokens: 100,
  reasoning: { effort: 'high' },
  items: [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'Tell me a story.' }] }],
});

describe('the text of a continuation', () => {
  const SHOWN = 'Once upon a time, there ';
  const CASES: readonly (readonly [string, string, string, boolean?])[] = [
    ['goes on', 'was a king.', 'was a king.'],
    ['brings the trimmed space again', ' was a king.', 'was a king.'],
    ['brings more space than was trimmed', '\n\nwas a king.', '\n\nwas a king.'],
    ['repeats all', 'Once upon a time, there was a king.', 'was a king.'],
    ['repeats all but the space', 'Once upon a time, therewas a king.', 'was a king.'],
    ['repeats all after a line', '\nOnce upon a time, there was a king.', 'was a king.'],
    ['repeats all and says no more', 'Once upon a time, there', ''],
    ['repeats the beginning only', 'Once upon a time, she was a king.', 'Once upon a time, she was a king.'],
    ['stops within a repetition', 'Once upon', 'Once upon'],
    ['stops after white space', ' ', ''],
    ['begins like a repetition after a line', '\nOnce more', '\nOnce more'],
    ['says nothing', '', ''],
  ];
  test.each(CASES)('%s', (_, given, expected) => {
    for (let size = 1; size <= Math.max(1, given.length); size++) {
      const filter = new RepetitionFilter(SHOWN, false);
      let out = '';
      for (const event of inPieces(0, given, size)) if (event.type === 'text') out += filter.push(event.text);
      out += filter.end();
      expect(out).toBe(expected);
      expect(filter.removed).toBe(given.length - expected.length);
    }
  });

  test('a short text is treated as a repetition only at a server that repeats', () => {
    expect(new RepetitionFilter('Yes', false).push('Yes, yes')).toBe('Yes, yes');
    expect(new RepetitionFilter('The moon', false).push('The moon is far')).toBe(' is far');
    expect(new RepetitionFilter('Yes', true).push('Yes, yes')).toBe(', yes');
  });

  test('text that cannot be a repetition is not delayed', () => {
    const filter = new RepetitionFilter('A long enough text to repeat', false);
    expect(filter.push('B')).toBe('B');
    expect(filter.push('A long')).toBe('A long');
  });
});

describe('a message that broke off', () => {
  const whole = 'Once upon a time, there was a king who had three daughters.';

  test('is completed at every character, with pieces of every size', () => {
    for (let at = 1; at < whole.length; at++) {
      for (const size of [1, 3, 100]) {
        for (const repeats of [false, true]) {
          const { client, output } = begun(message(0), ...inPieces(0, whole.slice(0, at), size));
          expect([output.canContinue, output.needsPrefill]).toEqual([true, true]);
          const asked = output.continuationRequest(QUESTION).items.at(-1);
          const given =
            asked?.type === 'message' && asked.parts[0]?.type === 'text' ? asked.parts[0].text : '';
          const rest = (repeats ? given : '') + whole.slice(given.length);
          play(
            [START, message(0), ...inPieces(0, rest, size), close(0), usage(9), FINISH],
            output.continued(repeats),
          );
          expect(client.text).toBe(whole);
          expect(client.items).toHaveLength(1);
          expect(client.events.filter(({ type }) => type === 'start')).toEqual([START]);
          expect(client.events.at(-1)).toEqual(FINISH);
        }
      }
    }
  });

  test('survives several endpoints that break off', () => {
    const { client, output } = begun(message(0), text(0, 'Once upon a '));
    // Fails before its first content, within a repetition, and after some text.
    play([START, message(0)], output.continued());
    play([START, thought(0), thinking(0, 'hm'), message(1), text(1, 'Once upon')], output.continued(true));
    play([START, message(0), text(0, ' time, ')], output.continued());
    expect([client.text, output.canContinue]).toEqual(['Once upon a time, ', true]);
    play([START, message(0), text(0, ' there.'), close(0), usage(3), FINISH], output.continued());
    expect(client.text).toBe('Once upon a time, there.');
    expect(client.items).toHaveLength(1);
  });

  test('requests fewer tokens, without reasoning', () => {
    const { output } = begun(thought(0), thinking(0, 'Let me'), message(1), text(1, 'Once upon a time \n'));
    const asked = output.continuationRequest(QUESTION);
    expect(asked).toMatchObject({ prefill: true, reasoning: { enabled: false }, maxOutputTokens: 96 });
    expect(asked.items).toEqual([
      ...QUESTION.items,
      { type: 'message', role: 'assistant', parts: [{ type: 'text', text: 'Once upon a time' }] },
    ]);
    expect(output.continuationRequest({ ...QUESTION, maxOutputTokens: 2 }).maxOutputTokens).toBe(1);
  });

  test('counts the output of the broken attempt', () => {
    const { client, output } = begun(
      thought(0),
      thinking(0, '12345678'),
      close(0),
      message(1),
      text(1, '1234 6789'),
      usage(1),
    );
    play([START, message(0), text(0, ' more'), close(0), usage(10), FINISH], output.continued());
    const last = client.events.findLast((event) => event.type === 'usage');
    expect(last?.type === 'usage' && last.usage).toMatchObject({
      input: { uncached: 7 },
      output: { text: 13, reasoning: 2 },
      estimated: true,
      raw: null,
    });
  });

  test('is complete when the rest is empty', () => {
    const { client, output } = begun(message(0), text(0, 'All is said.'));
    play([START, usage(0), FINISH], output.continued());
    expect(client.events.slice(-3).map(({ type }) => type)).toEqual(['usage', 'close', 'finish']);
    expect(client.text).toBe('All is said.');
  });

  test('may be continued although its end was announced', () => {
    const { client, output } = begun(message(0), text(0, 'All is'), close(0), usage(2));
    expect(output.canContinue).toBe(true);
    play([START, message(0), text(0, ' said.'), close(0), FINISH], output.continued());
    expect(client.text).toBe('All is said.');
  });

  test('continues with calls, which get the next index', () => {
    const { client, output } = begun(thought(0), thinking(0, 'hm'), message(1), text(1, 'I will '));
    const args: CanonicalEvent = { type: 'arguments', index: 2, text: '{}' };
    const next = output.continued();
    play([START, thought(0), thinking(0, 'so'), close(0), message(1), text(1, 'look.'), close(1)], next);
    play([call(2), args, close(2), usage(1), FINISH], next);
    expect(client.items.map(({ type }) => type)).toEqual(['reasoning', 'message', 'tool_call']);
    expect(client.items[0]).toMatchObject({ text: ['hm'] });
    expect(client.items[2]).toMatchObject({ arguments: '{}' });
    expect(client.text).toBe('I will look.');
  });

  test('ends before a call when the rest has no text', () => {
    const { client, output } = begun(message(0), text(0, 'I will look.'));
    play([START, call(0), close(0), message(1), text(1, 'So.'), close(1), FINISH], output.continued());
    expect(client.events.map((event) => event.type).slice(2, 5)).toEqual(['text', 'close', 'open']);
    expect(client.items.map(({ type }) => type)).toEqual(['message', 'tool_call', 'message']);
  });

  test('keeps citations and refusals in their places', () => {
    const { client, output } = begun(message(0), text(0, 'Once upon a time, there '));
    const annotation = { type: 'url_citation', url: 'https://example.com', title: 'E' } as const;
    play(
      [
        START,
        message(0),
        text(0, 'Once upon a time, there was a king.'),
        { type: 'annotate', index: 0, part: 0, annotation: { ...annotation, start: 24, end: 34 } },
        { type: 'text', index: 0, part: 1, kind: 'refusal', text: 'No more.' },
        close(0),
        FINISH,
      ],
      output.continued(),
    );
    const [only] = client.items;
    expect(only?.type === 'message' && only.parts).toMatchObject([
      { text: 'Once upon a time, there was a king.', annotations: [{ start: 24, end: 34 }] },
      { refusal: 'No more.' },
    ]);
    const second = begun(message(0), text(0, 'Once'));
    const refusal: CanonicalEvent = { type: 'text', index: 0, part: 0, kind: 'refusal', text: 'No.' };
    play([START, message(0), refusal, close(0), FINISH], second.output.continued());
    expect(second.client.items).toMatchObject([{ parts: [{ text: 'Once' }, { refusal: 'No.' }] }]);
  });
});

test('interrupted reasoning is followed by a whole response', () => {
  const { client, output } = begun(thought(0), thinking(0, 'Let me see'));
  expect([output.canContinue, output.needsPrefill]).toEqual([true, false]);
  expect(output.continuationRequest(QUESTION)).toBe(QUESTION);
  const next = output.continued();
  play([START, thought(0), thinking(0, 'Other'), close(0), message(1), text(1, 'Once'), close(1)], next);
  play([usage(4), FINISH], next);
  expect(client.items).toMatchObject([
    { type: 'reasoning', text: ['Let me see'] },
    { type: 'message', parts: [{ text: 'Once' }] },
  ]);
});

test('a response whose beginning cannot be sent is not continued', () => {
  const said = [message(0), text(0, 'Once')];
  const annotation = { type: 'url_citation', url: '', title: '', start: 0, end: 1 } as const;
  const endings: readonly CanonicalEvent[][] = [
    [],
    [message(0), { type: 'text', index: 0, part: 0, kind: 'refusal', text: 'No.' }],
    [...said, text(0, ' more', 1)],
    [...said, { type: 'annotate', index: 0, part: 0, annotation }],
    [...said, call(1)],
    [...said, close(0), message(1)],
    [...said, close(0), thought(1)],
    [...said, close(0), FINISH],
  ];
  for (const events of endings) expect(begun(...events).output.canContinue).toBe(false);
  const relayed = begun(...said).output;
  relayed.relay('data: {}');
  expect(relayed.canContinue).toBe(false);
});

test('some requests are never continued', () => {
  expect(isContinuable(QUESTION)).toBe(true);
  expect(isContinuable({ ...QUESTION, responseFormat: { type: 'text' } })).toBe(true);
  expect(isContinuable({ ...QUESTION, responseFormat: { type: 'json_object' } })).toBe(false);
  expect(isContinuable({ ...QUESTION, stream: false })).toBe(false);
  const own: Item = { type: 'message', role: 'assistant', parts: [{ type: 'text', text: '{' }] };
  expect(isContinuable({ ...QUESTION, items: [...QUESTION.items, own] })).toBe(false);
});

describe('endpoints for a continuation', () => {
  const catalog = buildCatalog({
    config: { providers: { vllm: {} }, models: [], aliases: {} },
    presets,
    sim: { preset: simPreset('http://127.0.0.1:9'), models: simModels, find: findSimModel },
    environment: Object.fromEntries(presets.map((preset) => [preset.keyVariable ?? '', 'sk-test'])),
    now: () => 0,
    refuse: (path, problem) => {
      throw new Error(`${path}: ${problem}`);
    },
  });
  const endpoint = (prefill: Quirks['prefill'], reasoningMandatory = false): Endpoint =>
    ({ quirks: { ...NO_QUIRKS, prefill }, reasoningMandatory }) as Endpoint;
  const refusal = (words: string, kind: ErrorKind = 'invalid_request'): GatewayError =>
    new GatewayError(kind, words);

  test.each([
    ['anthropic/claude-sonnet-4.5', 'plain'],
    ['anthropic/claude-opus-4.6', 'none'],
    ['anthropic/claude-sonnet-5', 'none'],
    ['openrouter/anthropic/claude-haiku-4.5', 'plain'],
    ['openrouter/openai/gpt-5', 'none'],
    ['openrouter/google/gemini-2.5-pro', 'none'],
    ['openai/gpt-4o', 'none'],
    ['groq/llama-3.3-70b-versatile', 'plain'],
    ['groq/openai/gpt-oss-120b', 'none'],
    ['mistral/mistral-large-latest', 'prefix'],
    ['moonshot/kimi-k2.6', 'partial'],
    ['qwen/qwen-plus', 'partial'],
    ['vllm/meta-llama/Llama-3.1-8B-Instruct', 'continue_final_message'],
    ['deepseek/deepseek-chat', 'none'],
    ['sim/chat', 'plain'],
    ['sim/responses', 'none'],
  ])("have for %s the form %s of an assistant's beginning", (model, prefill) => {
    expect(catalog.find(model)?.endpoints[0]?.quirks.prefill).toBe(prefill as Quirks['prefill']);
  });

  test('are those that accept the beginning of a response, and can respond without reasoning', () => {
    const learned = new LearnedRefusals();
    expect(learned.takesPrefill(endpoint('none'))).toBe(false);
    expect(learned.takesPrefill(endpoint('partial'))).toBe(true);
    expect(learned.takesPrefill(endpoint('partial', true))).toBe(false);
  });

  test.each([
    'This model does not support assistant message prefill. The conversation must end with a user message.',
    'Assistant response prefill is incompatible with enable_thinking.',
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
    'Cannot set both `continue_final_message` and `add_generation_prompt` to True.',
    'messages.1.partial: Extra inputs are not permitted',
  ])('exclude those that returned: %s', (words) => {
    const learned = new LearnedRefusals();
    const [refusing, other] = [endpoint('plain'), endpoint('plain')];
    learned.learnPrefill(refusing, refusal(words));
    expect([learned.takesPrefill(refusing), learned.takesPrefill(other)]).toEqual([false, true]);
  });

  test('include those that failed for another reason', () => {
    const learned = new LearnedRefusals();
    const failing = endpoint('plain');
    learned.learnPrefill(failing, refusal('top_p is out of range'));
    learned.learnPrefill(failing, refusal('the prefill queue is full', 'upstream_unavailable'));
    expect(learned.takesPrefill(failing)).toBe(true);
  });
});

describe('the simulated models', () => {
  const sim = createSim();
  const PATHS = {
    'openai-chat': '/openai/v1/chat/completions',
    'anthropic-messages': '/anthropic/v1/messages',
  } as const;

  /** One streamed answer, as an attempt would read it. @returns the status; the connection may have broken */
  async function ask(
    protocolName: keyof typeof PATHS,
    model: string,
    request: CanonicalRequest,
    sink: EventSink,
  ): Promise<{ status: number; body: string }> {
    const protocol = protocols.find(({ name }) => name === protocolName);
    if (!protocol) throw new Error(protocolName);
    const target = fillTarget({ model, maxOutputTokens: 1000, quirks: { prefill: 'plain' } });
    const response = await sim.fetch(
      new Request(`http://sim${PATHS[protocolName]}`, {
        method: 'POST',
        headers: { 'anthropic-version': '2023-06-01' },
        body: JSON.stringify(protocol.upstream.encodeRequest(request, target, new Report())),
      }),
    );
    if (response.status !== 200) return { status: response.status, body: await response.text() };
    const decoder = protocol.upstream.decodeStream(sink, codecContext());
    const reader = new EventReader((event, data) => decoder.frame(event, data));
    try {
      for await (const chunk of response.body ?? [])
        for (const byte of Buffer.from(chunk as Uint8Array).toString('latin1')) reader.push(byte);
      reader.end();
      decoder.end();
    } catch {
      // The connection was cut: the decoder is not told of an end.
    }
    return { status: 200, body: '' };
  }

  for (const protocol of ['openai-chat', 'anthropic-messages'] as const) {
    test(`complete over ${protocol} a response that another endpoint began`, async () => {
      const whole = new Client();
      const request = { ...QUESTION, maxOutputTokens: undefined };
      await ask(protocol, 'chat', request, whole);
      expect(whole.text.length).toBeGreaterThan(30);
      for (const length of [1, 5, 17, 20, 30]) {
        const client = new Client();
        const output = new ContinuableOutput(client);
        await ask(protocol, `cut-after-${length}`, request, output);
        expect(client.text).toBe(whole.text.slice(0, length));
        await ask(protocol, 'repeats-prefill', output.continuationRequest(request), output.continued(true));
        expect(client.text).toBe(whole.text);
        expect(client.events.at(-1)?.type).toBe('finish');
      }
    });

    test(`can be cut twice over ${protocol}`, async () => {
      const whole = new Client();
      await ask(protocol, 'chat', QUESTION, whole);
      const client = new Client();
      const output = new ContinuableOutput(client);
      await ask(protocol, 'cut-after-12', QUESTION, output);
      await ask(protocol, 'cut-after-9', output.continuationRequest(QUESTION), output.continued());
      expect(client.text).toBe(whole.text.slice(0, 21));
      await ask(protocol, 'chat', output.continuationRequest(QUESTION), output.continued());
      expect(client.text).toBe(whole.text);
    });

    test(`refuse over ${protocol} as Claude 4.6 does`, async () => {
      const { output } = begun(message(0), text(0, 'Once upon'));
      const { status, body } = await ask(
        protocol,
        'no-prefill',
        output.continuationRequest(QUESTION),
        new Client(),
      );
      const error = (JSON.parse(body) as { error: JsonObject }).error;
      expect([status, error['type']]).toEqual([400, 'invalid_request_error']);
      expect(error['message']).toMatch(/does not support assistant message prefill/);
      const client = new Client();
      expect((await ask(protocol, 'no-prefill', QUESTION, client)).status).toBe(200);
      expect(client.text).toMatch(/^You said/);
    });
  }

  test('use the results of tools, and make the remaining calls', async () => {
    const results: Item[] = [
      ...QUESTION.items,
      { type: 'tool_call', kind: 'function', callId: 'call_1', name: 'look', arguments: '{}' },
      { type: 'tool_result', kind: 'function', callId: 'call_1', parts: [{ type: 'text', text: 'Rain.' }] },
    ];
    const { client, output } = begun(message(0), text(0, 'look returned:'));
    const asked = output.continuationRequest({ ...QUESTION, items: results });
    await ask('openai-chat', 'chat', asked, output.continued());
    expect(client.text).toBe('look returned: Rain.');

    const tools: CanonicalRequest['tools'] = [
      { type: 'function', name: 'look', parameters: { type: 'object' } },
    ];
    const explained = fillRequest({
      stream: true,
      tools,
      items: [{ type: 'message', role: 'user', parts: [{ type: 'text', text: 'look and explain' }] }],
    });
    const second = begun(message(0), text(0, 'I will '));
    await ask(
      'anthropic-messages',
      'messages',
      second.output.continuationRequest(explained),
      second.output.continued(),
    );
    expect(second.client.text).toBe('I will use look.');
    expect(second.client.items.map(({ type }) => type)).toEqual(['message', 'tool_call']);
  });
});
