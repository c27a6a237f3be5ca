// How much of what was said is held before it is stored: bounded, whatever the store does.
import { expect, test } from 'bun:test';
import type { ApiCall } from '../../../src/engine/index.ts';
import { PayloadKeeper } from '../../../src/operations/payloads/index.ts';
import type { StoredPayload } from '../../../src/accounts/ports/index.ts';
import { createLogger } from '../../../src/base/telemetry/log.ts';

const MB = 1_048_576;
const log = createLogger({ level: 'silent', now: () => 0, write: () => {} });

/** A store that keeps nothing until it is let. */
function slowStore() {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stored = new Map<string, readonly StoredPayload[]>();
  return {
    stored,
    let: resolve,
    store: {
      async put(id: string, payloads: readonly StoredPayload[]): Promise<void> {
        await promise;
        stored.set(id, payloads);
      },
      find: (id: string) => Promise.resolve(stored.get(id) ?? []),
      purge: () => Promise.resolve(0),
    },
  };
}

function keeperOver({ store }: Pick<ReturnType<typeof slowStore>, 'store'>, sample = 1, random = 0) {
  const settings = { content: 'all', sample, contentBytes: 64 * MB, contentMaxBytes: 64 * MB } as const;
  return new PayloadKeeper({ store, settings: () => settings, random: () => random, now: () => 0, log });
}

/** Members of a call that a recorder reads. */
function callWith(text: string): ApiCall {
  const body = { bytes: Buffer.from(text), members: [] };
  const client = { respond: () => {}, openStream: () => {}, onLeave: () => {} };
  const call = { request: { method: 'POST', url: '/v1/x' }, headers: [], json: {}, body, client };
  return call as unknown as ApiCall;
}

test('payloads beyond the memory limit are dropped and counted', async () => {
  const slow = slowStore();
  const keeper = keeperOver(slow);
  const say = (id: string): void => {
    const recorder = keeper.open(callWith('x'.repeat(25 * MB)));
    recorder?.settled({ id, createdAt: 0 }, false);
    recorder?.client.respond(200, {}, 'y');
    recorder?.close();
  };
  for (const id of ['a', 'b', 'c']) say(id);
  expect(keeper.dropped).toBe(1);
  slow.let();
  await keeper.stop();
  expect([...slow.stored.keys()]).toEqual(['a', 'b']);
  // Held memory is free again.
  say('d');
  expect((await keeper.find('d')).map(({ stage, bytes }) => [stage, bytes])).toEqual([
    ['client_request', 25 * MB],
    ['client_response', 1],
  ]);
  expect([keeper.kept, keeper.dropped]).toEqual([3, 1]);
});

test('one of a configured number of requests is stored', () => {
  const slow = slowStore();
  expect(keeperOver(slow, 4, 0.24).open(callWith(''))).not.toBeNull();
  expect(keeperOver(slow, 4, 0.26).open(callWith(''))).toBeNull();
});
