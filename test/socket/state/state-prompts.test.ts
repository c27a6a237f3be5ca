// Prompt templates over HTTP and from files: versions, variables, what hides what, and what is wrong with a file.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSnapshot, ConfigError, loadConfig } from '../../../src/app/config/index.ts';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { checkTemplate } from '../../../src/server/check-template.ts';
import { errorOf, OTHER_KEY, startStateful } from '../../support/storage/state-seed.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-prompts-'));
writeFileSync(
  join(folder, 'support.yaml'),
  'name: Support\ndefault_version: 1\nversions:\n' +
    '  1: { instructions: "Help {{customer}}.", model: sim/chat }\n' +
    '  2: { instructions: "Help {{customer}} kindly." }\n',
);
writeFileSync(join(folder, 'tiny.json'), '{"template": {"input": "Say {{word}}"}}');
writeFileSync(join(folder, 'README.md'), 'Not a template.');
const stateful = await startStateful({ prompts: folder });
afterAll(async () => {
  await stateful.close();
  rmSync(folder, { recursive: true });
});

const GREETING = { instructions: 'Greet in {{language}}.', model: 'sim/chat' };

async function create(body: object = { template: GREETING }): Promise<JsonObject & { id: string }> {
  const { status, json } = await stateful.call('POST', '/prompts', body);
  expect(status).toBe(200);
  return json as JsonObject & { id: string };
}

