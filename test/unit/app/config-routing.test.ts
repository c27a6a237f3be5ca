// Routing defaults as an operator gives them: in the file, on a key, on the command line. What they become, and how a
// wrong one is refused.
import { describe, expect, test } from 'bun:test';
import {
  ConfigError,
  buildSnapshot,
  formatRouting,
  loadConfig,
  parseRouting,
  type Config,
} from '../../../src/app/config/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';

const ENVIRONMENT = { GROQ_API_KEY: 'sk-test', HEDGE: 'true' };
/** A model with two named endpoints, so that there are slugs to choose from. */
const MODEL = `
models:
  - { id: m/one, endpoints: [{ provider: groq, name: fast }, { provider: groq, name: slow }] }
`;

function load(text: string): Config {
  return loadConfig({ environment: ENVIRONMENT, flags: { config: 'a.yaml' }, readFile: () => MODEL + text })
    .config;
}

function failure(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}

function snapshot(text: string): ReturnType<typeof buildSnapshot> {
  return buildSnapshot({
    config: load(text),
    presets,
    sim: null,
    environment: ENVIRONMENT,
    now: () => 0,
    revision: 1,
  });
}

const EVERYTHING = `{
  type: order, primary_factor: price, providers: [groq/fast, groq], order: [groq/slow, groq/slow], only: [groq],
  ignore: [openai], require_parameters: true, max_price: { prompt: 1, completion: 2.5, request: 0 },
  fallback: [groq, m/one], stream_safety: buffer, hedge: "\${HEDGE}" }`;

test.each([
  ['routing.default', `routing: { default: ${EVERYTHING} }`],
  ['keys[1].routing', `keys: [{ name: empty, key: "" }, { name: k, key: sk-test, routing: ${EVERYTHING} }]`],
])('%s accepts every routing option', (path, text) => {
  const { config } = snapshot(text);
  expect(path.startsWith('keys') ? config.keys[0]?.routing : config.routing.defaults).toEqual({
    type: 'priority',
    factor: 'cost',
    providers: { path: `${path}.providers`, names: ['groq/fast', 'groq'] },
    prefer: { path: `${path}.order`, names: ['groq/slow'] },
    only: { path: `${path}.only`, names: ['groq'] },
    ignore: { path: `${path}.ignore`, names: ['openai'] },
    requireParameters: true,
    maxPrice: { prompt: 1, completion: 2.5, request: 0 },
    fallback: { path: `${path}.fallback`, names: ['groq', 'm/one'] },
    streamSafety: 'buffer',
    hedge: true,
  });
});

test('a key without settings does not hide the global defaults', () => {
  const config = load('keys: [{ name: a, key: sk-a }, { name: b, key: sk-b, routing: { only: [groq] } }]');
  const said = (wishes: object): string[] =>
    Object.entries(wishes).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  expect(said(config.routing.defaults)).toEqual([]);
  expect(config.keys[0]?.routing).toBeNull();
  expect(said(config.keys[1]?.routing ?? {})).toEqual(['only']);
});

test.each([
  ['true', true],
  ['"true"', true],
  ['"false"', false],
  ['groq', { path: 'routing.default.fallback', names: ['groq'] }],
  ['[m/one]', { path: 'routing.default.fallback', names: ['m/one'] }],
])('fallback is read from %s', (text, wanted) => {
  expect(load(`routing: { default: { fallback: ${text} } }`).routing.defaults.fallback).toEqual(wanted);
});

test('task types and the breaker are exposed as routing reads them, and cannot be changed', () => {
  const { routing } = snapshot(
    'routing: { task_types: { code: [m/one, groq/anything] }, breaker: { failures: 2 } }',
  ).config;
  expect(routing.taskTypes).toEqual({ code: ['m/one', 'groq/anything'] });
  expect(routing.breaker).toEqual({ failures: 2, windowMs: 30_000, openMs: 15_000 });
  expect(Object.isFrozen(routing.taskTypes['code'])).toBe(true);
});

