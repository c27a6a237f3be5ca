// Models of servers that operators run themselves, in the lists that clients read: as the servers name them, bounded, and
// never waited for.
import { expect, test } from 'bun:test';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import type { Catalog } from '../../../src/catalog/index.ts';
import { LocalModels } from '../../../src/engine/local-models.ts';
import type { UpstreamClient } from '../../../src/upstream/client.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const NO_UPSTREAM = {} as UpstreamClient;

interface Scene extends AsyncDisposable {
  readonly upstream: ScriptedUpstream;
  readonly slow: ScriptedUpstream;
  readonly gateway: TestGateway;
  readonly clock: ManualClock;
}

async function scene(config: object = {}): Promise<Scene> {
  const [upstream, slow, clock] = [await startUpstream(), await startUpstream(), new ManualClock()];
  slow.always(() => {});
  const gateway = await startGateway(
    {
      providers: {
        ollama: { base_url: `${upstream.origin}/v1` },
        plain: { protocols: { 'openai-chat': `${slow.origin}/v1` } },
        openai: { api_key: 'sk-test' },
      },
      ...config,
    },
    { clock },
  );
  return {
    upstream,
    slow,
    gateway,
    clock,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.stop();
      await slow.stop();
    },
  };
}

const listing = (...names: readonly unknown[]) =>
  whole({ object: 'list', data: names.map((id) => ({ id })) });

async function ids({ gateway }: Scene, key = gateway.key): Promise<readonly string[]> {
  const response = await fetch(`${gateway.origin}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  const { data } = (await response.json()) as Record<'data', { id: string }[]>;
  return data.map(({ id }) => id).filter((id) => /ollama|plain/.test(id));
}

/** Asks for the list, lets the client's patience end, and returns the ids. */
async function idsAfterPatience(one: Scene, key?: string): Promise<readonly string[]> {
  const asked = ids(one, key);
  await one.slow.arrived(1);
  await one.upstream.arrived(1);
  one.clock.advance(251);
  return asked;
}

test('the models of a server are listed and can be used, and a slow server delays nothing', async () => {
  await using one = await scene();
  one.upstream.always(listing('tiny:latest', 'sees'));
  await idsAfterPatience(one);
  // A second request does not wait, and the slow server is not asked twice.
  expect(await ids(one)).toEqual(['ollama/sees', 'ollama/tiny:latest']);
  expect([one.upstream.requests.length, one.slow.requests.length]).toEqual([1, 1]);
  one.upstream.always(whole(chatBody('Hi')));
  const asking = { model: 'ollama/tiny:latest', messages: [{ role: 'user', content: 'Hello' }] };
  expect((await one.gateway.post('/chat/completions', asking)).status).toBe(200);
});

test('a list is bounded, and names that cannot be used are removed', async () => {
  await using one = await scene();
  const many = Array.from({ length: 500 }, (_, index) => `model-${index}`);
  one.upstream.always(listing('', 'a b', 'a\u202eb', 'x'.repeat(300), 7, 'nomic-embed-text', ...many));
  await idsAfterPatience(one);
  const listed = await ids(one);
  expect(listed.length).toBeLessThanOrEqual(200);
  expect(listed).toContain('ollama/model-0');
  expect(listed.every((id) => /^ollama\/model-\d+$/.test(id))).toBe(true);
});

test('a list that is too large is ignored', async () => {
  await using one = await scene();
  one.upstream.always(
    listing(...Array.from({ length: 20_000 }, (_, index) => `${'m'.repeat(100)}-${index}`)),
  );
  await idsAfterPatience(one);
  expect(await ids(one)).toEqual([]);
});

test('a list is requested again after a while, and dropped if the server no longer has one', async () => {
  await using one = await scene();
  one.upstream.always(listing('first'));
  await idsAfterPatience(one);
  expect(await ids(one)).toEqual(['ollama/first']);
  one.upstream.always(listing('second'));
  one.clock.advance(31_000);
  // This client is not made to wait for the news.
  await ids(one);
  await one.upstream.arrived(1);
  while (!(await ids(one)).includes('ollama/second'));
  one.upstream.always(whole({}, 500));
  one.clock.advance(9 * 60_000);
  expect(await ids(one)).toEqual(['ollama/second']);
  one.clock.advance(2 * 60_000);
  expect(await ids(one)).toEqual([]);
});

test('vendors are not queried, nor is any server for a client without a key, and a key sees the models that it can use', async () => {
  await using one = await scene({
    keys: [
      { name: 'all', key: 'sk-test-all' },
      { name: 'some', key: 'sk-test-some', models: ['ollama/may'] },
    ],
  });
  one.upstream.always(listing('may', 'may-not'));
  expect((await fetch(`${one.gateway.origin}/v1/models`)).status).toBe(401);
  expect(one.upstream.requests).toHaveLength(0);
  await idsAfterPatience(one, 'sk-test-all');
  expect(await ids(one, 'sk-test-all')).toEqual(['ollama/may', 'ollama/may-not']);
  expect(await ids(one, 'sk-test-some')).toEqual(['ollama/may']);
});

test('a list queries the catalog for its providers once', async () => {
  let walks = 0;
  const catalog = {
    providers: () => {
      walks++;
      return new Map();
    },
  } as unknown as Catalog;
  const models = new LocalModels({ catalog: () => catalog, clock: new ManualClock(), upstream: NO_UPSTREAM });
  for (let i = 0; i < 3; i++) expect(await models.list()).toEqual([]);
  expect(walks).toBe(1);
});
