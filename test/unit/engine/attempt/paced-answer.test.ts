import { expect, test } from 'bun:test';
import { nextTurn } from '../../../../src/base/runtime/clock.ts';
import { PacedAnswer } from '../../../../src/engine/attempt/paced-answer.ts';

/** An answer of which one read is as large as reads get once a socket was paused. */
function start(onData: (paced: PacedAnswer, bytes: Buffer) => void = () => {}): {
  paced: PacedAnswer;
  received: string[];
  socket: { reads: boolean };
} {
  const received: string[] = [];
  const socket = { reads: true };
  const paced = new PacedAnswer(
    {
      connected() {},
      head() {},
      data(bytes) {
        received.push(bytes.toString());
        onData(paced, bytes);
      },
      end: () => received.push('end'),
      failed: (failure) => received.push(failure),
    },
    { add: () => {} },
    { refused: (error) => received.push(error.message) },
  );
  paced.attach({
    abort: () => (socket.reads = false),
    pause: () => (socket.reads = false),
    resume: () => (socket.reads = true),
  });
  return { paced, received, socket };
}

const LARGE = Array.from({ length: 32_768 }, (_, at) => String(at).padStart(16, '.')).join('');
const turn = (): Promise<void> => new Promise(nextTurn);

test('usual reads are passed on at once', () => {
  const { paced, received, socket } = start();
  paced.data(Buffer.from('a'));
  paced.data(Buffer.from('b'));
  paced.end();
  expect([received, socket.reads]).toEqual([['a', 'b', 'end'], true]);
});

test('a large read is processed over several turns, in order, while the socket waits', async () => {
  const { paced, received, socket } = start();
  paced.data(Buffer.from(LARGE));
  expect(received).toHaveLength(1);
  expect(socket.reads).toBe(false);
  paced.end();
  while (received.at(-1) !== 'end') {
    const before = received.length;
    await turn();
    expect(received.length - before).toBeLessThanOrEqual(2);
  }
  expect(Math.max(...received.map((each) => each.length))).toBeLessThanOrEqual(65_536);
  expect(received.slice(0, -1).join('')).toBe(LARGE);
});

test('nothing is processed for a client that does not read; the end and a failure wait as well', async () => {
  for (const ending of ['end', 'cut'] as const) {
    const { paced, received, socket } = start((answer, bytes) => {
      if (bytes.toString().startsWith(LARGE.slice(0, 16))) answer.pause();
    });
    paced.data(Buffer.from(LARGE));
    if (ending === 'end') paced.end();
    else paced.failed('cut', 'gone');
    await turn();
    await turn();
    expect([received.length, socket.reads]).toEqual([1, false]);
    paced.resume();
    while (received.at(-1) !== ending) await turn();
    expect(received.slice(0, -1).join('')).toBe(LARGE);
  }
});

test('an end that arrives while the last slice waits is delivered after it', async () => {
  const { paced, received } = start((answer) => answer.pause());
  paced.data(Buffer.from(LARGE.slice(0, 65_537)));
  paced.end();
  paced.resume();
  await turn();
  expect(received).toHaveLength(2);
  paced.resume();
  await turn();
  expect(received.at(-1)).toBe('end');
});

test('data that was read is released when the request is cancelled', async () => {
  const { paced, received } = start();
  paced.data(Buffer.from(LARGE));
  paced.end();
  paced.abort();
  await turn();
  await turn();
  expect(received).toHaveLength(1);
});
