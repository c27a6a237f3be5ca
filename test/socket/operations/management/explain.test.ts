// How a request of a key would be routed, asked by an admin: as that key itself would be told.
import { afterAll, expect, test } from 'bun:test';
import { startManaged } from '../../../support/management/scene.ts';

const request = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] };

const gateway = await startManaged();
afterAll(() => gateway.close());

test('a request is explained as to the key that would send it', async () => {
  const { body: key } = await gateway.manage('POST', '/keys', { name: 'narrow', models: ['sim/echo'] });
  const { id, key: secret } = key as { readonly id: string; readonly key: string };
  const own = await fetch(`${gateway.baseURL}/route/explain`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...request, model: 'sim/echo' }),
  });
  const reported = await gateway.manage('POST', '/route/explain', {
    key: id,
    request: { ...request, model: 'sim/echo' },
  });
  expect(reported.status).toBe(200);
  expect(reported.body).toEqual((await own.json()) as Record<string, unknown>);
  expect((await gateway.manage('POST', '/route/explain', { key: id, request })).status).toBe(403);
  expect((await gateway.manage('POST', '/route/explain', { key: 'nobody', request })).status).toBe(404);
  await gateway.manage('DELETE', `/keys/${id}`);
  expect((await gateway.manage('POST', '/route/explain', { key: id, request })).status).toBe(409);
});
