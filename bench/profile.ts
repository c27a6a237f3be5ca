// Summarizes a .cpuprofile by folder of src/, file and function. In the table of functions, those of the runtime
// (JSON.parse, a socket's write) count separately. In those of folders and files they count for their caller, because
// the caller can avoid them.
import { aligned } from './report.ts';

/** Used parts of a .cpuprofile. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
    readonly children?: readonly number[];
  }[];
  readonly samples: readonly number[];
}

/** Share of all samples by name, largest first. */
export type Shares = readonly (readonly [name: string, share: number])[];

export interface ProfileShares {
  readonly folders: Shares;
  readonly files: Shares;
  readonly functions: Shares;
}

const NO_CODE = '(runtime)';

/**
 * Sums up a profile.
 * @param root the source tree; its files are named by their relative paths
 */
export function sharesOf(profile: CpuProfile, root: string): ProfileShares {
  const hits = new Map<number, number>();
  for (const id of profile.samples) hits.set(id, (hits.get(id) ?? 0) + 1);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const functions = new Map<string, number>();
  const files = new Map<string, number>();
  const walk = (id: number, caller: string): void => {
    const node = nodes.get(id);
    if (!node) return;
    const { functionName, url, lineNumber } = node.callFrame;
    const own = fileOf(url, root);
    const file = own ?? caller;
    const count = hits.get(id) ?? 0;
    if (count > 0) {
      add(files, file, count);
      const name = functionName === '' ? '(anonymous)' : functionName;
      add(functions, own ? `${name}  ${own}:${lineNumber + 1}` : `${name}  of the runtime`, count);
    }
    for (const child of node.children ?? []) walk(child, file);
  };
  const children = new Set(profile.nodes.flatMap((node) => node.children ?? []));
  for (const { id } of profile.nodes) if (!children.has(id)) walk(id, NO_CODE);
  const folders = new Map<string, number>();
  for (const [file, count] of files) add(folders, folderOf(file), count);
  const all = profile.samples.length;
  return { folders: ranked(folders, all), files: ranked(files, all), functions: ranked(functions, all) };
}

/**
 * Formats the three tables.
 * @param rows maximum number of files and of functions
 * @param micros CPU time of one request, to show shares as times
 * @param unit unit of those times
 */
export function profileTables(shares: ProfileShares, rows: number, micros: number, unit: string): string {
  const table = (title: string, list: Shares, most: number): string => {
    const shown = list
      .slice(0, most)
      .map(([name, share]) => [name, `${(share * 100).toFixed(1)} %`, (share * micros).toFixed(1)]);
    return aligned([[title, 'share', unit], ...shown]);
  };
  return [
    table('by folder, self and the runtime under it', shares.folders, 40),
    table('by file, self and the runtime under it', shares.files, rows),
    table('by function, self', shares.functions, rows),
  ].join('\n\n');
}

/** Path in the source tree, or name of a package; null for functions of the runtime. */
function fileOf(url: string, root: string): string | null {
  const path = url.replace(/^file:\/\//, '');
  if (path.startsWith(`${root}/`)) {
    const inside = path.slice(root.length + 1);
    return inside.startsWith('node_modules/') ? packageOf(inside) : inside;
  }
  return path.includes('/node_modules/') ? packageOf(path) : null;
}

function packageOf(path: string): string {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path;
  return `node_modules/${name}`;
}

function folderOf(file: string): string {
  const at = file.lastIndexOf('/');
  return at === -1 || file.startsWith('node_modules/') ? file : file.slice(0, at);
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

function ranked(counts: ReadonlyMap<string, number>, all: number): Shares {
  return [...counts].map(([name, count]) => [name, count / all] as const).sort((a, b) => b[1] - a[1]);
}
