// `npm run path [-- TREE]`: path of one streamed request (a Chat Completions client, a Messages upstream) through the
// code of a source tree: how many files run, and how many folder borders are crossed. `--list` prints them. `--calls
// CASE` counts the calls of each function instead, see calls.ts.
//
// The gateway is started by its own launcher and has answered such requests before. Definitions:
//   files     files of src/ with at least one function that ran for the request, by the runtime's precise call counts,
//             from its first byte until its record is in the database and in all sums. Without files that were only
//             loaded, top-level code, and what also runs while idle (timers). Files before the response are those that ran
//             until the client had all of it; by then its record is in the journal.
//   borders   pairs of folders A → B where one of these files in A imports values (not types) from B, and at least one
//             of these files is in B. Each pair counts once. `folders` counts all folders separately, `floors` only
//             those directly in src/.
// Commit 67d0cf5, before the engine was split into folders: 99 files and 32 borders counted by a reader; 112, 28 and
// 21 by this program.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { printCalls } from './calls.ts';
import { findCases } from './cases.ts';
import { measure } from './measure.ts';
import { startProbed } from './probed.ts';
import { aligned } from './report.ts';
import { startMock, targetOf } from './targets.ts';

/** Used parts of V8's precise coverage. */
export interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly functionName: string;
      /** The first range is that of the function itself. */
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Files in a folder with a function that ran, as relative paths. */
export function executedFiles(coverage: Coverage, folder: string): Set<string> {
  const ran = coverage.result.filter(
    ({ url, functions }) =>
      url.startsWith(`file://${folder}/`) &&
      // A function that starts at 0 is the top-level code.
      functions.some(({ ranges: [own] }) => own !== undefined && own.startOffset > 0 && own.count > 0),
  );
  return new Set(ran.map(({ url }) => relative(folder, url.slice('file://'.length))));
}

/**
 * Pairs of folders between which the files import.
 * @param importsOf paths that a file imports, relative to the same folder as the files
 * @param folderOf folder of a file
 * @returns "A → B", each once
 */
export function bordersOf(
  files: ReadonlySet<string>,
  importsOf: (file: string) => readonly string[],
  folderOf: (file: string) => string,
): string[] {
  const folders = new Set([...files].map(folderOf));
  const pairs = [...files].flatMap((file) =>
    importsOf(file)
      .map(folderOf)
      .filter((folder) => folder !== folderOf(file) && folders.has(folder))
      .map((folder) => `${folderOf(file)} → ${folder}`),
  );
  return [...new Set(pairs)].toSorted();
}

/** Seconds until a request's work is done: the indexer waits up to two for more records. */
const SETTLING = 4;

/** Files of `src` that run for one request. */
interface RequestPath {
  readonly all: Set<string>;
  /** Files that run until the client has its whole response. */
  readonly beforeResponse: Set<string>;
}

/** Sends warm requests. @returns files that ran in both runs */
async function filesOfOneRequest(root: string): Promise<RequestPath> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-path-'));
  const mock = await startMock(folder);
  const environment = { DRAGOMAN_BENCH_COVERAGE: '1' };
  const gateway = await startProbed(folder, mock.port, {
    root,
    environment,
    lanes: ['messages'],
    fromSources: true,
  });
  try {
    const target = targetOf(gateway, 'messages');
    const [{ load } = { load: null }] = findCases('chunks-translate');
    if (load === null) throw new Error('unknown load');
    const ask = async (requests: number, settling: number): Promise<void> => {
      if (requests > 0)
        await measure({ ...load, connections: 1 }, target, folder, { warm: 0, seconds: 30, requests });
      await Bun.sleep(settling * 1000);
    };
    const file = join(folder, 'coverage.json');
    const ran = async (requests: number, settling = SETTLING): Promise<Set<string>> => {
      await gateway.coverage(file, () => ask(requests, settling));
      return executedFiles(JSON.parse(readFileSync(file, 'utf8')) as Coverage, join(root, 'src'));
    };
    await ask(2, SETTLING);
    const idle = await ran(0);
    // Two runs, to exclude files that were only loaded by chance.
    const twice = async (settling: number): Promise<Set<string>> => {
      const first = await ran(1, settling);
      await ask(0, SETTLING);
      const second = await ran(1, settling);
      await ask(0, SETTLING);
      return first.intersection(second).difference(idle);
    };
    return { all: await twice(SETTLING), beforeResponse: await twice(0) };
  } finally {
    await gateway.stop();
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { list: { type: 'boolean', default: false }, calls: { type: 'string' } },
  });
  const root = resolve(positionals[0] ?? join(import.meta.dirname, '..'));
  if (values.calls !== undefined) {
    await printCalls(root, values.calls);
    process.exit(0);
  }
  const source = join(root, 'src');
  const { all: files, beforeResponse } = await filesOfOneRequest(root);
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  const read = (file: string): string => readFileSync(join(source, file), 'utf8');
  const importsOf = (file: string): string[] =>
    transpiler
      .scanImports(read(file))
      .filter(({ path }) => path.startsWith('.'))
      .map(({ path }) => join(dirname(file), path));
  const folders = bordersOf(files, importsOf, dirname);
  const floors = bordersOf(files, importsOf, (file) => file.split('/', 1)[0] ?? '');
  const lines = [...files].reduce((sum, file) => sum + read(file).split('\n').length, 0);
  const inFolder = Map.groupBy(files, dirname);
  const rows = [...inFolder].map(([folder, own]) => [folder, String(own.length)]).toSorted();
  console.log(`${aligned([['folder', 'files'], ...rows])}\n`);
  const marked = [...files]
    .toSorted()
    .map((file) => (beforeResponse.has(file) ? file : `${file} (after the response)`));
  if (values.list) console.log(`${marked.join('\n')}\n\n${folders.join('\n')}\n`);
  const before = files.intersection(beforeResponse).size;
  console.log(
    `${files.size} files of ${lines} lines in ${inFolder.size} folders, ${before} before the response`,
  );
  console.log(`${folders.length} transitions between folders, ${floors.length} between rooms`);
  process.exit(0);
}
