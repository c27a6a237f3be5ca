// Faults of which the client must notice nothing: they happen before the first content, and somebody else can answer.
import {
  cutAfter,
  cutHalfway,
  noAnswer,
  opened,
  silence,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { always, CODINGS, SAID, sound, type Fault, type Stage } from './fault.ts';

const bySecond = { client: { answer: 'second' } } as const;
const byFirst = { client: { answer: 'first' } } as const;

/** Tried twice, 125 ms apart (half of 250 ms: tests draw no lots), then the next. */
const retried = {
  attempts: ['first upstream_unavailable', 'first upstream_unavailable', 'second completed'],
  gapsMs: [125, 0],
  ...bySecond,
} as const;

const status = (code: number, headers?: Readonly<Record<string, string>>) => (stage: Stage) =>
  stage.first.error(code, headers);

/** A status 200 that is no answer. */
const HTML = '<!doctype html><html><title>Welcome</title></html>';

export const BEFORE_CONTENT: readonly Fault[] = [
  {
    name: '500 once',
    first: (stage) => [status(500)(stage), sound(stage, 'first')],
    attempts: ['first upstream_unavailable', 'first completed'],
    gapsMs: [125],
    ...byFirst,
  },
  { name: '503 for ever', first: (stage) => always(status(503)(stage)), ...retried },
  { name: '529 (overloaded)', first: (stage) => always(status(529)(stage)), ...retried },
  {
    name: '429 with `retry-after: 2`, another endpoint is there',
    first: (stage) => [status(429, { 'retry-after': '2' })(stage)],
    attempts: ['first rate_limited', 'second completed'],
    ...bySecond,
  },
  {
    name: '429 with `retry-after: 2`, no other endpoint',
    model: 'one',
    first: (stage) => [status(429, { 'retry-after': '2' })(stage), sound(stage, 'first')],
    attempts: ['first rate_limited', 'first completed'],
    gapsMs: [2000],
    ...byFirst,
  },
  {
    name: '429 with `retry-after-ms: 1500`, no other endpoint',
    model: 'one',
    first: (stage) => [
      status(429, { 'retry-after-ms': '1500', 'retry-after': '2' })(stage),
      sound(stage, 'first'),
    ],
    attempts: ['first rate_limited', 'first completed'],
    gapsMs: [1500],
    ...byFirst,
  },
  {
    name: '429 for ever, another endpoint is there',
    first: (stage) => always(status(429)(stage)),
    attempts: ['first rate_limited', 'second completed'],
    ...bySecond,
  },
  {
    name: 'nobody listens at the address',
    model: 'dead',
    first: () => [],
    attempts: ['dead upstream_unavailable', 'dead upstream_unavailable', 'second completed'],
    gapsMs: [125, 0],
    ...bySecond,
  },
  { name: 'connection reset before the headers', first: () => always(noAnswer), ...retried },
  {
    name: 'takes the request and never responds (streamed)',
    mode: 'streamed',
    first: () => [silence],
    silence: { ms: 60_200 },
    attempts: ['first timeout', 'second completed'],
    gapsMs: [60_200],
    ...bySecond,
  },
  {
    name: 'takes the request and never responds (not streamed)',
    mode: 'whole',
    first: () => [silence],
    silence: { ms: 300_200 },
    attempts: ['first timeout', 'second completed'],
    gapsMs: [300_200],
    ...bySecond,
  },
  {
    name: 'opens the stream, and its first token never comes',
    mode: 'streamed',
    first: ({ first }) => [opened(first.opening)],
    silence: { ms: 60_200 },
    attempts: ['first timeout', 'second completed'],
    gapsMs: [60_200],
    ...bySecond,
  },
  {
    name: 'sends the head of a complete response, and nothing more',
    mode: 'whole',
    first: () => [
      (exchange) => exchange.head(200, { 'content-type': 'application/json', 'content-length': '500' }),
    ],
    silence: { ms: 60_200 },
    attempts: ['first timeout', 'second completed'],
    gapsMs: [60_200],
    ...bySecond,
  },
  {
    name: 'connection cut before the first content',
    mode: 'streamed',
    first: ({ first }) => always(cutAfter(first.opening)),
    ...retried,
  },
  {
    name: 'stream ends before the first content',
    mode: 'streamed',
    first: ({ first }) => always(sse(first.opening)),
    ...retried,
  },
  {
    name: 'a completion without choices, with status 200',
    mode: 'whole',
    protocols: ['openai-chat'],
    first: () => always(whole(JSON.stringify({ object: 'chat.completion', choices: [] }))),
    ...retried,
  },
  {
    name: 'end mark, and nothing before it',
    mode: 'streamed',
    protocols: ['openai-chat'],
    first: ({ first }) => always(sse([first.opening, 'data: [DONE]\n\n'])),
    ...retried,
  },
  { name: 'empty stream', mode: 'streamed', first: () => always(sse('')), ...retried },
  {
    name: 'malformed first event',
    mode: 'streamed',
    first: ({ first }) => always(sse([first.opening, 'data: {"choices": [{\n\n'])),
    ...retried,
  },
  {
    name: 'error object inside the stream',
    mode: 'streamed',
    first: ({ first }) => always(sse([first.opening, first.errorFrame])),
    ...retried,
  },
  {
    name: 'error object as the complete response, with status 200',
    first: ({ first }) => always(whole(first.errorBody)),
    ...retried,
  },
  {
    name: 'JSON body cut',
    mode: 'whole',
    first: ({ first }) => always(cutHalfway(first.whole(SAID.first.join('')))),
    ...retried,
  },
  {
    name: 'half a JSON body, as if it were all',
    mode: 'whole',
    first: ({ first }) => {
      const text = JSON.stringify(first.whole(SAID.first.join('')));
      return always(whole(text.slice(0, text.length / 2)));
    },
    ...retried,
  },
  ...Object.entries(CODINGS).map(([coding, compress]): Fault => ({
    name: `half a body compressed with \`${coding}\``,
    mode: 'whole',
    first: ({ first }) => {
      const data = compress(JSON.stringify(first.whole(SAID.first.join(''))));
      return always((exchange) => {
        const half = data.subarray(0, data.length / 2);
        const length = String(half.length);
        exchange.head(200, {
          'content-type': 'application/json',
          'content-encoding': coding,
          'content-length': length,
        });
        exchange.raw(half);
      });
    },
    ...retried,
  })),
  { name: 'empty body with status 200', first: () => always(whole('')), ...retried },
  {
    name: 'HTML with status 200',
    first: () => always(whole(HTML, 200, { 'content-type': 'text/html; charset=utf-8' })),
    ...retried,
  },
  { name: 'a JSON array with status 200', first: () => always(whole('[]')), ...retried },
];
