// Compression of stored answers: large ones leave this thread to others.
import { expect, test } from 'bun:test';
import { compress, decompress } from '../../../../src/base/lib/gzip.ts';
import { rejection } from '../../../support/rejection.ts';

const large = Buffer.from(Array.from({ length: 400_000 }, (_, n) => (n * n * 7_919) % 999_983).join(' '));

/** True if another turn of the event loop began before the work was done. */
async function leavesTurns(work: () => Promise<unknown>): Promise<boolean> {
  let hasTurned = false;
  setImmediate(() => (hasTurned = true));
  await work();
  return hasTurned;
}

test('small bytes are compressed at once, and large ones while other requests continue', async () => {
  for (const [bytes, leaves] of [
    [Buffer.from('small'), false],
    [large, true],
  ] as const) {
    let packed = new Uint8Array();
    expect(await leavesTurns(async () => (packed = Uint8Array.from(await compress(bytes))))).toBe(leaves);
    let unpacked = Buffer.alloc(0);
    expect(await leavesTurns(async () => (unpacked = Buffer.from(await decompress(packed))))).toBe(leaves);
    expect(unpacked.equals(bytes)).toBe(true);
  }
});

test('other bytes are refused', async () => {
  expect(await rejection(decompress(large.subarray(0, 100)))).toBeInstanceOf(Error);
  expect(await rejection(decompress(large))).toBeInstanceOf(Error);
});
