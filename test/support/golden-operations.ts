// The operations that golden files exercise. Canonical values are written as JSON; events as one JSON a line.
import type { CanonicalEvent, CanonicalRequest, EventSink, Target } from '../../src/canonical/index.ts';
import { Collector, GatewayError, Report } from '../../src/canonical/index.ts';
import { protocols } from '../../src/protocols/index.ts';
import type { AnswerContext, CodecContext, RequestRoute } from '../../src/protocols/protocol.ts';
import { NO_QUIRKS } from '../../src/catalog/providers/provider.ts';

/** Runs one operation of one protocol on a golden file's input. */
export function runGolden(protocolName: string, operation: string, input: string): string {
  const protocol = protocols.find((p) => p.name === protocolName);
  if (!protocol) throw new Error(`no protocol ${protocolName}`);
  try {
    switch (operation) {
      case 'decode-request':
        return pretty(showRequest(decodeGolden(protocol, JSON.parse(input))));
      case 'encode-request': {
        const given = JSON.parse(input) as { request: Partial<CanonicalRequest>; target?: object };
        const request = fillRequest(given.request);
        const report = request.report;
        const body = protocol.upstream.encodeRequest(request, fillTarget(given.target ?? {}), report);
        return pretty(report.size ? { body, report: report.entries } : { body });
      }
      case 'decode-response':
        return collectLines((sink) =>
          protocol.upstream.decodeResponse(JSON.parse(input), sink, codecContext()),
        );
      case 'decode-stream':
        return collectLines((sink) => {
          const decoder = protocol.upstream.decodeStream(sink, codecContext());
          for (const frame of input.split(/\n\n+/)) {
            let event = '';
            const data: string[] = [];
            for (const line of frame.split('\n')) {
              if (line.startsWith('event:')) event = line.slice(6).trim();
              else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''));
            }
            if (data.length > 0) decoder.frame(event, data.join('\n'));
          }
          decoder.end();
        });
      case 'encode-response': {
        const { events, context } = eventsInput(input, protocol);
        const collector = new Collector();
        for (const event of events) collector.on(event);
        return pretty(server(protocol).encodeResponse(collector.result(), context));
      }
      case 'encode-stream': {
        const { events, context } = eventsInput(input, protocol);
        let out = '';
        const sink = server(protocol).encodeStream((frames) => (out += frames), context);
        for (const event of events) sink.on(event);
        return out;
      }
      default:
        throw new Error(`no golden operation ${operation}`);
    }
  } catch (error) {
    if (!GatewayError.is(error)) throw error;
    return pretty({
      throws: { kind: error.kind, param: error.param, code: error.code, message: error.message },
    });
  }
}

/** Ids count up and the clock stands still, so that outputs are the same every time. */
export function codecContext(): CodecContext {
  let next = 0;
  return {
    newId: (prefix) => `${prefix}${String(++next).padStart(4, '0')}`,
    nowSeconds: () => 1_700_000_000,
  };
}

/** A request with every mandatory member, over which `given` is laid. */
export function fillRequest(given: Partial<CanonicalRequest>): CanonicalRequest {
  return {
    protocol: 'openai-chat',
    raw: {},
    model: 'test/model',
    items: [],
    tools: [],
    reasoning: {},
    stream: false,
    gateway: {},
    extra: {},
    report: new Report(),
    ...given,
  };
}

/** A target without quirks, over which `given` is laid; its `quirks` may be partial. */
export function fillTarget(given: Partial<Omit<Target, 'quirks'>> & { quirks?: object }): Target {
  return {
    model: 'upstream-model',
    reasoningStyle: 'none',
    reasoning: { mode: 'unset' },
    reasoningFormat: null,
    unsupported: new Set(),
    maxOutputTokens: null,
    contextLength: null,
    ...given,
    quirks: { ...NO_QUIRKS, ...given.quirks },
  };
}

/** The input is the body; where the address says something too, `{"route": …, "body": …}`. */
function decodeGolden(protocol: (typeof protocols)[number], input: unknown): CanonicalRequest {
  if (typeof input !== 'object' || input === null || !('route' in input) || !('body' in input))
    return server(protocol).decodeRequest(input);
  return server(protocol).decodeRequest(input.body, input.route as RequestRoute);
}

function server(protocol: (typeof protocols)[number]): NonNullable<(typeof protocols)[number]['server']> {
  if (!protocol.server) throw new Error(`${protocol.name} has no server side`);
  return protocol.server;
}

/**
 * Input of the encode operations: an optional first line `{"context": {...}}` and one event a line. The request that is
 * answered is given in canonical form (`request`), or as the client's own body (`body`).
 */
function eventsInput(
  input: string,
  protocol: (typeof protocols)[number],
): { events: CanonicalEvent[]; context: AnswerContext } {
  const lines = input
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const given = (lines[0] && 'context' in lines[0] ? lines.shift() : undefined)?.['context'] as
    | { request?: object; body?: object; estimatedInputTokens?: number }
    | undefined;
  const { body, estimatedInputTokens, ...facts } = given ?? {};
  const events = lines.map((line) => {
    if (line['type'] !== 'error') return line as unknown as CanonicalEvent;
    const { kind, message, ...details } = line['error'] as { kind: 'internal'; message: string };
    return { type: 'error', error: new GatewayError(kind, message, details) } as CanonicalEvent;
  });
  const context: AnswerContext = {
    id: 'gen-1',
    createdSeconds: 1_700_000_000,
    model: 'test/model',
    reasoningContentMirror: true,
    ...facts,
    ...(estimatedInputTokens !== undefined && { estimateInputTokens: () => estimatedInputTokens }),
    request: body ? server(protocol).decodeRequest(body) : fillRequest(facts.request ?? {}),
  };
  return { events, context };
}

function collectLines(run: (sink: EventSink) => void): string {
  const lines: string[] = [];
  run({ on: (event) => lines.push(showEvent(event)) });
  return lines.join('\n');
}

function showEvent(event: CanonicalEvent): string {
  if (event.type !== 'error') return JSON.stringify(event);
  const { kind, message, code } = event.error;
  return JSON.stringify({ type: 'error', error: { kind, message, code } });
}

/** A decoded request without the raw nodes, which would only repeat the input. */
function showRequest(request: CanonicalRequest): unknown {
  return JSON.parse(
    JSON.stringify({ ...request, report: request.report.entries }, (key, value: unknown) =>
      key === 'raw' || key === 'source' ? undefined : value instanceof Set ? [...value] : value,
    ),
  );
}

function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