describe('a stored prompt', () => {
  test('has versions, of which one is the default', async () => {
    const { call } = stateful;
    const made = await create({ name: 'Greeting', template: GREETING });
    const { id } = made;
    expect(made).toEqual({
      id: expect.stringMatching(/^pmpt_[0-9a-f]{24}$/) as unknown as string,
      object: 'prompt',
      name: 'Greeting',
      source: 'api',
      created_at: expect.any(Number) as unknown as number,
      default_version: '1',
      versions: [{ version: '1', created_at: made['created_at'] as number }],
      version: '1',
      variables: ['language'],
      template: GREETING,
    });
    expect((await call('GET', `/prompts/${id}`)).json).toEqual(made);

    const second = { input: 'Greet {{name}} in {{language}}.' };
    const added = await call('POST', `/prompts/${id}/versions`, { template: second });
    expect(added.json).toMatchObject({
      version: '2',
      default_version: '1',
      template: second,
      variables: ['name', 'language'],
    });
    expect((await call('GET', `/prompts/${id}`)).json).toMatchObject({ version: '1', template: GREETING });
    expect((await call('GET', `/prompts/${id}?version=2`)).json).toMatchObject({ template: second });

    const chosen = await call('POST', `/prompts/${id}`, { default_version: '2', name: null });
    expect(chosen.json).toMatchObject({ default_version: '2', version: '2', name: null });
    const third = await call('POST', `/prompts/${id}/versions`, { template: GREETING, default: true });
    expect(third.json).toMatchObject({ version: '3', default_version: '3' });
    const versions = third.json['versions'] as { version: string }[];
    expect(versions.map(({ version }) => version)).toEqual(['3', '2', '1']);

    expect((await call('DELETE', `/prompts/${id}/versions/3`)).status).toBe(409);
    expect((await call('DELETE', `/prompts/${id}/versions/2`)).status).toBe(200);
    expect((await call('DELETE', `/prompts/${id}/versions/2`)).status).toBe(404);
    expect((await call('GET', `/prompts/${id}?version=2`)).status).toBe(400);

    expect(await call('DELETE', `/prompts/${id}`)).toEqual({
      status: 200,
      json: { id, object: 'prompt.deleted', deleted: true },
    });
    expect((await call('GET', `/prompts/${id}`)).status).toBe(404);
  });

  test('is not found with another key', async () => {
    const { id } = await create();
    for (const [method, path, body] of [
      ['GET', `/prompts/${id}`],
      ['POST', `/prompts/${id}`, '{"name":"mine"}'],
      ['POST', `/prompts/${id}/versions`, JSON.stringify({ template: GREETING })],
      ['DELETE', `/prompts/${id}/versions/1`],
      ['DELETE', `/prompts/${id}`],
    ] as const) {
      const answer = await fetch(`${stateful.gateway.baseURL}${path}`, {
        method,
        headers: { authorization: `Bearer ${OTHER_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body }),
      });
      expect(answer.status).toBe(404);
    }
    const list = await fetch(`${stateful.gateway.baseURL}/prompts`, {
      headers: { authorization: `Bearer ${OTHER_KEY}` },
    });
    const { data } = (await list.json()) as { data: { id: string; source: string }[] };
    expect(data.map((prompt) => prompt.id)).toEqual(['support', 'tiny']);
    expect((await stateful.call('GET', `/prompts/${id}`)).json).toMatchObject({ name: null });
  });

  test('fills a request whose tokens are counted, by default and by version', async () => {
    const { call } = stateful;
    const { id } = await create({ template: { instructions: 'Say {{word}}.' } });
    await call('POST', `/prompts/${id}/versions`, { template: { input: 'long '.repeat(100) } });
    const count = (prompt: JsonObject): ReturnType<typeof call> =>
      call('POST', '/responses/input_tokens', { prompt });
    const short = await count({ id, variables: { word: 'tea' } });
    const longer = await count({ id, variables: { word: 'tea '.repeat(50) } });
    expect(Number(longer.json['input_tokens'])).toBeGreaterThan(Number(short.json['input_tokens']) + 40);
    expect(Number((await count({ id, version: '2' })).json['input_tokens'])).toBeGreaterThan(100);
    for (const [prompt, param] of [
      [{ id, version: '9', variables: { word: 'x' } }, 'prompt.version'],
      [{ id }, 'prompt.variables.word'],
      [{ id, variables: { word: 'x', other: 'y' } }, 'prompt.variables.other'],
      [{ id: 'support', version: '9', variables: { customer: 'x' } }, 'prompt.version'],
    ] as const) {
      const refused = await count(prompt);
      expect([refused.status, errorOf(refused.json).param]).toEqual([400, param]);
    }
    expect((await count({ id: 'support', variables: { customer: 'Ann' } })).status).toBe(200);
  });
});

describe('templates in files', () => {
  test('are read and listed like stored ones, and not changed', async () => {
    const { call } = stateful;
    const support = await call('GET', '/prompts/support');
    expect(support.json).toMatchObject({
      id: 'support',
      name: 'Support',
      source: 'file',
      default_version: '1',
      version: '1',
      variables: ['customer'],
      template: { instructions: 'Help {{customer}}.', model: 'sim/chat' },
    });
    expect((await call('GET', '/prompts/support?version=2')).json).toMatchObject({
      template: { instructions: 'Help {{customer}} kindly.' },
    });
    for (const [method, path, body] of [
      ['POST', '/prompts/tiny', { name: 'x' }],
      ['POST', '/prompts/tiny/versions', { template: GREETING }],
      ['DELETE', '/prompts/tiny', undefined],
    ] as const)
      expect((await call(method, path, body)).status).toBe(409);
  });

  test('replace a stored one of the same id, and are first in the list', async () => {
    await using own = await startStateful({ prompts: folder });
    const { store } = { store: own.storage.prompts };
    const stored = ['tiny', 'pmpt_1', 'pmpt_2', 'pmpt_3'];
    for (const [at, id] of stored.entries())
      await store.create({ id, projectId: own.projectId, name: null, createdAt: 1000 * at }, GREETING);
    expect((await own.call('GET', '/prompts/tiny')).json).toMatchObject({ source: 'file' });
    for (const limit of [1, 2, 3, 4, 20]) {
      const ids: unknown[] = [];
      for (let after = ''; ;) {
        const { json } = await own.call('GET', `/prompts?order=asc&limit=${limit}&after=${after}`);
        const data = json['data'] as { id: string }[];
        ids.push(...data.map(({ id }) => id));
        if (json['has_more'] !== true) break;
        expect(data.length).toBeGreaterThan(0);
        after = String(json['last_id']);
      }
      expect(ids).toEqual(['support', 'tiny', 'pmpt_1', 'pmpt_2', 'pmpt_3']);
    }
  });

  test('are reloaded with the configuration; with an invalid one, the old ones stay active', async () => {
    const own = mkdtempSync(join(tmpdir(), 'dragoman-prompts-'));
    const write = (text: string): void => writeFileSync(join(own, 'menu.yaml'), text);
    write('template: { input: "Old {{dish}}" }');
    const running = await startStateful({ prompts: own });
    try {
      const input = async (): Promise<unknown> => {
        const { json } = await running.call('GET', '/prompts/menu');
        return (json['template'] as JsonObject)['input'];
      };
      expect(await input()).toBe('Old {{dish}}');
      write('template: { input: 5 }');
      expect(running.gateway.reload()).toBe(false);
      expect(running.gateway.logLines.join('')).toContain('menu.yaml');
      expect(await input()).toBe('Old {{dish}}');
      write('template: { input: "New {{dish}}" }');
      expect(running.gateway.reload()).toBe(true);
      expect(await input()).toBe('New {{dish}}');
    } finally {
      await running.close();
      rmSync(own, { recursive: true });
    }
  });

  const wrong: readonly (readonly [string, string, string, string])[] = [
    ['bad.yaml', 'template: [', 'bad.yaml', 'line 1'],
    ['list.yaml', '- a', 'list.yaml', 'keys and values'],
    ['none.yaml', 'name: x', 'none.yaml', 'either template or versions'],
    ['key.yaml', 'templte: {}', 'key.yaml', 'templte'],
    ['member.yaml', 'template: { instructions: a, modle: b }', 'member.yaml', 'modle'],
    ['value.yaml', 'template: { instructions: a, temperature: hot }', 'value.yaml', 'temperature'],
    ['tools.json', '{"template": {"input": "a", "tools": [{"type": "function"}]}}', 'tools.json', 'tools[0]'],
    [
      'default.yaml',
      'default_version: 3\nversions: { 1: { input: a } }',
      'default.yaml',
      'version 3 not found',
    ],
    ['a b.yaml', 'template: { input: a }', 'a b.yaml', 'file name'],
  ];
  test.each(wrong)('%s with %j refuses the configuration', (name, text, ...expected) => {
    const bad = mkdtempSync(join(tmpdir(), 'dragoman-prompts-'));
    try {
      writeFileSync(join(bad, name), text);
      const { config } = loadConfig({
        environment: {},
        flags: { config: 'x' },
        readFile: () => JSON.stringify({ prompts: bad }),
      });
      const build = (): unknown =>
        buildSnapshot({ config, presets, sim: null, environment: {}, checkTemplate, revision: 1 });
      for (const words of ['prompts: ', ...expected]) expect(build).toThrow(words);
      expect(build).toThrow(ConfigError);
    } finally {
      rmSync(bad, { recursive: true });
    }
  });

  test('cannot share an id, and their folder must exist', () => {
    const bad = mkdtempSync(join(tmpdir(), 'dragoman-prompts-'));
    const load = (prompts: string): unknown => {
      const { config } = loadConfig({
        environment: {},
        flags: { config: 'x' },
        readFile: () => JSON.stringify({ prompts }),
      });
      return buildSnapshot({ config, presets, sim: null, environment: {}, revision: 1 });
    };
    try {
      mkdirSync(join(bad, 'more'));
      for (const name of ['a.yaml', 'a.json']) writeFileSync(join(bad, name), '{"template": {"input": "a"}}');
      expect(() => load(bad)).toThrow('another file has the same id a');
      expect(() => load(join(bad, 'none'))).toThrow('cannot read the folder');
      expect(() => load(join(bad, 'more'))).not.toThrow();
    } finally {
      rmSync(bad, { recursive: true });
    }
  });
});

describe('errors name the invalid member', () => {
  const mistakes: readonly (readonly [string, string, unknown, string | null, number?])[] = [
    ['POST', '/prompts', {}, 'template'],
    ['POST', '/prompts', { template: {} }, 'template'],
    ['POST', '/prompts', { template: GREETING, name: 5 }, 'name'],
    ['POST', '/prompts', { template: GREETING, name: 'x'.repeat(300) }, 'name'],
    ['POST', '/prompts', { template: { ...GREETING, temperature: 9 } }, 'template.temperature'],
    [
      'POST',
      '/prompts',
      { template: { input: [{ role: 'user', content: [{ type: 'input_image' }] }] } },
      'template.input[0].content[0]',
    ],
    ['POST', '/prompts/ID/versions', { template: 'x' }, 'template'],
    ['POST', '/prompts/ID/versions', { template: GREETING, default: 'yes' }, 'default'],
    ['POST', '/prompts/ID', { default_version: '7' }, 'default_version'],
    ['POST', '/prompts/ID', { default_version: 7 }, 'default_version'],
    ['GET', '/prompts/ID?version=7', undefined, 'version'],
    ['GET', '/prompts?after=pmpt_none', undefined, 'after'],
    ['GET', '/prompts?limit=0', undefined, 'limit'],
    ['GET', '/prompts/pmpt_none', undefined, null, 404],
    ['DELETE', '/prompts/pmpt_none', undefined, null, 404],
  ];
  test.each(mistakes)('%s %s %j', async (method, path, body, param, status = 400) => {
    const { id } = await create();
    const answer = await stateful.call(method, path.replace('ID', id), body);
    expect(answer.status).toBe(status);
    expect(errorOf(answer.json).param).toBe(param);
  });
});