test.each([
  ['default: { typ: order }', 'routing.default.typ: unknown key; did you mean "type"?'],
  ['default: { type: random }', 'routing.default.type: invalid option: expected one of "priority"|"order"'],
  ['default: { only: [] }', 'routing.default.only: too small'],
  ['default: { max_price: { prompt: -1 } }', 'routing.default.max_price.prompt: too small'],
  ['default: { max_price: { promt: 1 } }', 'routing.default.max_price.promt: unknown key; did you mean'],
  ['default: { fallback: 3 }', 'routing.default.fallback: must be true, false, a provider'],
  ['default: { fallback: [3] }', 'routing.default.fallback[0]: '],
  ['task_types: { code: m/one }', 'routing.task_types.code: must be an array'],
])('refuses routing: { %s }', (text, message) => {
  expect(failure(() => load(`routing: { ${text} }`))).toStartWith(message);
});

describe('names', () => {
  test.each([
    [
      'routing: { default: { order: [groq, gorq] } }',
      'routing.default.order: "gorq" is not a provider or an endpoint (`provider/name`); did you mean "groq"?',
    ],
    [
      'routing: { default: { providers: [groq/fsat] } }',
      'routing.default.providers: "groq/fsat" is not a provider or an endpoint',
    ],
    ['routing: { default: { only: [m/one] } }', 'routing.default.only: "m/one" is not a provider'],
    [
      'keys: [{ name: a, key: "" }, { name: b, key: sk-b, routing: { ignore: [opnai] } }]',
      'keys[1].routing.ignore: "opnai" is not a provider or an endpoint (`provider/name`); did you mean "openai"?',
    ],
    [
      'routing: { default: { fallback: [groq, m/oen] } }',
      'routing.default.fallback: "m/oen" is not a provider, an endpoint or a model; did you mean "m/one"?',
    ],
    [
      'routing: { default: { only: [openai, mistral] } }',
      'routing.default.only: none of these providers is enabled',
    ],
    [
      'routing: { task_types: { code: [m/one, m/oen] } }',
      'routing.task_types.code[1]: "m/oen" is not a model of an enabled provider; did you mean "m/one"?',
    ],
  ])('%s', (text, message) => {
    expect(failure(() => snapshot(text))).toStartWith(message);
  });

  test('a provider that is off today is not misspelt, and an alias is a model', () => {
    const { config } = snapshot(
      'aliases: { one: m/one }\nrouting: { default: { order: [anthropic, groq], only: [groq/slow, openai], fallback: one }, task_types: { code: [one] } }',
    );
    expect(config.routing.defaults.prefer?.names).toEqual(['anthropic', 'groq']);
  });
});

describe('on the command line', () => {
  const WORDS = {
    type: 'least_latency',
    only: ['openai', 'groq'],
    max_price: { prompt: 3, completion: 12.5 },
    fallback: 'false',
    hedge: true,
  } as const;

  test.each([
    JSON.stringify(WORDS),
    'type=least_latency,only=openai,groq,max_price.prompt=3,max_price.completion=12.5,fallback=false,hedge=true',
    ' hedge=true, only = openai, groq ,fallback=false,type=least_latency,max_price.completion=12.5,max_price.prompt=3',
  ])('%s', (text) => {
    expect(parseRouting(text, '--routing')).toEqual(WORDS);
  });

  test('a list of one is a list, and several fallbacks are several', () => {
    expect(parseRouting('order=groq', '--routing')).toEqual({ order: ['groq'] });
    expect(parseRouting('fallback=groq,m/one', '--routing')).toEqual({ fallback: ['groq', 'm/one'] });
  });

  test.each([
    ['', '--routing: must be a JSON object, or pairs'],
    ['groq', '--routing: must be a JSON object, or pairs'],
    ['{"only":', '--routing: is not valid JSON'],
    ['onyl=groq', '--routing.onyl: unknown key; did you mean "only"?'],
    ['max_price.promt=1', '--routing.max_price.promt: unknown key; did you mean "prompt"?'],
    ['only=groq,only=openai', '--routing.only: is set more than once'],
    ['hedge=perhaps', '--routing.hedge: must be a boolean'],
    ['type=order,priority', '--routing.type: invalid option'],
    ['only=groq,', '--routing.only[1]: too small'],
    ['__proto__.x=1', '--routing.__proto__: unknown key'],
  ])('refuses %p', (text, message) => {
    expect(failure(() => parseRouting(text, '--routing'))).toStartWith(message);
  });

  test('the printed configuration can be parsed again', () => {
    const shown = formatRouting(WORDS);
    expect(shown).toBe(
      'type=least_latency only=openai,groq max_price.prompt=3 max_price.completion=12.5 fallback=false hedge=true',
    );
    expect(parseRouting(shown.replaceAll(' ', ','), '--routing')).toEqual(WORDS);
  });
});
