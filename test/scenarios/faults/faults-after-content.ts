// Faults after the client may have read a part of the answer: told natively, or rescued where the request asks for it.
import { constants, gzipSync } from 'node:zlib';
import { cutAfter, opened, stream as sse } from '../../support/upstreams/answers.ts';
import type { UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import { always, begun, SAID, sound, type Fault, type Stage } from './fault.ts';

/** Told by default; with `buffer` it is as if it had happened before the first content. */
const broken = {
  mode: 'streamed',
  attempts: ['first upstream_unavailable'],
  client: { broken: 'upstream_unavailable' },
  buffered: {
    attempts: ['first upstream_unavailable', 'first upstream_unavailable', 'second completed'],
    gapsMs: [125, 0],
    client: { answer: 'second' },
  },
} as const;

/** Compressed so that all of it can be read, but without an end. */
function unended(text: string): Uint8Array {
  return gzipSync(text, { finishFlush: constants.Z_SYNC_FLUSH });
}

/** Long enough that its repetition is no accident. */
const LONG = 'Once upon a time there was a gateway between the courts, and it knew the way. ';

/** The others cannot be asked to go on with a text. */
const CAN_CONTINUE: readonly UpstreamProtocol[] = ['openai-chat', 'anthropic-messages'];

/** The second goes on where the first was cut. */
function rest({ second }: Stage, ...pieces: readonly string[]): Answer {
  return sse(second.opening + pieces.map(second.piece).join('') + second.ending('') + second.endMark);
}

export const AFTER_CONTENT: readonly Fault[] = [
  { name: 'connection cut mid-response', first: (stage) => always(cutAfter(begun(stage))), ...broken },
  { name: 'stream ends mid-response', first: (stage) => always(sse(begun(stage))), ...broken },
  {
    name: 'one malformed event',
    first: (stage) => {
      const { piece, ending, endMark } = stage.first;
      const [, more] = SAID.first;
      return always(
        sse([begun(stage), 'data: {"type": [{\n\n', piece(more), ending(SAID.first.join('')), endMark]),
      );
    },
    ...broken,
  },
  {
    name: 'error object inside the stream, mid-response',
    first: (stage) => always(sse([begun(stage), stage.first.errorFrame])),
    ...broken,
  },
  {
    name: 'compressed stream cut',
    first: (stage) => [
      (exchange) => {
        exchange.openStream({ 'content-encoding': 'gzip' });
        exchange.chunk(unended(begun(stage)));
      },
      stage.first.error(503),
    ],
    silence: { ms: 0, shown: true, next: (exchange) => exchange.cut() },
    ...broken,
  },
  {
    name: 'compressed stream that lacks its end',
    first: (stage) => always(sse([unended(begun(stage))], { 'content-encoding': 'gzip' })),
    ...broken,
  },
  {
    name: 'the one closing event is missing',
    protocols: ['openai-responses'],
    first: (stage) => {
      const { opening, piece, ending } = stage.first;
      const text = SAID.first[0];
      // Everything but `response.completed`.
      const end = ending(text);
      return always(sse(opening + piece(text) + end.slice(0, end.lastIndexOf('event: '))));
    },
    ...broken,
  },
  {
    name: 'stall mid-response',
    mode: 'streamed',
    first: (stage) => [opened(begun(stage))],
    silence: { ms: 60_200 },
    attempts: ['first timeout'],
    client: { broken: 'timeout' },
    buffered: {
      attempts: ['first timeout', 'second completed'],
      gapsMs: [60_200],
      client: { answer: 'second' },
    },
  },
  {
    name: 'cut mid-response, to be continued',
    model: 'prefill',
    protocols: CAN_CONTINUE,
    mode: 'streamed',
    continued: true,
    first: (stage) => [cutAfter(begun(stage))],
    second: (stage) => [rest(stage, SAID.second[1])],
    attempts: ['first upstream_unavailable', 'second completed'],
    client: { answer: 'both' },
  },
  {
    name: 'cut mid-response, to be continued, and the rest repeats the end of the first part',
    model: 'prefill',
    protocols: CAN_CONTINUE,
    mode: 'streamed',
    continued: true,
    first: (stage) => [
      cutAfter(stage.first.opening + stage.first.piece(LONG) + stage.first.piece(SAID.first[0])),
    ],
    second: (stage) => [rest(stage, LONG, SAID.first[0], SAID.second[1])],
    attempts: ['first upstream_unavailable', 'second completed'],
    client: { answer: 'both', text: LONG + SAID.first[0] + SAID.second[1] },
  },
  {
    name: 'cut mid-response, to be continued, and no endpoint accepts a partial response',
    model: 'prefill',
    protocols: CAN_CONTINUE,
    mode: 'streamed',
    continued: true,
    first: (stage) => [cutAfter(begun(stage)), stage.first.noPrefill],
    second: ({ second }) => [second.noPrefill],
    attempts: ['first upstream_unavailable', 'second invalid_request', 'first invalid_request'],
    client: { broken: 'upstream_unavailable' },
  },
  {
    name: 'cut mid-response, to be continued, at endpoints that cannot continue',
    mode: 'streamed',
    continued: true,
    first: (stage) => [cutAfter(begun(stage))],
    second: (stage) => [sound(stage, 'second')],
    attempts: ['first upstream_unavailable'],
    client: { broken: 'upstream_unavailable' },
  },
];
