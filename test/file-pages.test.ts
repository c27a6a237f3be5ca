// Pages of files leave the process when they are not used, and none that could not be read again.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'bun:test';
import { mappingsIn, releaseFilePages } from '../src/runtime/file-pages.ts';
import { returnFilePages } from '../src/server/body/file-pages-return.ts';
import { ManualClock } from './manual-clock.ts';

/** The seconds of a quarter of an hour in which they are released. @param can false: where that cannot be done */
function releasedIn(can: boolean): number[] {
  const clock = new ManualClock();
  const released: number[] = [];
  let second = 0;
  const stop = returnFilePages(clock, () => {
    released.push(second);
    return can;
  });
  for (; second < 900; second++) clock.advance(1000);
  stop();
  clock.advance(900_000);
  return released;
}

describe('when', () => {
  test('soon after the start, then ever more rarely', () => {
    expect(releasedIn(true)).toEqual([1, 5, 13, 29, 61, 125, 253, 509, 809]);
  });

  test('where it cannot be done it is tried once', () => {
    expect(releasedIn(false)).toEqual([1]);
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
    const before = residentOfFiles();
    expect(releaseFilePages()).toBeTrue();
    expect(residentOfFiles()).toBeLessThan(before);
    expect(JSON.parse('[1, 2]')).toEqual([1, 2]);
  });
});

/** Kilobytes of files that are in memory as part of this process. */
function residentOfFiles(): number {
  return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
}
