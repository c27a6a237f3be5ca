// The list of models as its three readers take it: OpenAI's SDK, Anthropic's SDK and Claude Code, and Codex.
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { startGateway } from '../../support/harness.ts';

const gateway = await startGateway({
  providers: { anthropic: { api_key: 'sk-test' } },
  models: [
    {
      id: 'house/listener',
      display_name: 'Listener',
      context_length: 32_000,
      input_modalities: ['text', 'image', 'audio'],
      reasoning: 'none',
      endpoints: [{ provider: 'sim', model: 'chat' }],
    },
  ],
});
afterAll(() => gateway.close());

const json = async (path: string, headers: Record<string, string> = {}): Promise<Record<string, unknown>> => {
  const response = await fetch(gateway.origin + path, { headers: { 'x-api-key': gateway.key, ...headers } });
  expect(`${path} ${response.status}`).toBe(`${path} 200`);
  return (await response.json()) as Record<string, unknown>;
};

test("OpenAI's SDK and Anthropic's SDK read the same models", async () => {
  const openai = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL });
  const anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.origin });
  const ids: string[] = [];
  for await (const model of openai.models.list()) ids.push(model.id);
  const seen: Anthropic.ModelInfo[] = [];
  for await (const model of anthropic.models.list({ limit: 5 })) seen.push(model);
  expect(seen.map(({ id }) => id)).toEqual(ids);
  for (const model of seen) {
    expect(model).toMatchObject({ type: 'model', lifecycle: 'active', display_name: expect.any(String) });
    expect(new Date(model.created_at).toISOString()).toBe(model.created_at);
  }
  const claude = await anthropic.models.retrieve('anthropic/claude-sonnet-4-5');
  expect(claude).toMatchObject({ id: 'anthropic/claude-sonnet-4-5', max_input_tokens: 200_000 });
  expect((await openai.models.retrieve('house/listener')).object).toBe('model');
});

test('pages forwards and backwards are as Anthropic has them', async () => {
  const anthropic = new Anthropic({ apiKey: gateway.key, baseURL: gateway.origin, maxRetries: 0 });
  const all = (await anthropic.models.list()).data.map(({ id }) => id);
  expect(all.length).toBeGreaterThan(4);
  const page = await anthropic.models.list({ limit: 2, after_id: all[0] ?? '' });
  expect([page.data.map(({ id }) => id), page.has_more]).toEqual([all.slice(1, 3), true]);
  const back: string[] = [];
  for await (const { id } of anthropic.models.list({ limit: 3, before_id: all.at(-1) ?? '' })) back.push(id);
  expect(back.toSorted()).toEqual(all.slice(0, -1).toSorted());
  const first = await anthropic.models.list({ limit: 2, before_id: all[2] ?? '' });
  expect([first.data.map(({ id }) => id), first.has_more]).toEqual([all.slice(0, 2), false]);
  for (const [wrong, param] of [
    [{ limit: 0 }, 'limit'],
    [{ limit: 1001 }, 'limit'],
    [{ after_id: 'nobody/nothing' }, 'after_id'],
    [{ after_id: all[0] ?? '', before_id: all[1] ?? '' }, 'before_id'],
  ] as const) {
    const error: unknown = await anthropic.models.list(wrong).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Anthropic.APIError);
    expect((error as { readonly error: unknown }).error).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining(param) },
    });
  }
});

test('Claude Code finds models of Anthropic under every base, without a redirect', async () => {
  for (const base of ['/v1', '/api/anthropic/v1', '/api/v1', '']) {
    const list = await json(`${base}/models?limit=1000`, { 'anthropic-version': '2023-06-01' });
    const { data, has_more, first_id, last_id } = list as unknown as Anthropic.ModelInfosPage;
    expect(data.some(({ id, display_name }) => id.startsWith('anthropic/') && display_name !== '')).toBe(
      true,
    );
    expect([has_more, first_id, last_id]).toEqual([false, data[0]?.id ?? '', data.at(-1)?.id ?? '']);
  }
});

