// Webhooks as receivers get them: read by OpenAI's SDK, one for each event, of their project alone, through hostile receivers,
// replaced secrets and the death of the process; and as admins manage them.
import { afterEach, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { pauseAfter } from '../../../src/operations/webhooks/delivery.ts';
import { startManaged, type ManagedGateway } from '../../support/management/scene.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually, freshFolder, NO_OVERLOAD, startProgram } from '../../support/program.ts';
import { rejection } from '../../support/rejection.ts';
import { endLeases } from '../../support/storage/end-leases.ts';
import { WEBHOOK_SECRET } from '../../support/webhook-receiver.ts';

const OTHER_SECRET = `whsec_${Buffer.from('fedcba9876543210fedcba9876543210').toString('base64')}`;
const HOUR = 3_600_000;
const client = new OpenAI({ apiKey: 'unused' });

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface Received {
  readonly headers: Headers;
  readonly body: string;
}

interface Receiver {
  readonly url: string;
  readonly host: string;
  readonly received: Received[];
}

/** A receiver on a bare socket. @param answer to the message with this number, from 1 */
function receive(
  answer: (count: number) => Response | Promise<Response> = () => new Response(null, { status: 204 }),
): Receiver {
  const received: Received[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const headers = new Headers(request.headers);
      received.push({ headers, body: await request.text() });
      return answer(received.length);
    },
  });
  undo.push(() => server.stop(true));
  return { url: `http://127.0.0.1:${server.port}/hook`, host: `127.0.0.1:${server.port}`, received };
}

async function start(
  config: Record<string, unknown>,
  options?: Parameters<typeof startManaged>[1],
): Promise<ManagedGateway> {
  const gateway = await startManaged(config, options);
  undo.push(() => gateway.close());
  return gateway;
}

/** Asks for an answer in the background. @returns its id */
async function ask(gateway: ManagedGateway, body: object = {}, key = 'sk-test'): Promise<string> {
  const answer = await gateway.post(
    '/responses',
    { model: 'sim/chat', input: 'Hello', background: true, ...body },
    { authorization: `Bearer ${key}` },
  );
  return ((await answer.json()) as { id: string }).id;
}

function count(receiver: Receiver, many: number): Promise<void> {
  return eventually(`${many} messages came`, () => receiver.received.length >= many);
}

function typesOf({ received }: Receiver): readonly [type: string, id: unknown][] {
  return received.map(({ body }) => {
    const { type, data } = JSON.parse(body) as { type: string; data: { id?: unknown } };
    return [type, data.id];
  });
}

function unwrap({ body, headers }: Received, secret: string): ReturnType<typeof client.webhooks.unwrap> {
  return client.webhooks.unwrap(body, headers, secret);
}

