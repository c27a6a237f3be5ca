import { expect, test } from 'bun:test';
import { nextTurn } from '../../../../src/base/runtime/clock.ts';
import { PacedAnswer } from '../../../../src/engine/attempt/paced-answer.ts';

/** An answer of which one read is as large as reads get once a socket was paused. */
function start(onData: (paced: PacedAnswer, bytes: Buffer) => void = () => {}): {
  paced: PacedAnswer;
  heard: string[];
  socket: { reads: boolean };
} {
  const heard: string[] = [];
  const socket = { reads: true };
  const paced = new PacedAnswer(
    {
      connected() {},
      head() {},
      data(bytes) {
        heard.push(bytes.toString());
        onData(paced, bytes);
      },
      end: () => heard.push('end'),
      failed: (failure) => heard.push(failure),
    },
    { add: () => {} },
    { refused: (error) => heard.push(error.message) },
  );
  paced.attach({
    abort: () => (socket.reads = false),
    pause: () => (socket.reads = false),
    resume: () => (socket.reads = true),
  });
  return { paced, heard, socket };
}

const LARGE = Array.from({ length: 32_768 }, (_, at) => String(at).padStart(16, '.')).join('');
const turn = (): Promise<void> => new Promise(nextTurn);

test('usual reads are passed on at once', () => {
  const { paced, heard, socket } = start();
  paced.data(Buffer.from('a'));
  paced.data(Buffer.from('b'));
  paced.end();
  expect([heard, socket.reads]).toEqual([['a', 'b', 'end'], true]);
});

test('a large read is worked off over several turns, in order, and the socket waits meanwhile', async () => {
  const { paced, heard, socket } = start();
  paced.data(Buffer.from(LARGE));
  expect(heard).toHaveLength(1);
  expect(socket.reads).toBe(false);
  paced.end();
  while (heard.at(-1) !== 'end') {
    const before = heard.length;
    await turn();
    expect(heard.length - before).toBeLessThanOrEqual(2);
  }
  expect(Math.max(...heard.map((each) => each.length))).toBeLessThanOrEqual(65_536);
  expect(heard.slice(0, -1).join('')).toBe(LARGE);
});

test('nothing is worked off for a client without room; its end and its failure wait as well', async () => {
  for (const ending of ['end', 'cut'] as const) {
    const { paced, heard, socket } = start((answer, bytes) => {
      if (bytes.toString().startsWith(LARGE.slice(0, 16))) answer.pause();
    });
    paced.data(Buffer.from(LARGE));
    if (ending === 'end') paced.end();
    else paced.failed('cut', 'gone');
    await turn();
    await turn();
    expect([heard.length, socket.reads]).toEqual([1, false]);
    paced.resume();
    while (heard.at(-1) !== ending) await turn();
    expect(heard.slice(0, -1).join('')).toBe(LARGE);
  }
});

test('an end that comes while the last slice waits for room is told after it', async () => {
  const { paced, heard } = start((answer) => answer.pause());
  paced.data(Buffer.from(LARGE.slice(0, 65_537)));
  paced.end();
  paced.resume();
  await turn();
  expect(heard).toHaveLength(2);
  paced.resume();
  await turn();
  expect(heard.at(-1)).toBe('end');
});

test('what was read is forgotten when nobody wants it any more', async () => {
  const { paced, heard } = start();
  paced.data(Buffer.from(LARGE));
  paced.end();
  paced.abort();
  await turn();
  await turn();
  expect(heard).toHaveLength(1);
});
