// Pages of files leave the process when they are not used, and none that could not be read again.
import { describe, expect, test } from 'bun:test';
import { filePageBytes, mappingsIn, releaseFilePages } from '../src/runtime/file-pages.ts';
import { returnFilePages } from '../src/server/body/file-pages-return.ts';
import { ManualClock } from './manual-clock.ts';

const MB = 1_048_576;

/**
 * @param sizes one a second, in MB
 * @param usedAfter what comes back of them
 * @returns in which seconds they were released
 */
function releasedIn(sizes: readonly number[], usedAfter: number, can = true): number[] {
  const clock = new ManualClock();
  const released: number[] = [];
  let second = 0;
  let came = 0;
  const stop = returnFilePages({
    clock,
    filePageBytes: () => ((sizes[second] ?? 0) - came) * MB,
    release() {
      released.push(second);
      if (can) came = (sizes[second] ?? 0) - usedAfter;
      return can;
    },
  });
  for (; second < sizes.length; second++) clock.advance(1000);
  stop();
  clock.advance(60_000);
  return released;
}

describe('when', () => {
  test('those of the start are released once, and what is used then stays', () => {
    expect(releasedIn(Array<number>(100).fill(50), 20)).toEqual([2]);
  });

  test('those of a later step are released, ever more rarely', () => {
    const growing = Array.from({ length: 200 }, (_, second) => 50 + 20 * second);
    expect(releasedIn(growing, 20)).toEqual([2, 7, 16, 33, 66, 131, 196]);
  });

  test('a few are not worth it', () => {
    expect(releasedIn(Array<number>(10).fill(11), 0)).toEqual([]);
  });

  test('where it cannot be done it is tried once', () => {
    expect(releasedIn(Array<number>(100).fill(50), 0, false)).toEqual([2]);
  });
});

describe('which', () => {
  const mapping = (line: string, anonymousKb: number): string =>
    `${line}\nSize:                 20 kB\nRss:                  20 kB\nAnonymous:     ${anonymousKb} kB\nVmFlags: rd mr mw me\n`;

  test('of a file that cannot be written, and never was', () => {
    const text = [
      mapping('00400000-00500000 r-xp 00000000 fe:00 561 /opt/gateway/run time', 0),
      mapping('00500000-00501000 r--p 00100000 fe:00 561 /opt/gateway/run time', 12),
      mapping('00501000-00502000 rw-p 00101000 fe:00 561 /opt/gateway/run time', 0),
      mapping('7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ', 0),
      mapping('7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0                          [vdso]', 0),
    ].join('');
    expect(mappingsIn(text)).toEqual([
      { from: 0x400000, bytes: 0x100000, path: '/opt/gateway/run time', isOnlyFile: true },
      { from: 0x500000, bytes: 0x1000, path: '/opt/gateway/run time', isOnlyFile: false },
      { from: 0x501000, bytes: 0x1000, path: '/opt/gateway/run time', isOnlyFile: false },
    ]);
  });

  test.skipIf(process.platform !== 'linux')('in a process: they leave it, and it goes on', () => {
    const before = filePageBytes();
    expect(releaseFilePages()).toBeTrue();
    expect(filePageBytes()).toBeLessThan(before);
    expect(JSON.parse('[1, 2]')).toEqual([1, 2]);
  });
});