describe('an event of an answer in the background', () => {
  test('is unwrapped by the SDK of OpenAI, and contains the result of the response', async () => {
    const receiver = receive();
    const gateway = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
    const completed = await ask(gateway);
    await count(receiver, 1);
    const incomplete = await ask(gateway, { max_output_tokens: 16, model: 'sim/length' });
    await count(receiver, 2);
    const failed = await ask(gateway, { model: 'sim/error-400' });
    await count(receiver, 3);
    const cancelled = await ask(gateway, { model: 'sim/stall' });
    await gateway.post(`/responses/${cancelled}/cancel`, {});
    await count(receiver, 4);
    expect(typesOf(receiver)).toEqual([
      ['response.completed', completed],
      ['response.incomplete', incomplete],
      ['response.failed', failed],
      ['response.cancelled', cancelled],
    ]);
    const [first] = receiver.received;
    expect(await unwrap(first!, WEBHOOK_SECRET)).toEqual({
      object: 'event',
      id: expect.stringMatching(/^evt_[0-9a-f]{24}$/),
      type: 'response.completed',
      created_at: expect.any(Number),
      data: { id: completed },
    });
    expect(await rejection(unwrap(first!, OTHER_SECRET))).toBeInstanceOf(OpenAI.InvalidWebhookSignatureError);
    const changed = { ...first!, body: first!.body.replace(completed, failed) };
    expect(await rejection(unwrap(changed, WEBHOOK_SECRET))).toBeInstanceOf(
      OpenAI.InvalidWebhookSignatureError,
    );
  });

  test('comes when the answer can be read as ended, also where it was cancelled before it began', async () => {
    const statuses: Promise<string>[] = [];
    const receiver = receive((number) => {
      const { data } = JSON.parse(receiver.received[number - 1]!.body) as { data: { id: string } };
      const read = gateway.get(`/responses/${data.id}`).then((answer) => answer.json());
      statuses.push(read.then((response) => (response as { status: string }).status));
      return new Response(null, { status: 204 });
    });
    const gateway = await start({
      webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }],
      jobs: { concurrent: 1 },
    });
    await ask(gateway);
    await count(receiver, 1);
    const running = await ask(gateway, { model: 'sim/stall' });
    const queued = await ask(gateway);
    for (const id of [queued, running]) await gateway.post(`/responses/${id}/cancel`, {});
    await count(receiver, 3);
    expect(await Promise.all(statuses)).toEqual(['completed', 'cancelled', 'cancelled']);
    expect(typesOf(receiver).slice(1)).toEqual([
      ['response.cancelled', queued],
      ['response.cancelled', running],
    ]);
  });

  test('goes to receivers of its project and of the operator alone, and to those that want its type', async () => {
    const [own, foreign, all, picky] = [receive(), receive(), receive(), receive()];
    const secret = WEBHOOK_SECRET;
    const gateway = await start({
      projects: { shop: {}, bank: {} },
      keys: [
        { name: 'shop', key: 'sk-test-shop', project: 'shop' },
        { name: 'bank', key: 'sk-test-bank', project: 'bank' },
      ],
      webhooks: [
        { url: own.url, secret, project: 'shop' },
        { url: foreign.url, secret, project: 'bank' },
        { url: all.url, secret },
        { url: picky.url, secret, project: 'shop', events: ['response.failed'] },
      ],
    });
    const first = await ask(gateway, {}, 'sk-test-shop');
    await count(own, 1);
    const failed = await ask(gateway, { model: 'sim/error-400' }, 'sk-test-shop');
    await Promise.all([count(own, 2), count(all, 2), count(picky, 1)]);
    const second = await ask(gateway, {}, 'sk-test-bank');
    await Promise.all([count(foreign, 1), count(all, 3)]);
    const [a, b, c] = [
      ['response.completed', first],
      ['response.failed', failed],
      ['response.completed', second],
    ] as [string, unknown][];
    expect(typesOf(own)).toEqual([a!, b!]);
    expect(typesOf(foreign)).toEqual([c!]);
    expect(typesOf(all)).toEqual([a!, b!, c!]);
    expect(typesOf(picky)).toEqual([b!]);
  });

  test('is delivered after the process was killed while the receiver had it, under the same id', async () => {
    const receiver = receive((number) =>
      number === 1 ? new Promise<Response>(() => {}) : new Response(null, { status: 200 }),
    );
    const { folder, remove } = freshFolder();
    undo.push(remove);
    const file = `${folder}/dragoman.yaml`;
    await Bun.write(
      file,
      JSON.stringify({
        server: NO_OVERLOAD,
        keys: [{ name: 'test', key: 'sk-test' }],
        providers: { sim: {} },
        webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }],
      }),
    );
    const args = ['serve', '--port', '0', '--data-dir', `${folder}/data`, '--config', file];
    const first = await startProgram(args, { folder });
    await fetch(`${first.origin}/v1/responses`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim/chat', input: 'Hello', background: true }),
    });
    await count(receiver, 1);
    await first.stop('SIGKILL');
    endLeases(`${folder}/data`);
    const second = await startProgram(args, { folder });
    undo.push(() => second.stop('SIGKILL'));
    await eventually('it comes again', () => receiver.received.length >= 2);
    const ids = receiver.received.map(({ headers }) => headers.get('webhook-id'));
    expect(new Set(ids).size).toBe(1);
    const [one, two] = receiver.received;
    expect(two?.body).toBe(one?.body ?? '');
    expect(await unwrap(two!, WEBHOOK_SECRET)).toMatchObject({ type: 'response.completed' });
  });
});

