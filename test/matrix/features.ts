// The rows of the matrix: what is asked and what is answered, once, in no protocol's words; and what a protocol has no
// place for, with the reason. Knows no gateway.
import type { ProtocolName } from '../../src/canonical/index.ts';
import { TOOL_SCHEMA, type Answer, type Question, type Result } from './exchange.ts';

export const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
export type Protocol = Extract<ProtocolName, (typeof PROTOCOLS)[number]>;

export interface Exchange {
  readonly question: Question;
  readonly answer: Answer;
  /** What happens next: the client gives the answer back with these results. */
  readonly results?: readonly Result[];
}
export interface Feature extends Exchange {
  readonly name: string;
  /** The facts that the row is about, by the beginning of their lines. A cell without any of them is impossible. */
  readonly about: readonly string[];
  /** The client gives its answer back without what it was told of the reasoning. */
  readonly forgets?: true;
  /** Where the gateway does the work of an upstream that cannot: what this one says, and what it is not told. */
  readonly byGateway?: {
    readonly upstream: Protocol;
    readonly answer: Answer;
    readonly untold: RegExp;
  };
}
/** Rows that are failures. */
export const FAILURES = ['upstream error before content', 'upstream error after content'] as const;

const HELLO = [{ user: 'What is the weather in Bern?' }] as const;
const PLAIN: Answer = { text: 'Sunny, 21 °C. ☀️', finish: 'stop' };
const WEATHER = { id: 'call_a', name: 'get_weather', args: { city: 'Bern' } } as const;
const TIME = { id: 'call_b', name: 'get_time', args: { city: 'Ålesund' } } as const;
const SUNNY = { id: 'call_a', name: 'get_weather', text: 'sunny' } as const;
const NOON = { id: 'call_b', name: 'get_time', text: '12:00' } as const;
const TOOLS = { turns: HELLO, tools: ['get_weather', 'get_time'] } as const;
const CALLED: Answer = { text: 'Let me look.', calls: [WEATHER], finish: 'calls' };
const THOUGHT = { text: 'The user asks for the weather.', state: 'c3RhdGUx0000' } as const;
const REDACTED = { text: '', state: 'cmVkYWN00000' } as const;
/** One pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<<>>endobj\ntrailer<<>>\n%%EOF\n').toString('base64');

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
    question: { ...TOOLS, mustCall: true },
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
    question: { turns: HELLO, schema: TOOL_SCHEMA },
    answer: { text: '{"city":"Bern"}', finish: 'stop' },
  },
  {
    name: 'stop sequences',
    about: ['stop:'],
    question: { turns: HELLO, stop: 'END' },
    answer: { text: 'Sunny, ', finish: 'sequence', stoppedBy: 'END' },
    byGateway: {
      upstream: 'openai-responses',
      answer: { text: 'Sunny, END and no more.', finish: 'stop' },
      untold: /^(stop:|usage)/,
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
        { token: 'Hi', logprob: -0.25 },
        { token: '!', logprob: -0.5 },
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
];

/** The same row with calls and hidden state of its own, so that nothing kept from another run can stand in for it. */
export function individual(feature: Feature, number: number): Feature {
  const { answer, results } = feature;
  const own = JSON.stringify({ answer, results })
    .replaceAll(/"call_[ab](?=")/g, `$&_${number}`)
    .replaceAll(/0000(?=")/g, String(number).padStart(4, '0'));
  return { ...feature, ...(JSON.parse(own) as Pick<Feature, 'answer' | 'results'>) };
}

interface Absence {
  readonly fact: RegExp;
  readonly reason: string;
}

/** What a client cannot say. */
export const UNASKABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^failed result/, reason: 'Chat Completions marks no tool result as failed' },
    { fact: /^image in result/, reason: 'Chat Completions has only text in tool results' },
  ],
  'openai-responses': [
    { fact: /^failed result/, reason: 'Responses marks no tool result as failed' },
    { fact: /^stop:/, reason: 'Responses has no stop sequences' },
  ],
  'anthropic-messages': [{ fact: /^logprobs/, reason: 'Messages has no log probabilities' }],
  gemini: [{ fact: /^pdf name/, reason: 'Gemini has no names of files' }],
};

/** What an upstream cannot answer. */
export const UNSAYABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions says `stop` for a stop sequence' },
    { fact: /^usage written/, reason: 'Chat Completions counts no cache writes' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses has no stop sequences' },
    { fact: /^usage written/, reason: 'Responses counts no cache writes' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages has `refusal` for every answer that was held back' },
    { fact: /^token/, reason: 'Messages has no log probabilities' },
  ],
  gemini: [
    { fact: /^(refusal|finish: refusal)/, reason: 'Gemini has no refusals' },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini says `STOP` for a stop sequence' },
    { fact: /^usage written/, reason: 'Gemini counts no cache writes' },
  ],
};

/** What a client cannot be told. */
export const UNHEARABLE: Readonly<Record<Protocol, readonly Absence[]>> = {
  'openai-chat': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Chat Completions says `stop` for a stop sequence' },
  ],
  'openai-responses': [
    { fact: /^(finish: sequence|stopped by)/, reason: 'Responses has no word for a stop sequence' },
  ],
  'anthropic-messages': [
    { fact: /^finish: filter/, reason: 'Messages has `refusal` for every answer that was held back' },
    { fact: /^token/, reason: 'Messages has no log probabilities' },
  ],
  gemini: [
    { fact: /^(refusal|finish: refusal)/, reason: 'Gemini has no refusals: the words come as text' },
    { fact: /^(finish: sequence|stopped by)/, reason: 'Gemini says `STOP` for a stop sequence' },
    { fact: /^usage written/, reason: 'Gemini has no class for cache writes; they count as input' },
  ],
};
