// Answers whose client leaves, as their key says it: a key of the configuration file, and one that the management API
// made and changes. The header of a request counts before both.
import { afterAll, expect, test } from 'bun:test';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { startSlow } from '../../support/upstreams/slow-upstream.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';

const ADMIN = 'sk-test-admin-0123456789';
const PATIENCE_MS = 60_000;

const slow = await startSlow();
const gateway = await startGateway({
  keys: [
    { name: 'patient', key: TEST_KEY, on_disconnect: 'continue' },
    { name: 'admin', key: ADMIN, roles: ['admin'] },
  ],
  providers: { slow: { api_key: 'sk-test', protocols: { 'openai-chat': slow.base } } },
});
afterAll(async () => {
  await gateway.close();
  slow.stop();
});

/** Begins a stream and leaves it. @returns its id */
async function leave(key: string, headers: Record<string, string> = {}): Promise<string> {
  const stop = new AbortController();
  const response = await fetch(`${gateway.baseURL}/chat/completions`, {
    method: 'POST',
    signal: stop.signal,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'slow/m', stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await new StreamReading(response).until('one');
  stop.abort();
  return response.headers.get('x-request-id')!;
}

async function manage(
  method: string,
  path: string,
  body: object,
): Promise<{ status: number; json: Record<string, string> }> {
  const answer = await fetch(`${gateway.baseURL}/management${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Record<string, string> };
}

/** It goes on: what comes later is there for whoever resumes it. */
async function goesOn(key: string, headers?: Record<string, string>): Promise<void> {
  const before = slow.aborted;
  const id = await leave(key, headers);
  const rest = fetch(`${gateway.baseURL}/streams/${id}`, { headers: { authorization: `Bearer ${key}` } });
  slow.go();
  expect(await (await rest).text()).toContain('two');
  expect(slow.aborted).toBe(before);
}

async function ends(key: string, headers?: Record<string, string>): Promise<void> {
  const before = slow.aborted;
  await leave(key, headers);
  await eventually('its upstream is left', () => slow.aborted === before + 1, PATIENCE_MS);
}

test('a key of the configuration file sets it, and a header overrides it', async () => {
  await goesOn(TEST_KEY);
  await ends(TEST_KEY, { 'x-dragoman-on-disconnect': 'abort' });
});

test('a stored key sets it, and can be changed', async () => {
  const refused = await manage('POST', '/keys', { name: 'made', on_disconnect: 'sometimes' });
  expect(refused).toMatchObject({ status: 400, json: { error: { param: 'on_disconnect' } } });
  const made = await manage('POST', '/keys', { name: 'made', on_disconnect: 'continue:30s' });
  expect(made).toMatchObject({ status: 201, json: { on_disconnect: 'continue:30s' } });
  const { key = '', id } = made.json;
  await goesOn(key);
  const changed = await manage('PATCH', `/keys/${id}`, { on_disconnect: null });
  expect(changed).toMatchObject({ status: 200, json: { on_disconnect: null } });
  await ends(key);
});
