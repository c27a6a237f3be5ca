// `GET /models` and `GET /models/{id}` as a key sees them: the models that it may use, and the choice among them.
import { expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';

interface Listed {
  readonly id: string;
  readonly display_name: string;
  readonly owned_by: string;
  readonly pricing: unknown;
}

test('the choice among models is listed, and found by each of its names', async () => {
  await using gateway = await startGateway({
    keys: [
      { name: 'test', key: 'sk-test' },
      { name: 'narrow', key: 'sk-narrow', models: ['sim/echo'] },
      { name: 'nothing', key: 'sk-nothing', models: [] },
    ],
  });
  const read = async (path: string, key = 'sk-test'): Promise<{ status: number; body: unknown }> => {
    const answer = await fetch(gateway.baseURL + path, { headers: { authorization: `Bearer ${key}` } });
    return { status: answer.status, body: await answer.json() };
  };
  const ids = async (key: string): Promise<string[]> =>
    ((await read('/models', key)).body as { data: Listed[] }).data.map(({ id }) => id);
  expect(await ids('sk-test')).toEqual(expect.arrayContaining(['dragoman/auto', 'sim/echo']));
  expect(await ids('sk-narrow')).toEqual(['dragoman/auto', 'sim/echo']);
  expect(await ids('sk-nothing')).toEqual([]);
  for (const id of ['dragoman/auto', 'auto', 'zenmux/auto', 'dragoman%2Fauto']) {
    const { status, body } = await read(`/models/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: 'dragoman/auto',
      display_name: 'Auto',
      owned_by: 'dragoman',
      pricing: { prompt: '-1', completion: '-1' },
    });
  }
  expect((await read('/models/auto', 'sk-nothing')).status).toBe(404);
});

test('a configured model of that name replaces it', async () => {
  await using gateway = await startGateway({
    models: [{ id: 'dragoman/auto', display_name: 'Ours', endpoints: [{ provider: 'sim', model: 'echo' }] }],
    aliases: { auto: 'sim/chat' },
  });
  const name = async (id: string): Promise<string> =>
    ((await (await gateway.get(`/models/${id}`)).json()) as Listed).display_name;
  expect([await name('dragoman/auto'), await name('auto'), await name('zenmux/auto')]).toEqual([
    'Ours',
    'chat',
    'Auto',
  ]);
  const { data } = (await (await gateway.get('/models')).json()) as { data: Listed[] };
  expect(data.filter(({ id }) => id === 'dragoman/auto').map(({ display_name: shown }) => shown)).toEqual([
    'Ours',
  ]);
});
