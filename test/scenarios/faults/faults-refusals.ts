// Answers that refuse: whose mistake it is decides whether another endpoint is asked, and which.
import { sound, type Fault } from './fault.ts';

const next = (code: number, kind: 'authentication' | 'quota' | 'permission' | 'not_found'): Fault => ({
  name: `upstream ${code}`,
  first: ({ first }) => [first.error(code)],
  attempts: [`first ${kind}`, 'second completed'],
  client: { answer: 'second' },
});

const returned = (code: number, kind: 'invalid_request' | 'too_large'): Fault => ({
  name: `upstream ${code}`,
  first: ({ first }) => [first.error(code)],
  attempts: [`first ${kind}`],
  client: { refused: code, words: `scripted ${code}` },
});

export const REFUSALS: readonly Fault[] = [
  next(401, 'authentication'),
  next(402, 'quota'),
  next(403, 'permission'),
  next(404, 'not_found'),
  returned(400, 'invalid_request'),
  returned(413, 'too_large'),
  returned(422, 'invalid_request'),
  {
    name: 'context overflow, another candidate has a larger context',
    model: 'fallback',
    first: ({ first }) => [first.overflow],
    attempts: ['first context_overflow', 'second completed'],
    client: { answer: 'second' },
  },
  {
    name: 'context overflow, by an endpoint that should have held it, as should the other',
    first: ({ first }) => [first.overflow],
    attempts: ['first context_overflow', 'second completed'],
    client: { answer: 'second' },
  },
  {
    name: 'context overflow, everywhere',
    first: ({ first }) => [first.overflow],
    second: ({ second }) => [second.overflow],
    attempts: ['first context_overflow', 'second context_overflow'],
    client: { refused: 400 },
  },
  {
    name: 'content policy, another model is there',
    model: 'fallback',
    first: ({ first }) => [first.policy],
    attempts: ['first content_filter', 'second completed'],
    client: { answer: 'second' },
  },
  {
    name: 'content policy, only the same model elsewhere',
    first: ({ first }) => [first.policy],
    attempts: ['first content_filter'],
    client: { refused: 400 },
  },
  {
    name: '429 with `retry-after: 60`, no other endpoint',
    model: 'one',
    first: ({ first }) => [first.error(429, { 'retry-after': '60' })],
    attempts: ['first rate_limited'],
    client: { refused: 429, retryAfterSeconds: 60 },
  },
  {
    name: '429 for ever, everywhere',
    first: ({ first }) => [first.error(429), first.error(429)],
    second: ({ second }) => [second.error(429), second.error(429)],
    attempts: ['first rate_limited', 'second rate_limited', 'first rate_limited', 'second rate_limited'],
    gapsMs: [0, 125, 0],
    client: { refused: 429 },
  },
  {
    name: '402 everywhere',
    first: ({ first }) => [first.error(402)],
    second: ({ second }) => [second.error(402)],
    attempts: ['first quota', 'second quota'],
    client: { refused: 'empty', words: 'scripted 402' },
  },
  {
    name: '500 for ever, no other endpoint',
    model: 'one',
    first: ({ first }) => [first.error(500), first.error(500)],
    attempts: ['first upstream_unavailable', 'first upstream_unavailable'],
    gapsMs: [125],
    client: { refused: 'unavailable', relayed: 500, words: 'scripted 500' },
  },
  {
    name: '503 for ever, no other endpoint',
    model: 'one',
    first: ({ first }) => [first.error(503), first.error(503, { 'retry-after': '7' })],
    attempts: ['first upstream_unavailable', 'first upstream_unavailable'],
    gapsMs: [125],
    client: { refused: 'overloaded', relayed: 503, retryAfterSeconds: 7, words: 'scripted 503' },
  },
  {
    name: '503 for ever, everywhere',
    first: ({ first }) => [first.error(503), first.error(503)],
    second: ({ second }) => [second.error(503), second.error(503)],
    attempts: [
      'first upstream_unavailable',
      'first upstream_unavailable',
      'second upstream_unavailable',
      'second upstream_unavailable',
    ],
    gapsMs: [125, 0, 125],
    client: { refused: 'overloaded', words: '(2 attempts)' },
  },
  {
    name: '401 here, 503 there',
    first: ({ first }) => [first.error(401)],
    second: ({ second }) => [second.error(503), second.error(503)],
    attempts: ['first authentication', 'second upstream_unavailable', 'second upstream_unavailable'],
    gapsMs: [0, 125],
    client: { refused: 'unavailable', words: 'second' },
  },
  {
    name: "503 here, then the caller's own mistake there",
    first: ({ first }) => [first.error(503), first.error(503)],
    second: ({ second }) => [second.error(400)],
    attempts: ['first upstream_unavailable', 'first upstream_unavailable', 'second invalid_request'],
    gapsMs: [125, 0],
    client: { refused: 'unavailable', words: 'scripted 400' },
  },
  {
    name: 'a rate limit inside a response with status 200',
    protocols: ['anthropic-messages'],
    first: () => [
      (exchange) => {
        const text = '{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}';
        exchange.head(200, { 'content-type': 'application/json', 'content-length': String(text.length) });
        exchange.raw(text);
      },
    ],
    second: (stage) => [sound(stage, 'second')],
    attempts: ['first rate_limited', 'second completed'],
    client: { answer: 'second' },
  },
];
