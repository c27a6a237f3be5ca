// A protocol of a few lines, as somebody would add it: `{model, say, stream}` is answered with `{id, said, tokens}`, or
// with one event for each piece of it. Stands in for a folder of `src/protocols/`, of which it names nothing but the
// contract.
import { z } from 'zod';
import { asArray, asNumber, asObject, asString, isJsonObject, parseJson } from '../../src/base/json/index.ts';
import { GatewayError, NO_USAGE, Report, outputTokens } from '../../src/canonical/index.ts';
import type { JsonObject } from '../../src/base/json/index.ts';
import type { CanonicalEvent, CollectedEvents, EventSink, Item } from '../../src/canonical/index.ts';
import type { ServedProtocol } from '../../src/protocols/index.ts';

declare module '../../src/canonical/protocol-name.ts' {
  interface ProtocolNames {
    toy: true;
  }
}

export const toy: ServedProtocol = {
  name: 'toy',
  upstream: {
    facts: {
      auth: { header: 'x-toy-key', prefix: '' },
      reasoningFormat: null,
      reasoningStyles: ['effort'],
      smallestBudget: 1,
      modelList: null,
      varies: {},
    },
    path: '/toy',
    headers: {},
    lacks: new Set(['temperature']),
    encodeRequest: ({ items, stream }, { model }) => ({ model, say: items.map(wordsOf), stream }),
    decodeResponse(body, sink) {
      if (!isJsonObject(body) || asString(body['said']) === undefined)
        throw new GatewayError(
          'upstream_unavailable',
          'the upstream answered with something that is not a toy',
        );
      const answer = new Answer(sink);
      answer.say(body);
      answer.end(body);
    },
    decodeStream(sink) {
      const answer = new Answer(sink);
      return {
        frame(event, data) {
          const json = asObject(parseJson(data));
          if (event === 'end') answer.end(json);
          else answer.say(json);
        },
        end: () => answer.cut(),
      };
    },
    decodeError: (status, _header, body) =>
      new GatewayError('upstream_unavailable', body, { upstream: { status, body } }),
  },
  server: {
    addresses: {
      routes: [
        {
          path: '/toy',
          operation: { api: 'toy', does: 'answer' },
          describes: () => ({
            id: 'play',
            tag: 'Toy',
            summary: 'Says something.',
            body: z.looseObject({ model: z.string(), say: z.array(z.string()) }),
            answer: z.looseObject({ said: z.string() }),
          }),
        },
      ],
      errors: { name: 'ToyError', schema: z.looseObject({ wrong: z.string() }) },
      isClient: ({ header }) => header('x-toy') !== null,
      looksOwn: (body) => Object.hasOwn(body, 'say'),
    },
    names: {},
    decodeRequest(body) {
      const raw = asObject(body);
      const model = asString(raw['model']);
      if (model === undefined)
        throw new GatewayError('invalid_request', 'model: is required', { param: 'model' });
      return {
        protocol: 'toy',
        raw,
        model,
        items: asArray(raw['say']).map((said) => says(asString(said) ?? '')),
        tools: [],
        reasoning: {},
        stream: raw['stream'] === true,
        gateway: {},
        extra: {},
        report: new Report(),
      };
    },
    namedObjects: () => [],
    represents: new Set(),
    encodeResponse: (events, { id }) => ({ id, said: saidIn(events), tokens: tokensOf(events) }),
    encodeStream(write) {
      let tokens = 0;
      const on = (event: CanonicalEvent): void => {
        if (event.type === 'text') write(frame('said', { said: event.text }));
        else if (event.type === 'usage') tokens = outputTokens(event.usage);
        else if (event.type === 'finish') write(frame('end', { tokens }));
        else if (event.type === 'error') write(frame('error', { wrong: event.error.message }));
      };
      return { on };
    },
    encodeError: (error) => ({ status: error.status, body: { wrong: error.message } }),
  },
};

/** Events of a toy's answer in the canonical model: one message. */
class Answer {
  readonly #sink: EventSink;
  #isOpen = false;
  #isOver = false;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  say({ id, said }: JsonObject): void {
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#sink.on({ type: 'start', id: asString(id) });
      this.#sink.on({ type: 'open', index: 0, item: { type: 'message' } });
    }
    this.#sink.on({ type: 'text', index: 0, part: 0, kind: 'text', text: asString(said) ?? '' });
  }

  end({ tokens }: JsonObject): void {
    this.#isOver = true;
    this.#sink.on({ type: 'close', index: 0 });
    const text = asNumber(tokens) ?? 0;
    this.#sink.on({ type: 'usage', usage: { ...NO_USAGE, output: { ...NO_USAGE.output, text } } });
    this.#sink.on({ type: 'finish', reason: 'stop' });
  }

  cut(): void {
    if (!this.#isOver)
      this.#sink.on({ type: 'error', error: new GatewayError('upstream_unavailable', 'the toy broke') });
  }
}

function says(text: string): Item {
  return { type: 'message', role: 'user', parts: [{ type: 'text', text }] };
}

function wordsOf(item: Item): string {
  const parts = 'parts' in item ? item.parts : [];
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function saidIn({ items }: CollectedEvents): string {
  return items.map(wordsOf).join('');
}

function tokensOf({ usage }: CollectedEvents): number {
  return usage ? outputTokens(usage) : 0;
}

function frame(event: string, data: JsonObject): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
