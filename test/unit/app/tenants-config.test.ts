// Projects, limits and roles of keys in the configuration file.
import { describe, expect, test } from 'bun:test';
import { ConfigError, loadConfig, type Config } from '../../../src/app/config/index.ts';

function load(yaml: string, environment: Record<string, string> = {}): Config {
  const readFile = (): string => yaml;
  return loadConfig({ environment, flags: { config: 'x.yaml' }, readFile }).config;
}

function refusal(yaml: string, environment?: Record<string, string>): string {
  try {
    load(yaml, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('accepted');
}

test('limits and budgets belong to the gateway, projects, keys and providers, in the format of the file', () => {
  const config = load(`
limits: [{ concurrent: 2000 }]
budgets: [{ usd: 900, per: month }]
projects:
  search: { budgets: [{ usd: 500, per: month, when_spent: finish }], limits: [{ requests: 600, per: minute }] }
  empty: {}
keys:
  - { name: ci, key: sk-test-ci, project: search, budgets: [{ usd: 5, per: day }], limits: [{ requests: 10, per: minute, each: end_user }] }
  - { name: operator, key: sk-test-op-0123456789, roles: [models, admin] }
providers: { openai: { api_key: sk-test, limits: [{ tokens: 2000000, per: minute }] } }
`);
  expect(config.limits).toEqual([{ concurrent: 2000 }]);
  expect(config.budgets).toEqual([{ usd: 900, per: 'month' }]);
  expect(config.projects).toEqual({
    search: {
      budgets: [{ usd: 500, per: 'month', when_spent: 'finish' }],
      limits: [{ requests: 600, per: 'minute' }],
    },
    empty: { limits: [], budgets: [] },
  });
  expect(config.keys).toMatchObject([
    {
      project: 'search',
      roles: ['models'],
      budgets: [{ usd: 5, per: 'day' }],
      limits: [{ each: 'end_user' }],
    },
    { project: null, roles: ['models', 'admin'], budgets: [], limits: [] },
  ]);
  expect(config.providers['openai']).toMatchObject({ limits: [{ tokens: 2_000_000, per: 'minute' }] });
});

describe('mistakes are reported with their path', () => {
  test.each([
    [
      'projects: { search: {} }\nkeys: [{ name: a, key: sk-test, project: serach }]',
      'keys[0].project: unknown project "serach"; did you mean "search"?',
    ],
    ['keys: [{ name: a, key: sk-test, project: x }]', 'keys[0].project: unknown project "x"; add it under'],
    ['projects: { "key_1": {} }', 'projects.key_1: must have at most 64 letters'],
    ['projects: { "a b": {} }', 'projects.a b: must have at most 64 letters'],
    ['keys: [{ name: a, key: sk-test, roles: [] }]', 'keys[0].roles: '],
    ['keys: [{ name: a, key: sk-test, roles: [root] }]', 'keys[0].roles[0]: '],
    ['keys: [{ name: a, key: sk-test, limits: [{ usd: 1 }] }]', 'keys[0].limits[0].usd: unknown key'],
    ['projects: { a: { budgets: [{ usd: 1, per: year }] } }', 'projects.a.budgets[0]: `per` must be'],
    [
      'server: { admin_key: sk-test-0123456789 }\nkeys: [{ name: a, key: sk-test-0123456789 }]',
      'keys[0].key: is the same key as server.',
    ],
    [
      'server: { admin_key: sk-0123456789ab }',
      'server.admin_key: an admin key must have at least 16 characters (got 15)',
    ],
    [
      'keys: [{ name: a, key: a, roles: [models, admin] }]',
      'keys[0].key: an admin key must have at least 16 characters (got 1)',
    ],
  ])('%s', (yaml, message) => {
    expect(refusal(yaml)).toStartWith(message);
  });

  test('the key of the environment is another than the administrator’s', () => {
    expect(
      refusal('', { DRAGOMAN_KEY: 'sk-test-0123456789', DRAGOMAN_ADMIN_KEY: 'sk-test-0123456789' }),
    ).toContain('is the same key as');
  });
});
