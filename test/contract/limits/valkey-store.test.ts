// The contract of shared counters, kept by a real server whose clock the test moves.
import { describe } from 'bun:test';
import type { Caller, CounterStore } from '../../../src/accounts/limits/index.ts';
import { ValkeyCounterStore, ValkeyServer } from '../../../src/cluster/valkey/index.ts';
import { scriptOf, type ServerLink } from '../../../src/cluster/valkey/server.ts';
import { describeCounterStore } from './counter-store-contract.ts';
import { freshValkey, VALKEY_PROGRAM } from '../../support/servers/valkey.ts';

const elapsed = (): number => performance.now();

/** An empty store whose server goes by the time of its caller. */
function storeByCallersClock(leaseMs: number): CounterStore {
  let nowMs = 0;
  const atThatTime: ServerLink = {
    send: (command, args) => server().then((real) => real.send(command, args)),
    async run({ text }, keys, args) {
      const seconds = Math.floor(nowMs / 1000);
      const time = `{ '${seconds}', '${(nowMs - seconds * 1000) * 1000}' }`;
      const real = await server();
      return real.run(scriptOf(text.replace("redis.call('TIME')", time)), keys, args);
    },
  };
  let opened: Promise<ValkeyServer> | undefined;
  const server = (): Promise<ValkeyServer> =>
    (opened ??= freshValkey().then(({ url }) => new ValkeyServer(url, [], elapsed)));
  const store = new ValkeyCounterStore(atThatTime, leaseMs);
  let isSettled = false;
  const at = async ({ nowMs: callerMs }: Caller): Promise<void> => {
    nowMs = callerMs;
    if (isSettled) return;
    isSettled = true;
    // Everybody who may have used something of it is long gone.
    nowMs = callerMs - 2 * leaseMs;
    await store.take({ holder: 'first', turn: 1, lastReplyAtMs: 0, nowMs }, [], []);
    nowMs = callerMs;
  };
  return {
    take: (caller, ...said) => at(caller).then(() => store.take(caller, ...said)),
    restoring: (caller, counters) => at(caller).then(() => store.restoring(caller, counters)),
    restored: (caller, words) => at(caller).then(() => store.restored(caller, words)),
  };
}

describe.skipIf(VALKEY_PROGRAM === null)('a server of counters', () => {
  describeCounterStore('on Valkey or Redis', storeByCallersClock);
});
