// Answers that look like faults and are none: the first answer must arrive as if nothing had been odd.
import { stream as sse, whole } from '../../support/upstreams/answers.ts';
import { streamOf } from '../../support/upstreams/dialects.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import { CODINGS, SAID, sound, type Fault, type Stage } from './fault.ts';

const fine = { attempts: ['first completed'], client: { answer: 'first' } } as const;

const text = ({ first }: Stage): string => streamOf(first, ...SAID.first);

/** A stream that arrives in another form than usual. */
const form = (name: string, change: (text: string) => readonly (string | Uint8Array)[]): Fault => ({
  name,
  mode: 'streamed',
  first: (stage) => [sse(change(text(stage)))],
  ...fine,
});

const bytesOf = (data: Uint8Array): Uint8Array[] =>
  Array.from(data, (_, index) => data.subarray(index, index + 1));

function compressed(stage: Stage, coding: string, compress: (text: string) => Uint8Array): Answer {
  if (stage.stream) return sse(bytesOf(compress(text(stage))), { 'content-encoding': coding });
  const data = compress(JSON.stringify(stage.first.whole(SAID.first.join(''))));
  return (exchange) => {
    exchange.head(200, {
      'content-type': 'application/json',
      'content-encoding': coding,
      'content-length': String(data.length),
    });
    exchange.raw(data);
  };
}

export const WIRE_FAULTS: readonly Fault[] = [
  {
    name: 'slow first token, within the limit',
    mode: 'streamed',
    first: (stage) => [
      (exchange) => {
        exchange.openStream();
        exchange.chunk(stage.first.opening);
      },
    ],
    silence: {
      ms: 50_000,
      next(exchange, { first }) {
        exchange.chunk(
          SAID.first.map(first.piece).join('') + first.ending(SAID.first.join('')) + first.endMark,
        );
        exchange.endStream();
      },
    },
    ...fine,
  },
  {
    name: 'missing end mark (`[DONE]`, `message_stop`)',
    mode: 'streamed',
    protocols: ['openai-chat', 'anthropic-messages'],
    first: ({ first }) => [
      sse(first.opening + SAID.first.map(first.piece).join('') + first.ending(SAID.first.join(''))),
    ],
    ...fine,
  },
  ...Object.entries(CODINGS).map(([coding, compress]): Fault => ({
    name: `compressed with \`${coding}\` although nobody asked for it`,
    first: (stage) => [compressed(stage, coding, compress)],
    ...fine,
  })),
  ...['text/plain', 'application/json', 'application/octet-stream'].map((type) => ({
    name: `a stream with the content type \`${type}\``,
    mode: 'streamed' as const,
    first: (stage: Stage) => [sse(text(stage), { 'content-type': type })],
    ...fine,
  })),
  {
    name: 'a complete response with the content type `text/event-stream`',
    mode: 'whole',
    first: ({ first }) => [
      whole(JSON.stringify(first.whole(SAID.first.join(''))), 200, { 'content-type': 'text/event-stream' }),
    ],
    ...fine,
  },
  form('lines end with CR LF', (lines) => [lines.replaceAll('\n', '\r\n')]),
  form('begins with a byte order mark', (lines) => [`\uFEFF${lines}`]),
  // Between two members: a break inside of a text would be none of JSON's.
  form('data in several lines', (lines) => [
    lines.replaceAll(/^(data: \{.*?["\d}\]],)(?=")/gm, '$1\ndata: '),
  ]),
  form('every byte in a packet of its own', (lines) => bytesOf(new TextEncoder().encode(lines))),
  form('comments between the events', (lines) => [
    `: hello\n\n${lines.replaceAll('data: ', ': ping\ndata: ')}`,
  ]),
  {
    name: 'pooled connection that the upstream closes as the request arrives',
    warm: true,
    first: (stage) => [(exchange) => exchange.cut(), sound(stage, 'first')],
    // It may have arrived: it is in the records, and says nothing about the endpoint.
    attempts: ['first upstream_unavailable', 'first completed'],
    client: { answer: 'first' },
  },
  {
    name: 'a complete response to a request for a stream',
    mode: 'streamed',
    first: ({ first }) => [whole(first.whole(SAID.first.join('')))],
    ...fine,
  },
];
