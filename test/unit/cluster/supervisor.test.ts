// The supervisor with workers that are none: who is started, replaced and ended, and when.
import { beforeEach, describe, expect, test } from 'bun:test';
import type { WorkerProcess } from '../../../src/base/runtime/worker-process.ts';
import { Channel } from '../../../src/cluster/workers/channel.ts';
import { FailedStart, Supervisor } from '../../../src/cluster/workers/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A worker that does what the test says. */
class FakeWorker implements WorkerProcess {
  readonly pid = 0;
  readonly worker: number;
  readonly signals: string[] = [];
  readonly channel: Channel;
  readonly #ended = Promise.withResolvers<number>();
  readonly exited = this.#ended.promise;

  constructor(worker: number, toSupervisor: (message: unknown) => void) {
    this.worker = worker;
    this.channel = new Channel((message) => toSupervisor(structuredClone(message)));
    this.channel.answer('metrics', () => ({
      text: `# TYPE up gauge\nup ${worker}`,
      contentType: 'text/plain',
    }));
  }

  send(message: unknown): void {
    this.channel.take(structuredClone(message));
  }

  signal(name: string): void {
    this.signals.push(name);
  }

  async listen(): Promise<void> {
    await this.channel.ask('listening', {
      origin: `http://${this.worker}`,
      providers: [],
      firstKey: null,
      link: null,
    });
    await settled();
  }

  async end(code: number): Promise<void> {
    this.#ended.resolve(code);
    await settled();
  }
}

let clock: ManualClock;
let workers: FakeWorker[];
let said: string[];
let supervisor: Supervisor;
beforeEach(() => {
  clock = new ManualClock();
  workers = [];
  said = [];
  const log = (message: string): void => void said.push(message);
  supervisor = new Supervisor({
    count: 3,
    start(worker, onMessage) {
      const started = new FakeWorker(worker, onMessage);
      workers.push(started);
      return started;
    },
    answers: { double: (input) => 2 * Number(input) },
    clock,
    log: { info: log, warn: log, error: log },
  });
});

/** Lets everything happen that waits for nothing but its turn. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

const numbers = (): number[] => workers.map(({ worker }) => worker);
const worker = (at: number): FakeWorker => workers[at] ?? expect.unreachable(`there is no worker ${at}`);

/** All three listen. */
async function started(): Promise<void> {
  const start = supervisor.start();
  await worker(0).listen();
  await worker(1).listen();
  await worker(2).listen();
  expect(await start).toMatchObject({ origin: 'http://1' });
}

describe('the start', () => {
  test('the first worker prepares the data directory; the others start when it listens', async () => {
    const start = supervisor.start();
    expect(numbers()).toEqual([1]);
    await worker(0).listen();
    expect(numbers()).toEqual([1, 2, 3]);
    await worker(1).listen();
    await worker(2).listen();
    expect((await start).origin).toBe('http://1');
  });

  test('a worker that fails to start ends the supervisor with its exit code, and the other workers', async () => {
    const start = supervisor.start();
    await worker(0).listen();
    await worker(1).end(2);
    expect(worker(0).signals).toEqual(['SIGINT']);
    await worker(0).end(0);
    await worker(2).end(0);
    const failure: unknown = await start.catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(FailedStart);
    expect((failure as FailedStart).exitCode).toBe(2);
  });

  test('a worker that hangs is killed', async () => {
    const start = supervisor.start();
    clock.advance(60_000);
    expect(worker(0).signals).toEqual(['SIGKILL']);
    await settled();
    await worker(0).end(137);
    expect(String(await start.catch((error: unknown) => error))).toContain('is not ready');
  });
});

describe('a worker that dies', () => {
  test('is replaced at once if it was healthy, and otherwise with growing delays', async () => {
    await started();
    clock.advance(60_000);
    await worker(1).end(139);
    clock.advance(0);
    expect(numbers()).toEqual([1, 2, 3, 2]);
    for (const pauseMs of [200, 400, 800]) {
      await worker(workers.length - 1).end(1);
      const before = workers.length;
      clock.advance(pauseMs - 1);
      expect(workers).toHaveLength(before);
      clock.advance(1);
      expect(workers).toHaveLength(before + 1);
    }
    expect(said.every((line) => line.includes('is being replaced'))).toBe(true);
  });
});

describe('a restart', () => {
  test('has each new one listen before an old one leaves, one after another', async () => {
    await started();
    const restart = supervisor.restart();
    expect(numbers()).toEqual([1, 2, 3, 1]);
    expect(worker(0).signals).toEqual([]);
    await worker(3).listen();
    expect(worker(0).signals).toEqual(['SIGINT']);
    expect(worker(1).signals).toEqual([]);
    // It is told once, though somebody asked again meanwhile.
    expect(supervisor.restart()).toBe(restart);
    await worker(4).listen();
    await worker(5).listen();
    expect(await restart).toBe(true);
    expect([0, 1, 2].map((at) => worker(at).signals)).toEqual([['SIGINT'], ['SIGINT'], ['SIGINT']]);
    // Workers that were told to leave are not replaced.
    await worker(0).end(0);
    clock.advance(60_000);
    expect(workers).toHaveLength(6);
  });

  test('whose new worker fails to start leaves the old workers running', async () => {
    await started();
    const restart = supervisor.restart();
    await worker(3).end(2);
    expect(await restart).toBe(false);
    expect([0, 1, 2].flatMap((at) => worker(at).signals)).toEqual([]);
    clock.advance(60_000);
    expect(workers).toHaveLength(4);
  });
});

test('the end waits for all, also for those that were starting', async () => {
  await started();
  const restart = supervisor.restart();
  const end = supervisor.stop('SIGTERM');
  expect(workers.map(({ signals }) => signals)).toEqual([['SIGTERM'], ['SIGTERM'], ['SIGTERM'], ['SIGTERM']]);
  let isOver = false;
  void end.then(() => (isOver = true));
  for (const each of workers) {
    expect(isOver).toBe(false);
    await each.end(0);
  }
  await end;
  expect(await restart).toBe(false);
  clock.advance(60_000);
  expect(workers).toHaveLength(4);
});

test('calls of workers get a reply, and failures are reported as such', async () => {
  await started();
  expect(await worker(1).channel.ask('double', 21)).toBe(42);
  const failure: unknown = await worker(1)
    .channel.ask('nothing')
    .catch((error: unknown) => error);
  expect(String(failure)).toContain('no handler for "nothing"');
});

test('metrics are those of all that answer in time', async () => {
  await started();
  worker(2).channel.answer('metrics', () => new Promise(() => {}));
  const page = worker(0).channel.ask('metrics of all');
  await settled();
  clock.advance(2_000);
  expect(await page).toEqual({
    contentType: 'text/plain',
    text: '# TYPE up gauge\nup{worker="1"} 1\nup{worker="2"} 2\n',
  });
});
