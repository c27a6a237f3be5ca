// Messages between processes, through a real server and through a supervisor: all others receive them, and no sender its own.
import { afterAll, describe, expect, test } from 'bun:test';
import { type PubSub, TenantChanges } from '../../../src/cluster/exchange/index.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import type { WorkerProcess } from '../../../src/base/runtime/worker-process.ts';
import { ValkeyPubSub, ValkeyServer } from '../../../src/cluster/valkey/index.ts';
import { Channel } from '../../../src/cluster/workers/channel.ts';
import { Supervisor, SupervisorPubSub } from '../../../src/cluster/workers/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startValkey, VALKEY_PROGRAM, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { eventually } from '../../support/program.ts';

const PROCESSES = 3;
const elapsed = (): number => performance.now();

/** A few processes. */
interface Group {
  readonly members: readonly PubSub[];
  /** Resolves when all of them hear. */
  ready(): Promise<void>;
  close(): void;
}

function describePubSub(name: string, open: () => Promise<Group>): void {
  test(`${name}: all others receive the messages of one, in order`, async () => {
    const { members, ready, close } = await open();
    const received = members.map((): string[] => []);
    for (const [at, member] of members.entries()) {
      member.subscribe('tenants', (text) => received[at]?.push(`tenants ${text}`));
      member.subscribe('routing', (text) => received[at]?.push(`routing ${text}`));
    }
    await ready();
    members[0]?.publish('tenants', 'one');
    members[0]?.publish('routing', 'zwei "ü" 三');
    await eventually('messages arrive', () => received.slice(1).every((each) => each.length === 2));
    expect(await members[0]?.publishCounted('events', 'counted')).toBe(PROCESSES - 1);
    const reported = ['tenants one', 'routing zwei "ü" 三'];
    expect(received).toEqual([[], reported, reported]);
    close();
  });

  test(`${name}: a change reaches all others once, and is not forwarded`, async () => {
    const { members, ready, close } = await open();
    const reads = members.map(() => 0);
    const changes = members.map((member, at) => {
      const own: TenantChanges = new TenantChanges(
        member,
        async () => {
          reads[at] = (reads[at] ?? 0) + 1;
          // Here it finds the change, too.
          own.found();
        },
        (error) => expect.unreachable(String(error)),
      );
      return own;
    });
    await ready();
    changes[1]?.found();
    await eventually('they are read', () => reads[0] === 1 && reads[2] === 1);
    // A message that had been forwarded would be there before this.
    changes[0]?.found();
    await eventually('they are read', () => reads[1] === 1 && reads[2] === 2);
    expect(reads).toEqual([1, 1, 2]);
    close();
  });
}

describe.skipIf(VALKEY_PROGRAM === null)('a server', () => {
  let server: Promise<ValkeyProcess> | undefined;
  afterAll(async () => (await server)?.stop());

  async function open(): Promise<Group & { readonly url: string }> {
    const { url, send } = await (server ??= startValkey());
    const links = Array.from({ length: PROCESSES }, () => new ValkeyServer(`${url}/2`, [], elapsed));
    const members = links.map(
      (link, at) => new ValkeyPubSub(link, { self: `process ${at}`, clock: systemClock, elapsed }),
    );
    const listeners = async (): Promise<unknown> => send('PUBSUB', 'NUMSUB', '{dragoman}:1:2:told');
    return {
      url,
      members,
      ready: () =>
        eventually('it is connected', async () => ((await listeners()) as unknown[])[1] === PROCESSES),
      close() {
        for (const each of [...members, ...links]) each.close();
      },
    };
  }
  describePubSub('through a server', open);

  test('clients of another database receive nothing, and unknown messages are ignored', async () => {
    const { url, members, ready, close } = await open();
    const received: string[] = [];
    members[0]?.subscribe('tenants', (text) => received.push(text));
    await ready();
    const foreign = new ValkeyServer(`${url}/3`, [], elapsed);
    await foreign.publish('told', JSON.stringify(['another', 'tenants', 'of another database']));
    foreign.close();
    const same = new ValkeyServer(`${url}/2`, [], elapsed);
    for (const message of ['', '{', 'null', '[1,2,3]', '["x","unknown","y"]', '["x","tenants",{}]'])
      await same.publish('told', message);
    same.close();
    members[1]?.publish('tenants', 'last');
    await eventually('messages arrive', () => received.length > 0);
    expect(received).toEqual(['last']);
    close();
  });

  test('a connection that broke is made again with the next look', async () => {
    const { url, send } = await (server ??= startValkey());
    const clock = new ManualClock();
    const link = new ValkeyServer(`${url}/4`, [], elapsed);
    const member = new ValkeyPubSub(link, { self: 'one', clock, elapsed });
    const received: string[] = [];
    member.subscribe('tenants', (text) => received.push(text));
    const listeners = async (): Promise<number> =>
      Number(((await send('PUBSUB', 'NUMSUB', '{dragoman}:1:4:told')) as unknown[])[1]);
    await eventually('it is connected', async () => (await listeners()) === 1);
    await send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually('it is connected', async () => {
      clock.advance(1000);
      return (await listeners()) === 1;
    });
    await link.publish('told', JSON.stringify(['two', 'tenants', 'again']));
    await eventually('messages arrive', () => received.length > 0);
    expect(received).toEqual(['again']);
    member.close();
    link.close();
  });

  test('a connection with traffic gets no liveness check', async () => {
    const { url, send } = await (server ??= startValkey());
    const clock = new ManualClock();
    const link = new ValkeyServer(`${url}/5`, [], elapsed);
    const member = new ValkeyPubSub(link, { self: 'one', clock, elapsed: clock.now });
    const received: string[] = [];
    member.subscribe('tenants', (text) => received.push(text));
    await eventually(
      'it is connected',
      async () => ((await send('PUBSUB', 'NUMSUB', '{dragoman}:1:5:told')) as unknown[])[1] === 1,
    );
    const pings = async (): Promise<number> =>
      Number(/cmdstat_ping:calls=(\d+)/.exec(String(await send('INFO', 'commandstats')))?.[1] ?? 0);
    const before = await pings();
    for (let at = 1; at <= 8; at += 1) {
      clock.advance(1000);
      await link.publish('told', JSON.stringify(['two', 'tenants', `${at}`]));
      await eventually('messages arrive', () => received.length === at);
    }
    expect(await pings()).toBe(before);
    // Two seconds later nothing was heard.
    clock.advance(2000);
    await eventually('it is connected', async () => (await pings()) === before + 1);
    member.close();
    link.close();
  });
});

describePubSub('through a supervisor', async () => {
  const members: PubSub[] = [];
  const log = (): void => {};
  const supervisor = new Supervisor({
    count: PROCESSES,
    start(worker, onMessage): WorkerProcess {
      const channel = new Channel((message) => onMessage(structuredClone(message)));
      members.push(new SupervisorPubSub(channel));
      queueMicrotask(
        () =>
          void channel.ask('listening', {
            origin: `http://${worker}`,
            providers: [],
            firstKey: null,
            link: null,
          }),
      );
      return {
        pid: 0,
        send: (message) => channel.take(structuredClone(message)),
        signal: log,
        exited: new Promise(() => {}),
      };
    },
    answers: {},
    clock: new ManualClock(),
    log: { info: log, warn: log, error: log },
  });
  await supervisor.start();
  return { members, ready: async () => {}, close: log };
});
