// The console's files, from the executable or the package. Otherwise they are built on the first request in a separate
// process, and cached in the data directory until the sources change. Read from disk each time, to save memory.
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GatewayError } from '../../canonical/index.ts';
import { runProgram } from '../../base/runtime/subprocess.ts';

const SOURCES = fileURLToPath(new URL('../../../console', import.meta.url));
const PACKAGE = fileURLToPath(new URL('../../../package.json', import.meta.url));
const PACKED = fileURLToPath(new URL('../../../dist/console', import.meta.url));
/** Exists only inside an executable. */
const INSIDE = fileURLToPath(new URL('../../../dist/console/inside', import.meta.url));
const PROGRAM = join(SOURCES, 'build', 'program.ts');
const BUILD_MS = 120_000;
const BUILD_MEMORY_BYTES = 2_048 * 1_048_576;

export class Assets {
  /** Folder of assets built by this installation. */
  readonly #cache: string;
  #building: Promise<string> | undefined;
  #folder: string | undefined;

  constructor(dataDir: string) {
    // Absolute, because the build runs in another working directory.
    this.#cache = resolve(dataDir, 'console');
  }

  /**
   * The HTML page. It refers to files of its own version.
   * @throws GatewayError `internal` if the console cannot be built
   */
  async page(): Promise<Uint8Array<ArrayBuffer>> {
    this.#folder = await this.#current();
    return new Uint8Array(await readFile(join(this.#folder, 'index.html')));
  }

  /** A gzip-compressed script, stylesheet or font. @throws GatewayError `not_found` */
  async file(name: string): Promise<Uint8Array<ArrayBuffer>> {
    this.#folder ??= await this.#current();
    const bytes = /^[\w-]+\.(?:js|css|woff2)$/.test(name)
      ? await readFile(join(this.#folder, 'assets', `${name}.gz`)).catch(() => null)
      : null;
    if (bytes) return new Uint8Array(bytes);
    throw new GatewayError('not_found', `File ${JSON.stringify(name.slice(0, 100))} not found.`);
  }

  async #current(): Promise<string> {
    if (existsSync(join(INSIDE, 'index.html'))) return INSIDE;
    const version = await consoleVersion();
    for (const folder of [PACKED, this.#cache])
      if (existsSync(join(folder, version, 'index.html'))) return join(folder, version);
    this.#building ??= build(this.#cache, version).finally(() => (this.#building = undefined));
    return this.#building;
  }
}

/** Version of the files: a hash of the sources and of the package versions. */
export async function consoleVersion(): Promise<string> {
  const hash = createHash('sha256');
  const files = await readdir(SOURCES, { recursive: true });
  const sources = files.filter((file) => /\.(?:tsx?|css)$/.test(file)).toSorted();
  for (const path of [...sources.map((file) => join(SOURCES, file)), PACKAGE])
    hash.update(path.slice(SOURCES.length)).update(await readFile(path));
  return hash.digest('hex').slice(0, 20);
}

async function build(cache: string, version: string): Promise<string> {
  await mkdir(cache, { recursive: true });
  const draft = join(cache, randomUUID());
  const { type } = await runProgram({
    file: PROGRAM,
    input: Buffer.from(draft),
    timeoutMs: BUILD_MS,
    maxOutputBytes: 0,
    maxMemoryBytes: BUILD_MEMORY_BYTES,
  });
  if (type !== 'answer')
    throw new GatewayError(
      'internal',
      `The console could not be built (${type}). Run \`npm run pack\` to see the reason.`,
    );
  const folder = join(cache, version);
  // Another process may have built it first.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  // Removes assets of other versions.
  for (const old of await readdir(cache))
    if (old !== version) await rm(join(cache, old), { recursive: true, force: true });
  return folder;
}
