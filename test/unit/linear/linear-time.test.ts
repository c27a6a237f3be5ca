// Reading and writing take as long as there is to read and write, whatever grows: every text, list and object of every
// golden input, through the codecs of every protocol. A protocol is here by being in the registry and having golden files.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../../src/base/json/index.ts';
import {
  Collector,
  GatewayError,
  Report,
  type CanonicalEvent,
  type CanonicalRequest,
  type EventSink,
} from '../../../src/canonical/index.ts';
import { protocols, type AnswerContext, type Protocol } from '../../../src/protocols/index.ts';
import { codecContext, fillRequest, fillTarget } from '../../support/golden-operations.ts';
import { growthOf, MOST_GROWTH, repetitionsOf, shapesOf, type Shape } from '../../support/growth.ts';
import { shareOf } from '../../support/share.ts';

const GOLDEN = join(import.meta.dir, '../../golden');
const servers = protocols.flatMap(({ name, server }) => (server ? [{ name, server }] : []));

/** The inputs of an operation's golden files. */
function inputs(protocol: string, operation: string): string[] {
  const folder = join(GOLDEN, protocol, operation);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) =>
    (readFileSync(join(folder, file), 'utf8').split(/^-{8,}$/m)[0] ?? '').trim(),
  );
}

/** Runs what may refuse its input: to refuse is work, too. */
function quietly<Result>(run: () => Result): Result | undefined {
  try {
    return run();
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    return undefined;
  }
}

function requestShapes(protocol: Protocol): Shape[] {
  const seen = new Set<string>();
  return inputs(protocol.name, 'decode-request').flatMap((input) => {
    const body: unknown = JSON.parse(input);
    return shapesOf(isJsonObject(body) && 'body' in body ? body['body'] : body, seen);
  });
}

const ROUTE = { model: 'm' };
const context = (request: CanonicalRequest): AnswerContext => ({
  id: 'gen-1',
  createdSeconds: 1_700_000_000,
  model: 'test/model',
  reasoningContentMirror: true,
  request,
});

interface Frame {
  readonly event: string;
  /** Parsed where it is JSON. */
  readonly data: unknown;
}

function framesOf(input: string): Frame[] {
  return input.split(/\n\n+/).flatMap((block) => {
    const lines = block.split('\n');
    const event =
      lines
        .find((line) => line.startsWith('event:'))
        ?.slice(6)
        .trim() ?? '';
    const data = lines.flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trim()] : [])).join('\n');
    return data === '' ? [] : [{ event, data: parseJson(data) ?? data }];
  });
}

/** Tells events to clients of every protocol, whole and as streams. */
function answer(request: CanonicalRequest, decode: (sink: EventSink) => void): void {
  const collector = new Collector();
  const events: CanonicalEvent[] = [];
  quietly(() => decode({ on: (event) => void events.push(event) }));
  for (const event of events) collector.on(event);
  for (const { server } of servers) {
    quietly(() => server.encodeResponse(collector.result(), context(request)));
    let length = 0;
    const sink = server.encodeStream((frames) => (length += frames.length), context(request));
    for (const event of events) quietly(() => sink.on(event));
  }
}

/** @param prepare gives the work on an input */
function tooSlow(shapes: readonly Shape[], prepare: (input: unknown) => () => void): string[] {
  expect(shapes.length).toBeGreaterThan(5);
  return shareOf(shapes).flatMap(({ name, grow }) => {
    const growth = growthOf((n) => prepare(grow(n)));
    return growth > MOST_GROWTH ? [`${name}: ${growth.toFixed(1)} times as long`] : [];
  });
}

describe.each(protocols.map((protocol) => [protocol.name, protocol] as const))('%s', (name, protocol) => {
  test.skipIf(!protocol.server)('requests take linear time to every upstream', () => {
    const slow = tooSlow(requestShapes(protocol), (body) => () => {
      const request = quietly(() => protocol.server?.decodeRequest(body, ROUTE));
      if (!request) return;
      for (const { upstream } of protocols)
        quietly(() => upstream.encodeRequest(request, fillTarget({}), new Report()));
    });
    expect(slow).toEqual([]);
  });

  test('whole responses take linear time to every client', () => {
    const seen = new Set<string>();
    const shapes = inputs(name, 'decode-response').flatMap((input) => shapesOf(JSON.parse(input), seen));
    const request = fillRequest({ protocol: name });
    const slow = tooSlow(
      shapes,
      (body) => () => answer(request, (sink) => protocol.upstream.decodeResponse(body, sink, codecContext())),
    );
    expect(slow).toEqual([]);
  });

  test('streams take linear time to every client', () => {
    const seen = new Set<string>();
    const shapes = inputs(name, 'decode-stream').flatMap((input) => {
      const frames = framesOf(input);
      return [...shapesOf(frames, seen), ...repetitionsOf(frames, seen)];
    });
    const request = fillRequest({ protocol: name });
    const slow = tooSlow(shapes, (grown) => {
      const frames = (grown as Frame[]).map(
        ({ event, data }) => [event, typeof data === 'string' ? data : JSON.stringify(data)] as const,
      );
      return () =>
        answer(request, (sink) => {
          const decoder = protocol.upstream.decodeStream(sink, codecContext());
          for (const [event, data] of frames) decoder.frame(event, data);
          decoder.end();
        });
    });
    expect(slow).toEqual([]);
  });
});
