// Payloads of each side of a request, as an admin finds them: four, without credentials, and only where they were asked
// for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ManagedGateway, startManaged } from '../../../support/management/scene.ts';

interface Shown {
  readonly stage: string;
  readonly attempt: number | null;
  readonly address: string | null;
  readonly status: number | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly bytes: number;
  readonly cut: boolean;
  readonly masked: boolean;
  readonly reads: readonly (readonly [number, number])[];
  readonly text: string;
}

const messages = [{ role: 'user', content: 'Say grüße' }];
const gateways: ManagedGateway[] = [];

async function start(logging: object, more: object = {}): Promise<ManagedGateway> {
  const gateway = await startManaged({ logging: { level: 'silent', ...logging }, ...more });
  gateways.push(gateway);
  return gateway;
}

async function ask(
  gateway: ManagedGateway,
  path: string,
  body: unknown,
): Promise<{ id: string; text: string }> {
  const response = await gateway.post(path, body);
  return { id: response.headers.get('x-request-id') ?? '', text: await response.text() };
}

async function payloadsOf(gateway: ManagedGateway, id: string): Promise<readonly Shown[]> {
  const { body } = await gateway.manage('GET', `/generations/${id}/payloads`);
  return body['data'] as readonly Shown[];
}

afterAll(() => Promise.all(gateways.map((gateway) => gateway.close())));

describe('with content logging', () => {
  let gateway: ManagedGateway;
  beforeAll(async () => {
    gateway = await start({ content: true });
  });

  test('the four payloads of a streamed answer are kept as they were sent, with the time of each read', async () => {
    const body = JSON.stringify({ model: 'sim/messages', messages, stream: true });
    const { id, text } = await ask(gateway, '/chat/completions', body);
    const payloads = await payloadsOf(gateway, id);
    expect(payloads.map(({ stage, attempt }) => [stage, attempt])).toEqual([
      ['client_request', null],
      ['client_response', null],
      ['upstream_request', 0],
      ['upstream_response', 0],
    ]);
    const [asked, answered, sent, came] = payloads;
    expect(asked).toMatchObject({ address: '/v1/chat/completions', status: null, text: body, masked: false });
    expect(answered).toMatchObject({ status: 200, text, cut: false });
    expect(JSON.parse(sent?.text ?? '')).toMatchObject({ stream: true, messages: [{ role: 'user' }] });
    expect(sent?.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/.*messages$/);
    expect(came?.text).toContain('event: message_stop');
    const readBytes = came?.reads.reduce((sum, [, bytes]) => sum + bytes, 0);
    expect(readBytes).toBe(came?.bytes);
    expect(came?.bytes).toBe(Buffer.byteLength(came?.text ?? ''));
    const raw = await fetch(`${gateway.origin}/v1/management/generations/${id}/payloads/client_response`, {
      headers: { authorization: 'Bearer sk-test-admin-0123456789' },
    });
    expect(raw.headers.get('content-type')).toBe('application/octet-stream');
    expect(await raw.text()).toBe(text);
  });

  test('neither keys nor credentials of tools are in them', async () => {
    const secret = 'sk-mcp-0123456789-abcdef';
    const tools = [
      { type: 'mcp', server_label: 's', server_url: 'http://127.0.0.1:1/x', authorization: secret },
    ];
    const { id } = await ask(gateway, '/responses', { model: 'sim/responses', input: 'Hi', tools });
    const payloads = await payloadsOf(gateway, id);
    const shown = JSON.stringify(payloads);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain(gateway.key);
    expect(payloads[0]).toMatchObject({ stage: 'client_request', masked: true });
    expect(payloads[0]?.headers).toContainEqual(['authorization', '[secret]']);
  });

  test('only admins can read them', async () => {
    const { id } = await ask(gateway, '/chat/completions', { model: 'sim/echo', messages });
    await payloadsOf(gateway, id);
    const own = await gateway.get(`/management/generations/${id}/payloads`);
    expect(own.status).toBe(403);
    const unknown = await gateway.manage('GET', `/generations/${'0'.repeat(32)}/payloads`);
    expect(unknown.status).toBe(404);
  });
});

test('with content logging of failures, every attempt of a failed request is stored, and no other', async () => {
  const gateway = await start({ content: 'failures' }, { routing: { retries: 1 } });
  const good = await ask(gateway, '/chat/completions', { model: 'sim/echo', messages });
  expect(await payloadsOf(gateway, good.id)).toEqual([]);
  const bad = await ask(gateway, '/chat/completions', { model: 'sim/error-503', messages });
  const failed = await payloadsOf(gateway, bad.id);
  expect(failed.map(({ stage, attempt, status }) => [stage, attempt, status])).toEqual([
    ['client_request', null, null],
    ['client_response', null, 503],
    ['upstream_request', 0, null],
    ['upstream_response', 0, 503],
    ['upstream_request', 1, null],
    ['upstream_response', 1, 503],
  ]);
  expect(failed[1]?.text).toBe(bad.text);
  const refused = await ask(gateway, '/chat/completions', { model: 'no/such', messages });
  expect(await payloadsOf(gateway, refused.id)).toHaveLength(2);
  const content = async (id: string): Promise<unknown> =>
    (await gateway.manage('GET', `/generations/${id}`)).body['content'];
  expect(await content(good.id)).toBeUndefined();
  expect(await content(refused.id)).toMatchObject({ request: { model: 'no/such' } });
});

test('a long body is truncated, and marked as such', async () => {
  const gateway = await start({ content: 'all', content_kb: 1 });
  const long = { model: 'sim/echo', messages: [{ role: 'user', content: 'x'.repeat(5000) }] };
  const { id } = await ask(gateway, '/chat/completions', long);
  const [asked] = await payloadsOf(gateway, id);
  expect(asked).toMatchObject({ cut: true, bytes: JSON.stringify(long).length });
  expect(asked?.text).toHaveLength(1024);
});

test('a stored key follows the configuration unless it has its own setting', async () => {
  const kept = async (gateway: ManagedGateway, key: unknown): Promise<number> => {
    const { headers } = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(key)}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim/echo', messages }),
    });
    return (await payloadsOf(gateway, headers.get('x-request-id') ?? '')).length;
  };
  const all = await start({ content: 'all' });
  const usual = (await all.manage('POST', '/keys', { name: 'usual' })).body;
  expect(usual['log_content']).toBeNull();
  expect(await kept(all, usual['key'])).toBe(4);
  const quiet = (await all.manage('POST', '/keys', { name: 'quiet', log_content: false })).body;
  expect(await kept(all, quiet['key'])).toBe(0);
  const none = await start({});
  const one = (await none.manage('POST', '/keys', { name: 'one' })).body;
  expect(await kept(none, one['key'])).toBe(0);
  await none.manage('PATCH', `/keys/${String(one['id'])}`, { log_content: true });
  expect(await kept(none, one['key'])).toBe(4);
  const again = await none.manage('PATCH', `/keys/${String(one['id'])}`, { log_content: null });
  expect(again.body['log_content']).toBeNull();
  expect(await kept(none, one['key'])).toBe(0);
});

test('without content logging nothing is kept', async () => {
  const off = await start({});
  const none = await ask(off, '/chat/completions', { model: 'sim/echo', messages });
  const { body } = await off.manage('GET', `/generations/${none.id}/payloads`);
  expect(body['data']).toEqual([]);
  const metrics = await fetch(`${off.origin}/metrics`, {
    headers: { authorization: 'Bearer sk-test-admin-0123456789' },
  });
  expect(await metrics.text()).toContain('dragoman_logged_requests_total{outcome="kept"} 0');
});
