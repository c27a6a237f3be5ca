// Search for a kept stream among all processes: a process that does not reply may keep it, so it is not said to be gone.
import { expect, test } from 'bun:test';
import { StreamExchange } from '../../../src/cluster/exchange/answers/index.ts';
import { KeptStreams } from '../../../src/engine/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Board } from './board.ts';

const LATE_MS = 1_000;
const answers = { publishOnce: () => {}, followOnce: async () => 'gone' as const };

interface Member {
  readonly exchange: StreamExchange;
  readonly streams: KeptStreams;
}

interface Scene {
  readonly board: Board;
  readonly clock: ManualClock;
  /** Adds a process that replies. One that is only a member of the board does not. */
  join(): Member;
}

function scene(): Scene {
  const board = new Board();
  const clock = new ManualClock();
  const join = (): Member => {
    const streams = new KeptStreams(() => ({ keepMs: 60_000, maxBytes: 1e6 }), clock);
    return { exchange: new StreamExchange({ pubSub: board.member(), answers, streams, clock }), streams };
  };
  return { board, clock, join };
}

/** Lets what is settled be received. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a stream that no process keeps is not found', async () => {
  const { clock, join } = scene();
  const { exchange } = join();
  join();
  join();
  const found = exchange.find('search', 'none');
  await settled();
  clock.advance(LATE_MS);
  expect(await found).toBeNull();
});

test('a stream is found at the process that keeps it, without waiting for the others', async () => {
  const { board, join } = scene();
  const { exchange } = join();
  const owner = join();
  board.member();
  owner.streams.open({ projectId: 'search', id: 'kept', headers: {}, writesIds: true, patience: 0 });
  expect(await exchange.find('search', 'kept')).toMatchObject({ first: 0, hasEnded: false });
});

test('a stream may be kept by another process while the question is not published', async () => {
  const { board, clock } = scene();
  const pubSub = {
    ...board.member(),
    subscribe: () => {},
    publishCounted: () => new Promise<null>(() => {}),
  };
  const streams = new KeptStreams(() => ({ keepMs: 60_000, maxBytes: 1e6 }), clock);
  const found = new StreamExchange({ pubSub, answers, streams, clock }).find('search', 'unknown');
  clock.advance(LATE_MS);
  expect(await found).toBe('silent');
});

test('a process that does not reply in time may keep the stream', async () => {
  const { board, clock, join } = scene();
  const { exchange } = join();
  join();
  board.member();
  const found = exchange.find('search', 'unknown');
  await settled();
  clock.advance(LATE_MS);
  expect(await found).toBe('silent');
});