describe('a receiver that is made by API', () => {
  const managed = (receiver: Receiver): Promise<ManagedGateway> =>
    start({ fetch: { allow: [receiver.host] } });

  test('has a secret that is shown once, and another one from time to time', async () => {
    const receiver = receive();
    const clock = new ManualClock(Date.now());
    const gateway = await start({ fetch: { allow: [receiver.host] } }, { clock });
    const made = await gateway.manage('POST', '/webhooks', {
      url: receiver.url,
      events: ['response.completed'],
    });
    const { id, secret: old } = made.body as { id: string; secret: string };
    expect(made.body).toMatchObject({
      object: 'webhook',
      source: 'database',
      project: null,
      state: 'enabled',
    });
    expect((await gateway.manage('GET', `/webhooks/${id}`)).body).not.toHaveProperty('secret');
    await ask(gateway);
    await count(receiver, 1);
    const rotated = await gateway.manage('POST', `/webhooks/${id}/rotate`, { keep_hours: 1 });
    const { secret } = rotated.body as { secret: string };
    expect(secret).not.toBe(old);
    await ask(gateway);
    await count(receiver, 2);
    clock.advance(2 * HOUR);
    await ask(gateway);
    await count(receiver, 3);
    const reads = async (message: Received | undefined, by: string): Promise<boolean> =>
      client.webhooks.verifySignature(message!.body, message!.headers, by, 3 * 3600).then(
        () => true,
        () => false,
      );
    const [first, second, third] = receiver.received;
    expect([await reads(first, old), await reads(first, secret)]).toEqual([true, false]);
    expect([await reads(second, old), await reads(second, secret)]).toEqual([true, true]);
    expect([await reads(third, old), await reads(third, secret)]).toEqual([false, true]);
    const audit = await gateway.manage('GET', '/audit');
    expect(JSON.stringify(audit.body)).not.toContain('whsec_');
    const stored = await Bun.file(`${gateway.dataDir}/dragoman.db`).bytes();
    expect(Buffer.from(stored).includes(Buffer.from(old.slice(6)))).toBe(false);
  });

  test('is refused for a project that does not exist', async () => {
    const receiver = receive();
    const gateway = await managed(receiver);
    const wanted = { url: receiver.url, project: 'shop' };
    const refused = await gateway.manage('POST', '/webhooks', wanted);
    expect(refused.status).toBe(404);
    expect(refused.body).toMatchObject({
      error: { param: 'project', message: expect.stringContaining('"shop"') },
    });
    expect((await gateway.manage('POST', '/projects', { name: 'shop' })).status).toBe(201);
    expect((await gateway.manage('POST', '/webhooks', wanted)).body).toMatchObject({ project: 'shop' });
  });

  test('is listed, changed, tested and deleted; its log contains its deliveries, which can be repeated', async () => {
    const receiver = receive(
      (number) => new Response(`answer ${number}`, { status: number === 1 ? 400 : 200 }),
    );
    const gateway = await managed(receiver);
    const { body: made } = await gateway.manage('POST', '/webhooks', {
      url: receiver.url,
      description: 'CI',
    });
    const path = `/webhooks/${made['id'] as string}`;
    expect((await gateway.manage('GET', '/webhooks')).body).toMatchObject({ data: [{ description: 'CI' }] });
    const changed = await gateway.manage('PATCH', path, { events: ['batch.completed'], description: null });
    expect(changed.body).toMatchObject({ events: ['batch.completed'], description: null, url: receiver.url });
    const tested = await gateway.manage('POST', `${path}/test`, { type: 'batch.completed' });
    const delivery = `${path}/deliveries/${tested.body['id'] as string}`;
    const state = async (of: string, is: string): Promise<boolean> =>
      (await gateway.manage('GET', of)).body['state'] === is;
    await eventually('the test failed', () => state(delivery, 'failed'));
    const logged = await gateway.manage('GET', delivery);
    expect(logged.body).toMatchObject({
      type: 'batch.completed',
      attempts: 1,
      last_failure: 'The receiver responded with status 400.',
      log: [
        {
          failure: 'The receiver responded with status 400.',
          request: { headers: { 'webhook-id': receiver.received[0]?.headers.get('webhook-id') } },
          answer: { status: 400, content_type: 'text/plain;charset=utf-8', body: 'answer 1' },
        },
      ],
    });
    expect(logged.body['body']).toBe(receiver.received[0]?.body);
    const again = await gateway.manage('POST', `${delivery}/redeliver`);
    await eventually('it was taken', () =>
      state(`${path}/deliveries/${again.body['id'] as string}`, 'completed'),
    );
    const [first, second] = receiver.received;
    expect(second?.headers.get('webhook-id')).toBe(first?.headers.get('webhook-id') ?? '');
    const { body: list } = await gateway.manage('GET', `${path}/deliveries`);
    const type = 'batch.completed';
    expect(list).toMatchObject({
      data: [
        { state: 'completed', type },
        { state: 'failed', type },
      ],
    });
    expect((await gateway.manage('DELETE', path)).body).toMatchObject({ deleted: true });
    expect((await gateway.manage('GET', path)).status).toBe(404);
    expect((await gateway.manage('GET', delivery)).status).toBe(404);
  });

  test('has no private address, when it is created or later', async () => {
    const inside = receive();
    let address = '93.184.215.14';
    const resolve = (host: string): Promise<string[]> =>
      Promise.resolve(host === 'moves.example' ? [address] : ['127.0.0.1']);
    const gateway = await start({}, { resolve });
    for (const url of [inside.url, 'http://localhost:1/', 'http://169.254.169.254/latest', 'http://[::1]/']) {
      const refused = await gateway.manage('POST', '/webhooks', { url });
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { param: 'url', code: 'url_not_allowed' } },
      });
    }
    const port = inside.host.split(':')[1];
    const { body: made } = await gateway.manage('POST', '/webhooks', {
      url: `http://moves.example:${port}/`,
    });
    address = '127.0.0.1';
    const path = `/webhooks/${made['id'] as string}`;
    const { body: tested } = await gateway.manage('POST', `${path}/test`, {});
    const delivery = `${path}/deliveries/${tested['id'] as string}`;
    await eventually(
      'it failed',
      async () => (await gateway.manage('GET', delivery)).body['state'] === 'failed',
    );
    expect(String((await gateway.manage('GET', delivery)).body['last_failure'])).toContain(
      'may not be fetched',
    );
    expect(inside.received).toEqual([]);
  });

  test('of a configuration file is read, tested and enabled, and not changed', async () => {
    const receiver = receive();
    const gateway = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
    const { body } = await gateway.manage('GET', '/webhooks');
    const [{ id }] = body['data'] as [{ id: string }];
    for (const [method, path, change] of [
      ['PATCH', `/webhooks/${id}`, { events: null }],
      ['DELETE', `/webhooks/${id}`, undefined],
      ['POST', `/webhooks/${id}/rotate`, {}],
    ] as const)
      expect((await gateway.manage(method, path, change)).status).toBe(409);
    expect((await gateway.manage('PATCH', `/webhooks/${id}`, { state: 'enabled' })).status).toBe(200);
    await gateway.manage('POST', `/webhooks/${id}/test`);
    await count(receiver, 1);
    expect(typesOf(receiver)).toEqual([['webhook.test', 'test']]);
  });
});

