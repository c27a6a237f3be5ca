// A configuration draft, sent by a user who must not read what the gateway can read. Variables and files are checked
// for existence only, and stand-in values are used for them.
import { TEXTS } from '../../canonical/index.ts';
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { formatPath, type SchemaNode } from '../../catalog/schema/index.ts';
import { readConfiguredFile } from './configured-file.ts';
import type { References } from './references.ts';
import { toScalar } from './interpolate.ts';

/** Names that a draft may use. */
export interface DraftBounds {
  /** Folders with credential files: `server.credential_dirs` of the current configuration. */
  readonly folders: readonly string[];
  /** Files and folders named in the current configuration. */
  readonly named: readonly string[];
}

/** Stand-in values of a reference, tried until the schema accepts one. The first is derived from the text. */
const PLACEHOLDERS: readonly unknown[] = [
  'https://reference.invalid/v1',
  'a'.repeat(64),
  '2100-01-01T00:00:00Z',
  'redis://reference.invalid:6379',
  'postgres://reference.invalid/reference',
  'Europe/Berlin',
  1,
  1000,
  true,
];

/** Stand-in for a Google credential file, whose content is checked. */
const CREDENTIAL_FILE = '{"type":"service_account","client_email":"reference","private_key":"reference"}';
const PREFIX = 'reference-to-the-';

export class Draft {
  readonly text: string;
  readonly #bounds: DraftBounds;
  /** Number of stand-ins tried, by place. */
  readonly #tried = new Map<string, number>();
  readonly #places = new Set<string>();

  constructor(text: string, bounds: DraftBounds) {
    this.text = text;
    this.#bounds = bounds;
  }

  /** Paths of keys whose values were not checked. */
  get places(): readonly string[] {
    return [...this.#places];
  }

  /** Stand-in text for a variable within a value. */
  textOf(name: string, written: string, references: References): string {
    const text = PREFIX + name;
    references.note(text, written);
    return text;
  }

  /** Stand-in value for a whole reference. */
  placeholder(path: readonly PropertyKey[], text: string, node: SchemaNode | undefined): unknown {
    const place = formatPath(path);
    this.#places.add(place);
    const tried = this.#tried.get(place) ?? 0;
    if (tried > 0) return PLACEHOLDERS[tried - 1];
    const [value] = node?.values ?? [];
    if (value !== undefined) return value;
    const types = node?.types ?? [];
    if (types.includes('string')) return text;
    if (types.includes('number') || types.includes('integer')) return 1;
    return types.includes('boolean') ? false : toScalar(text, node);
  }

  /** Place of the reference that a problem is about. Undefined: it is about the draft itself. */
  placeOf(problem: string): string | undefined {
    return this.places.find((place) => {
      const list = place.replace(/\[\d+\]$/, '');
      return problem.startsWith(`${place}: `) || (list !== place && problem.startsWith(`${list}: `));
    });
  }

  /** Selects the next stand-in for a place. @returns false when there is none */
  tryNext(place: string): boolean {
    const tried = this.#tried.get(place) ?? 0;
    if (tried >= PLACEHOLDERS.length) return false;
    this.#tried.set(place, tried + 1);
    return true;
  }

  /** Checks a file named in the draft without reading it. Throws Error when it is not allowed. */
  checkFile(path: string): void {
    if (!statSync(this.#within(path)).isFile()) throw new Error(TEXTS.notRegularFile);
  }

  /** Reads a certificate or credential file named in the draft. Throws Error. */
  readNamed(path: string): string {
    return path.startsWith(PREFIX) ? CREDENTIAL_FILE : readConfiguredFile(this.#within(path));
  }

  /**
   * Checks a folder named in the draft.
   * @returns true when its files may be read, because they are already in use
   * @throws Error when it is not allowed
   */
  mayReadFolder(path: string): boolean {
    if (path.startsWith(PREFIX)) return false;
    if (!statSync(this.#within(path)).isDirectory()) throw new Error('it is not a folder');
    return this.#bounds.named.includes(path);
  }

  /** Resolves symbolic links. Paths elsewhere are refused with the same message, whether or not they exist. */
  #within(path: string): string {
    const { folders, named } = this.#bounds;
    if (named.includes(path)) return path;
    const refuse = (): never => {
      throw new Error('it is outside the folders of server.credential_dirs');
    };
    if (!folders.some((folder) => isWithin(resolve(path), resolve(folder)))) refuse();
    const real = realOf(path);
    if (real === null) throw new Error('ENOENT: no such file or directory');
    if (!folders.some((folder) => isWithin(real, realOf(folder) ?? resolve(folder)))) refuse();
    return real;
  }
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
