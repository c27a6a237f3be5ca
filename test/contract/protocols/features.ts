// The rows of the matrix: what is asked and what is answered, once, in no protocol's words. Knows no gateway.
import type { Feature } from './feature.ts';
import {
  CALLED,
  HELLO,
  NOON,
  PDF,
  PLAIN,
  PNG,
  REDACTED,
  SUNNY,
  THOUGHT,
  TIME,
  TOOLS,
  WEATHER,
} from './samples.ts';
import { WISHES } from './wishes.ts';
import { CITY } from '../../support/city-schema.ts';

/** Rows that are failures. */
export const FAILURES = ['upstream error before content', 'upstream error after content'] as const;

/** Every row, one after another. */
export const FEATURES: readonly Feature[] = [
  { name: 'text', about: ['text', 'user'], question: { turns: HELLO }, answer: PLAIN },
  {
    name: 'multi-turn',
    about: ['user', 'assistant'],
    question: { turns: [{ user: 'Hello' }, { assistant: 'Hi! What can I do?' }, ...HELLO] },
    answer: PLAIN,
  },
  {
    name: 'system prompts',
    about: ['system'],
    question: { system: ['Be brief.', 'Use metric units.'], turns: HELLO },
    answer: PLAIN,
  },
  {
    name: 'images',
    about: ['image'],
    question: { turns: [{ user: 'What is this?', image: PNG }] },
    answer: PLAIN,
  },
  {
    name: 'PDFs',
    about: ['pdf:'],
    question: { turns: [{ user: 'Sum it up.', pdf: PDF, pdfName: 'report.pdf' }] },
    answer: PLAIN,
  },
  {
    name: 'tools',
    about: ['tool', 'call'],
    question: { ...TOOLS, choice: 'required' },
    answer: CALLED,
    results: [SUNNY],
  },
  {
    name: 'parallel tools',
    about: ['call'],
    question: TOOLS,
    answer: { calls: [WEATHER, TIME], finish: 'calls' },
    results: [SUNNY, NOON],
  },
  {
    name: 'two calls of one tool, without ids',
    about: ['call', 'result'],
    question: TOOLS,
    answer: {
      calls: [WEATHER, { ...WEATHER, id: 'call_b', args: { city: 'Ålesund' } }],
      finish: 'calls',
      withoutIds: true,
    },
    results: [SUNNY, { ...SUNNY, id: 'call_b', text: 'rain' }],
  },
  {
    name: 'strict tools',
    about: ['strict tool'],
    question: { ...TOOLS, strictTools: true },
    answer: CALLED,
    results: [SUNNY],
  },
  {
    name: 'tool errors',
    about: ['failed result'],
    question: TOOLS,
    answer: CALLED,
    results: [{ ...SUNNY, text: 'no such city', failed: true }],
  },
  {
    name: 'images in tool results',
    about: ['image in result'],
    servers: 'newest',
    question: TOOLS,
    answer: CALLED,
    results: [{ ...SUNNY, image: PNG }],
  },
  {
    name: 'reasoning',
    about: ['thought', 'reasoning'],
    question: { turns: HELLO, reasoning: true },
    answer: { ...PLAIN, thoughts: [THOUGHT] },
  },
  {
    name: 'reasoning with tools over two turns',
    about: ['state'],
    question: { ...TOOLS, reasoning: true },
    answer: { calls: [WEATHER, TIME], thoughts: [THOUGHT], finish: 'calls' },
    results: [SUNNY, NOON],
  },
  {
    name: 'redacted reasoning',
    about: ['state'],
    question: { ...TOOLS, reasoning: true },
    answer: { calls: [WEATHER], thoughts: [REDACTED], finish: 'calls' },
    results: [SUNNY],
  },
  {
    name: 'reasoning that the client does not give back',
    about: ['state'],
    question: { ...TOOLS, reasoning: true },
    answer: { calls: [WEATHER, TIME], thoughts: [THOUGHT], finish: 'calls' },
    results: [SUNNY, NOON],
    forgets: true,
  },
  {
    name: 'structured output',
    about: ['schema'],
    question: { turns: HELLO, schema: CITY },
    answer: { text: '{"city":"Bern"}', finish: 'stop' },
  },
  {
    name: 'stop sequences',
    about: ['stop:'],
    question: { turns: HELLO, stop: 'END' },
    answer: { text: 'Sunny, ', finish: 'sequence', stoppedBy: 'END' },
    byGateway: {
      upstreams: ['openai-responses'],
      answers: [{ text: 'Sunny, END and no more.', finish: 'stop' }],
      unreported: /^(stop:|usage)/,
    },
  },
  {
    name: 'which stop sequence was met',
    about: ['finish: sequence', 'stopped by'],
    question: { turns: HELLO, stop: 'END' },
    answer: { text: 'Sunny, ', finish: 'sequence', stoppedBy: 'END' },
    byGateway: {
      upstreams: ['openai-responses'],
      answers: [{ text: 'Sunny, END and no more.', finish: 'stop' }],
      unreported: /^(stop:|usage)/,
    },
  },
  {
    name: 'length stop',
    about: ['limit', 'finish'],
    question: { turns: HELLO, limit: 100 },
    answer: { text: 'Sunny and', finish: 'length' },
  },
  {
    name: 'refusal',
    about: ['refusal', 'finish: refusal'],
    question: { turns: HELLO },
    answer: { refusal: 'I cannot help with that.', finish: 'refusal' },
  },
  {
    name: 'content filter',
    about: ['finish'],
    question: { turns: HELLO },
    answer: { text: 'Sunny and', finish: 'filter' },
  },
  {
    name: 'citations',
    about: ['cites'],
    question: { turns: HELLO },
    answer: {
      text: 'Zürich is big. Bern is sunny.',
      cited: { words: 'Bern is sunny.', url: 'https://example.com/bern', title: 'Bern' },
      finish: 'stop',
    },
  },
  {
    name: 'cache usage',
    about: ['usage cached'],
    question: { turns: HELLO },
    answer: { ...PLAIN, usage: { cached: 40, written: 20 } },
  },
  {
    name: 'logprobs',
    about: ['token'],
    question: { turns: HELLO, logprobs: 2 },
    answer: {
      text: 'Hi!',
      tokens: [
        {
          token: 'Hi',
          logprob: -0.25,
          top: [
            { token: 'Hi', logprob: -0.25 },
            { token: 'Ho', logprob: -2.5 },
          ],
        },
        {
          token: '!',
          logprob: -0.5,
          top: [
            { token: '!', logprob: -0.5 },
            { token: '?', logprob: -1.5 },
          ],
        },
      ],
      finish: 'stop',
    },
  },
  {
    name: 'usage',
    about: ['usage input', 'usage output'],
    question: { turns: HELLO, reasoning: true },
    answer: { ...PLAIN, thoughts: [THOUGHT], usage: { input: 1234, output: 567, reasoning: 89 } },
  },
  ...WISHES,
];
