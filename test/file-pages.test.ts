// Pages of files leave the process when they are not used, and none that could not be read again.
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ptr } from 'bun:ffi';
import { describe, expect, test } from 'bun:test';
import { filePages, mappingsIn } from '../src/runtime/file-pages.ts';
import { packedProgram, sectionOf } from '../src/runtime/packed-program.ts';
import { unwrittenPages } from '../src/runtime/page-map.ts';
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
    const path = '/opt/gateway/run time';
    expect(mappingsIn(text)).toEqual([
      { from: 0x400000, bytes: 0x100000, path, offset: 0, isOnlyFile: true },
      { from: 0x500000, bytes: 0x1000, path, offset: 0x100000, isOnlyFile: false },
      { from: 0x501000, bytes: 0x1000, path, offset: 0x101000, isOnlyFile: false },
    ]);
  });

  test.skipIf(process.platform !== 'linux')('in a process: they leave it, and it goes on', () => {
    const before = residentOfFiles();
    expect(filePages()()).toBeTrue();
    expect(residentOfFiles()).toBeLessThan(before);
    expect(JSON.parse('[1, 2]')).toEqual([1, 2]);
  });

  test.skipIf(process.platform !== 'linux')('of a range that may be written: those that nobody wrote', () => {
    const pageBytes = 4096;
    const file = join(mkdtempSync(join(tmpdir(), 'pages-')), 'program');
    writeFileSync(file, Buffer.alloc(8 * pageBytes, 1));
    const mapped = Bun.mmap(file, { shared: false });
    const from = Number(ptr(mapped));
    expect(mapped[0]).toBe(1);
    expect(unwrittenPages({ from, bytes: 8 * pageBytes }, pageBytes)).toEqual([
      { from, bytes: 8 * pageBytes },
    ]);
    mapped[3 * pageBytes] = 2;
    mapped[7 * pageBytes] = 2;
    expect(unwrittenPages({ from, bytes: 8 * pageBytes }, pageBytes)).toEqual([
      { from, bytes: 3 * pageBytes },
      { from: from + 4 * pageBytes, bytes: 3 * pageBytes },
    ]);
    expect(mapped[3 * pageBytes]).toBe(2);
  });
});

describe.skipIf(process.platform !== 'linux')('the packed program', () => {
  test('is a section of the executable', () => {
    expect(sectionOf(process.execPath, '.bun')?.bytes).toBePositive();
    expect(sectionOf(process.execPath, '.none')).toBeNull();
  });

  test('is not in what is no executable, or none at all', () => {
    expect(sectionOf(import.meta.path, '.bun')).toBeNull();
    expect(sectionOf('/proc/self/none', '.bun')).toBeNull();
  });

  test('is nowhere where nothing has been packed', () => {
    expect(packedProgram(mappingsIn(readFileSync('/proc/self/smaps', 'latin1')))).toBeNull();
  });
});

/** Kilobytes of files that are in memory as part of this process. */
function residentOfFiles(): number {
  return Number(/^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1]);
}