test('the base path of each vendor has the list in its form, regardless of headers', async () => {
  const { data, first_id } = (await json('/api/anthropic/v1/models')) as unknown as Anthropic.ModelInfosPage;
  expect(data[0]).toMatchObject({ type: 'model', display_name: expect.any(String) });
  expect(first_id).toBe(data[0]?.id ?? '');
  expect(await json('/api/anthropic/v1/models/house/listener')).toMatchObject({ type: 'model' });
  for (const path of ['/api/vertex-ai/v1beta/models', '/api/vertex-ai/v1/models', '/v1beta/models']) {
    const { models } = (await json(path)) as { models: { name: string }[] };
    expect(models.some(({ name }) => name.endsWith('house/listener'))).toBe(true);
    expect(await json(`${path}/house/listener`)).toMatchObject({ displayName: 'Listener' });
  }
});

test('an unknown model is a 404 in the form of the client', async () => {
  const version = { 'anthropic-version': '2023-06-01' };
  for (const [method, path, headers, shape] of [
    ['POST', '/v1/messages/nope', version, { type: 'error', error: { type: 'not_found_error' } }],
    ['POST', '/api/anthropic/v1/nope', {}, { type: 'error', error: { type: 'not_found_error' } }],
    ['GET', '/v1beta/nope', {}, { error: { code: 404, status: 'NOT_FOUND' } }],
    ['POST', '/v1/nope', {}, { error: { type: 'invalid_request_error', param: null } }],
  ] as const) {
    const response = await fetch(gateway.origin + path, { method, headers });
    expect([path, response.status]).toEqual([path, 404]);
    expect(await response.json()).toMatchObject(shape);
  }
});

test('a model is dated by its name, or else by the catalog, and never 1970', async () => {
  const { data } = (await json('/v1/models')) as { data: { id: string; created: number }[] };
  const now = Date.now() / 1000;
  for (const { id, created } of data)
    expect([id, created > 1_600_000_000 && created <= now]).toEqual([id, true]);
  const dated = await json('/v1/models/anthropic/claude-sonnet-4-5-20250929');
  expect(dated['created']).toBe(Date.UTC(2025, 8, 29) / 1000);
  const version = { 'anthropic-version': '2023-06-01' };
  const same = await json('/v1/models/anthropic/claude-sonnet-4-5-20250929', version);
  expect(same['created_at']).toBe('2025-09-29T00:00:00.000Z');
});

test('Codex finds its own list beside the other, with every member that it requires', async () => {
  expect(await json('/v1/models')).not.toHaveProperty('models');
  for (const base of ['/v1', '']) {
    const { data, models } = (await json(`${base}/models?client_version=0.169.0`)) as {
      data: { id: string }[];
      models: Record<string, unknown>[];
    };
    expect(models.map(({ slug }) => slug)).toEqual(data.map(({ id }) => id));
    for (const model of models) {
      // Bun's matcher writes what it expects into what it looks at.
      expect(structuredClone(model)).toMatchObject({
        display_name: expect.any(String),
        supported_reasoning_levels: expect.any(Array),
        shell_type: 'shell_command',
        visibility: 'list',
        supported_in_api: true,
        priority: expect.any(Number),
        base_instructions: expect.stringContaining('coding agent'),
        support_verbosity: false,
        truncation_policy: { mode: 'tokens', limit: 10_000 },
        experimental_supported_tools: [],
      });
    }
    expect(models.find(({ slug }) => slug === 'house/listener')).toMatchObject({
      context_window: 32_000,
      // Codex knows no other kinds of input.
      input_modalities: ['text', 'image'],
      default_reasoning_level: null,
      supported_reasoning_levels: [],
    });
    expect(models.find(({ slug }) => slug === 'sim/responses')).toMatchObject({
      default_reasoning_level: 'medium',
      supported_reasoning_levels: expect.arrayContaining([{ effort: 'high', description: 'high effort' }]),
    });
  }
});

test('HEAD / succeeds without a key', async () => {
  const response = await fetch(`${gateway.origin}/`, { method: 'HEAD' });
  expect(response.status).toBe(200);
  expect(await response.text()).toBe('');
});

test('the calls of clients work without a base too, with a key only', async () => {
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const [path, body] of [
    ['/chat/completions', { messages }],
    ['/responses', { input: 'Hello' }],
    ['/messages', { messages, max_tokens: 100 }],
  ] as const) {
    const send = async (key: string): Promise<number> =>
      (
        await fetch(gateway.origin + path, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'sim/echo', ...body }),
        })
      ).status;
    expect([path, await send(gateway.key), await send('sk-wrong')]).toEqual([path, 200, 401]);
  }
  expect((await fetch(`${gateway.origin}/models`)).status).toBe(401);
});