describe('a receiver that misbehaves', () => {
  /** The last failure of the one delivery to a receiver. */
  async function failure(gateway: ManagedGateway, place = 0): Promise<unknown> {
    const { body: hooks } = await gateway.manage('GET', '/webhooks');
    const { id } = (hooks['data'] as { id: string }[])[place]!;
    const { body } = await gateway.manage('GET', `/webhooks/${id}/deliveries`);
    return (body['data'] as { last_failure: unknown }[])[0]?.last_failure ?? null;
  }

  test('is not followed where it redirects', async () => {
    const target = receive();
    const receiver = receive(() => new Response(null, { status: 307, headers: { location: target.url } }));
    const gateway = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
    await ask(gateway);
    await eventually('it failed', async () => (await failure(gateway)) !== null);
    expect(await failure(gateway)).toBe(
      'The receiver responded with a redirect (status 307). Use its final address.',
    );
    expect(target.received).toEqual([]);
  });

  test('is left after 64 kB of an answer without an end', async () => {
    let sent = 0;
    const receiver = receive(
      () =>
        new Response(
          new ReadableStream<Uint8Array>({
            pull(controller) {
              sent += 16_384;
              controller.enqueue(new Uint8Array(16_384));
            },
          }),
        ),
    );
    const gateway = await start({ webhooks: [{ url: receiver.url, secret: WEBHOOK_SECRET }] });
    await ask(gateway);
    await eventually('it failed', async () => (await failure(gateway)) !== null);
    expect(String(await failure(gateway))).toContain('larger than 65536 bytes');
    expect(sent).toBeLessThan(16 * 1_048_576);
  });

  test('and does not answer is left after 15 seconds, and is in no other one’s way', async () => {
    const slow = receive(() => new Promise<Response>(() => {}));
    const quick = receive();
    const clock = new ManualClock(Date.now());
    const secret = WEBHOOK_SECRET;
    const gateway = await start(
      {
        webhooks: [
          { url: slow.url, secret },
          { url: quick.url, secret },
        ],
      },
      { clock },
    );
    for (let number = 0; number < 8; number += 1) await ask(gateway);
    await eventually(
      'the quick one has all',
      () => quick.received.length === 8 && slow.received.length === 5,
    );
    await eventually('it failed', async () => {
      clock.advance(1_000);
      return (await failure(gateway)) !== null;
    });
    const { body: hooks } = await gateway.manage('GET', '/webhooks');
    expect(hooks).toMatchObject({ data: [{ state: 'failing' }, { state: 'enabled' }] });
  });

  test('for 72 hours is disabled with an alert, and receives again after it is enabled', async () => {
    let status = 503;
    const broken = receive(() => new Response(null, { status }));
    const pager = receive();
    const clock = new ManualClock(Date.now());
    const secret = WEBHOOK_SECRET;
    const gateway = await start(
      {
        logging: { level: 'debug' },
        webhooks: [
          { url: broken.url, secret, events: ['response.completed'] },
          { url: pager.url, secret, events: ['webhook.disabled'] },
        ],
      },
      { clock },
    );
    await ask(gateway);
    await count(broken, 1);
    const begun = clock.now();
    const { body: before } = await gateway.manage('GET', '/webhooks');
    const [{ id }] = before['data'] as [{ id: string }];
    const rests = async (): Promise<boolean> => {
      const { body } = await gateway.manage('GET', `/webhooks/${id}/deliveries`);
      return (body['data'] as [{ state: string }])[0].state === 'waiting';
    };
    // An hour passes at once, but not while a try is on its way: its time would be over.
    await eventually(
      'operators are told',
      async () => {
        clock.advance((await rests()) && (await rests()) ? HOUR : 100);
        return pager.received.length > 0;
      },
      120_000,
    );
    expect((clock.now() - begun) / HOUR).toBeGreaterThan(71);
    expect((clock.now() - begun) / HOUR).toBeLessThan(76);
    expect(JSON.parse(pager.received[0]!.body)).toMatchObject({
      type: 'webhook.disabled',
      data: { host: broken.host, reason: 'The receiver responded with status 503.' },
    });
    const { body: hooks } = await gateway.manage('GET', '/webhooks');
    expect(hooks).toMatchObject({ data: [{ state: 'disabled' }, { state: 'enabled' }] });
    const tries = broken.received.length;
    status = 200;
    const missed = await ask(gateway);
    await eventually('it has ended', async () => {
      const answer = await gateway.get(`/responses/${missed}`);
      return ((await answer.json()) as { status: string }).status === 'completed';
    });
    const enabled = await gateway.manage('PATCH', `/webhooks/${id}`, { state: 'enabled' });
    expect(enabled.body).toMatchObject({ state: 'enabled' });
    const last = await ask(gateway);
    await count(broken, tries + 1);
    expect(typesOf(broken).at(-1)).toEqual(['response.completed', last]);
  }, 180_000);

  test('gets a message after growing pauses of 72 hours in total', () => {
    for (const random of [0, 0.5, 0.999]) {
      let age = 0;
      const pauses: number[] = [];
      for (let attempt = 1; ; attempt += 1) {
        const pause = pauseAfter(attempt, age, random);
        if (pause === null) break;
        pauses.push(pause);
        age += pause;
      }
      expect(age).toBe(72 * HOUR);
      expect(pauses.length).toBeGreaterThan(10);
      expect(pauses[0]).toBeLessThan(7_000);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * HOUR);
    }
  });
});
