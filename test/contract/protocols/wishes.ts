// Rows about what a client may wish for: media by their addresses, searches, caching, sampling, and how tools are
// called. Knows no gateway.
import type { Answer } from './exchange.ts';
import { PROTOCOLS, WEB, type Feature, type Protocol } from './feature.ts';
import { CALLED, HELLO, PAGES, PDF, PLAIN, PNG, SUNNY, TIME, TOOLS, WAV } from './samples.ts';

const BYTES = { 'image address': `image: ${PNG}`, 'pdf address': `pdf: ${PDF}` } as const;
/** Servers of Gemini fetch few addresses; a client of Gemini's knows that itself. */
const notByGemini = (client: Protocol, upstream: Protocol): boolean =>
  upstream === 'gemini' && client !== 'gemini';
/** Nor does Chat Completions know addresses of files. */
const notByChat = (client: Protocol, upstream: Protocol): boolean =>
  upstream === 'openai-chat' || notByGemini(client, upstream);
const IMAGE = { turns: [{ user: 'What is this?', imageUrl: `${WEB}/dot.png` }] } as const;
const REPORT = { turns: [{ user: 'Sum it up.', pdfUrl: `${WEB}/report` }] } as const;

const [, BERN] = PAGES;
const FOUND: Answer = {
  text: 'Zürich is big. Bern is sunny.',
  cited: { words: 'Bern is sunny.', ...BERN },
  searched: { query: 'weather in Bern', pages: PAGES },
  finish: 'stop',
};
const SEARCH = { id: 'call_a', name: 'web_search', args: { query: 'weather in Bern' } } as const;

/** Rows in the order of the table. */
export const WISHES: readonly Feature[] = [
  {
    name: 'images by address',
    about: ['image'],
    question: IMAGE,
    answer: PLAIN,
    fetched: BYTES,
    isFetched: notByGemini,
  },
  {
    name: 'PDFs by address',
    about: ['pdf'],
    question: REPORT,
    answer: PLAIN,
    fetched: BYTES,
    isFetched: notByChat,
  },
  {
    name: 'images by address, fetched by the gateway',
    about: ['image'],
    question: IMAGE,
    answer: PLAIN,
    servers: 'bare',
    fetched: BYTES,
  },
  {
    name: 'PDFs by address, fetched by the gateway',
    about: ['pdf'],
    question: REPORT,
    answer: PLAIN,
    servers: 'bare',
    fetched: BYTES,
  },
  {
    name: 'audio',
    about: ['audio'],
    question: { turns: [{ user: 'Write it down.', audio: WAV }] },
    answer: PLAIN,
  },
  {
    name: 'instructions in mid-conversation',
    about: ['instruction'],
    question: {
      turns: [
        { user: 'Hello' },
        { assistant: 'Hi!' },
        ...HELLO,
        { instruct: 'From now on, use metric units.' },
      ],
    },
    answer: PLAIN,
  },
  {
    name: 'words beside tool results',
    about: ['user', 'result'],
    question: TOOLS,
    answer: CALLED,
    results: [SUNNY],
    beside: 'And tomorrow?',
  },
  {
    name: 'no tool allowed',
    about: ['choice'],
    question: { ...TOOLS, choice: 'none' },
    answer: PLAIN,
  },
  {
    name: 'some tool demanded',
    about: ['choice'],
    question: { ...TOOLS, choice: 'required' },
    answer: CALLED,
  },
  {
    name: 'one tool demanded',
    about: ['choice'],
    question: { ...TOOLS, choice: { name: 'get_time' } },
    answer: { calls: [TIME], finish: 'calls' },
  },
  {
    name: 'some of the tools allowed',
    about: ['choice'],
    question: {
      turns: HELLO,
      tools: ['get_weather', 'get_time', 'get_map'],
      choice: { allowed: ['get_weather', 'get_time'] },
    },
    answer: CALLED,
  },
  {
    name: 'one call at a time',
    about: ['one call'],
    question: { ...TOOLS, oneCall: true },
    answer: CALLED,
  },
  {
    name: 'web search by the upstream',
    about: ['search', 'searched', 'cites'],
    question: { turns: HELLO, search: {} },
    answer: FOUND,
  },
  {
    name: 'place and pages of a web search',
    about: ['search near', 'search in'],
    question: { turns: HELLO, search: { city: 'Bern', domain: 'example.com' } },
    answer: PLAIN,
  },
  {
    name: 'web search by the gateway',
    about: ['searched', 'cites'],
    question: { turns: HELLO, search: {} },
    answer: { ...FOUND, text: 'Bern is sunny [2]', cited: { words: '[2]', ...BERN } },
    servers: 'bare',
    byGateway: {
      upstreams: PROTOCOLS,
      answers: [
        { calls: [SEARCH], finish: 'calls' },
        { text: 'Bern is sunny [2]', finish: 'stop' },
      ],
      unreported: /^(search:|usage)/,
    },
  },
  {
    name: 'cache breakpoints',
    about: ['cached to'],
    question: { ...TOOLS, system: ['Be brief.'], cached: true },
    answer: PLAIN,
  },
  {
    name: 'ids of users',
    about: ['id of the user'],
    question: { turns: HELLO, user: 'person-1' },
    answer: PLAIN,
  },
  {
    name: 'pause',
    about: ['finish'],
    question: { turns: HELLO },
    answer: { text: 'Let me think.', finish: 'pause' },
  },
  {
    name: 'verbosity',
    about: ['verbosity'],
    question: { turns: HELLO, verbosity: 'low' },
    answer: PLAIN,
  },
  ...(
    [
      ['temperature', 0.5],
      ['topP', 0.9],
      ['topK', 20],
      ['seed', 7],
      ['frequencyPenalty', 0.5],
      ['presencePenalty', 0.25],
    ] as const
  ).map(([name, value]): Feature => ({
    name: name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    about: ['sampling'],
    question: { turns: HELLO, sampling: { [name]: value } },
    answer: PLAIN,
  })),
];
