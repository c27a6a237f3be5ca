// The console of several gateways on one database: whoever signed in at one is signed in at all, until they sign out anywhere.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ManualClock } from '../support/manual-clock.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from '../support/management/scene.ts';
import { eventually } from '../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';

describe.skipIf(POSTGRES_PROGRAMS === null)('the console of gateways on one PostgreSQL database', () => {
  const clock = new ManualClock();
  let one: ManagedGateway;
  let two: ManagedGateway;

  beforeAll(async () => {
    const config = { database_url: await freshPostgres(), secret: 'ab'.repeat(32) };
    [one, two] = await Promise.all([startManaged(config, { clock }), startManaged(config, { clock })]);
  });
  afterAll(async () => {
    await one.close();
    await two.close();
  });

  const signIn = (at: ManagedGateway, body: unknown): Promise<Response> =>
    fetch(`${at.origin}/console/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  async function signedIn(at: ManagedGateway, body: unknown) {
    const answer = await signIn(at, body);
    expect(answer.status).toBe(200);
    const { csrf } = (await answer.json()) as { csrf: string };
    return { cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '', 'x-csrf-token': csrf };
  }
  const ask = (at: ManagedGateway, path: string, init: RequestInit): Promise<Response> =>
    fetch(`${at.origin}/console${path}`, init);

  test('a session and its changes hold on all gateways, and its end stops its running streams on all', async () => {
    const headers = await signedIn(one, { key: ADMIN_KEY });
    const made = await ask(two, '/api/v1/management/keys', {
      method: 'POST',
      headers,
      body: '{"name":"by-console"}',
    });
    expect(made.status).toBe(201);
    const forged = await ask(two, '/api/v1/management/keys', {
      method: 'POST',
      headers: { ...headers, 'x-csrf-token': 'x' },
      body: '{"name":"forged"}',
    });
    expect(forged.status).toBe(403);
    const events = await ask(two, '/api/v1/management/events', { headers });
    let isOver = false;
    const reading = events.text().finally(() => (isOver = true));
    const left = await ask(one, '/session', { method: 'DELETE', headers });
    expect(left.status).toBe(200);
    for (const gateway of [one, two]) {
      expect((await ask(gateway, '/api/v1/management/keys', { headers })).status).toBe(401);
      const session = await ask(gateway, '/session', { headers });
      expect(await session.json()).toEqual({ signed_in: false });
    }
    await eventually('the events of the session end', () => {
      clock.advance(10_000);
      return isOver;
    });
    expect(await reading).toStartWith(': connected');
  });

  test('a sign-in link works once, at any of them', async () => {
    const code = one.signInLink().split('#code=')[1];
    const headers = await signedIn(two, { code });
    expect((await ask(one, '/api/v1/management/keys', { headers })).status).toBe(200);
    for (const gateway of [one, two]) expect((await signIn(gateway, { code })).status).toBe(401);
  });
});
