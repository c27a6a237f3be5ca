// Installs command-line clients with npm, outside this repository, and runs them in an empty home and an empty folder.
// Knows nothing of how a client is pointed at a gateway: that is read from its page in docs/clients.
import { afterAll, beforeAll, describe } from 'bun:test';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestGateway } from '../../support/harness.ts';
import { startEveryUpstream } from '../../support/upstreams/every-upstream.ts';

/** Programs that are tested and named on their pages: the npm package with its exact version, and its program. */
export const CLIENTS = {
  'claude-code': { package: '@anthropic-ai/claude-code', version: '2.1.332', program: 'claude' },
  codex: { package: '@openai/codex', version: '0.171.0', program: 'codex' },
  opencode: { package: 'opencode-ai', version: '1.18.33', program: 'opencode' },
  'qwen-code': { package: '@qwen-code/qwen-code', version: '0.24.4', program: 'qwen' },
  continue: { package: '@continuedev/cli', version: '1.5.47', program: 'cn' },
  'gemini-cli': { package: '@google/gemini-cli', version: '0.61.0', program: 'gemini' },
  cline: { package: 'cline', version: '3.0.65', program: 'cline' },
} as const;
export type ClientName = keyof typeof CLIENTS;

const INSTALL_MS = 240_000;
/** Milliseconds of one run: these are large programs, and a machine may be busy. */
const RUN_MS = 180_000;
/** How npm says that there is no network, rather than no such package. */
const OFFLINE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT|network/i;

/**
 * Path of a client's program; null, with a line that says why, where it is not to be had. `DRAGOMAN_CLIENTS` says which
 * are wanted: their names with commas between them, or 1 for all.
 */
function installClient(name: ClientName): string | null {
  const { package: packageName, version, program } = CLIENTS[name];
  const wanted = process.env['DRAGOMAN_CLIENTS'] ?? '';
  if (wanted !== '1' && !wanted.split(',').includes(name)) {
    console.log(`${name}: skipped: npm run test:clients installs ${packageName}@${version} and tries it`);
    return null;
  }
  const folder = join(installFolder(), name);
  const path = join(folder, 'node_modules', '.bin', program);
  const done = join(folder, `installed-${version}`);
  if (existsSync(done)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const npm = spawnSync('npm', ['install', '--no-audit', '--no-fund', `${packageName}@${version}`], {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_MS,
  });
  if (npm.status === 0) {
    writeFileSync(done, '');
    return path;
  }
  removeClients();
  if (npm.error === undefined && !OFFLINE.test(npm.stderr)) throw new Error(npm.stderr);
  console.log(
    `${name}: skipped: ${packageName} cannot be installed here: ${npm.error?.message ?? 'no network'}`,
  );
  return null;
}

let temporary: string | undefined;

/** `DRAGOMAN_CLIENTS_DIR`, which is kept; else a folder until `removeClients`. */
function installFolder(): string {
  const kept = process.env['DRAGOMAN_CLIENTS_DIR'];
  if (kept !== undefined && kept !== '') return kept;
  temporary ??= mkdtempSync(join(tmpdir(), 'dragoman-clients-'));
  return temporary;
}

/** Removes what was installed: some hundred megabytes. */
function removeClients(): void {
  if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true });
  temporary = undefined;
}

/** Milliseconds of a test: a task and a second turn, each with its own time limit. */
export const TASK_MS = 400_000;

/**
 * Tests of a client with a gateway in front of every upstream. They are skipped if the client cannot be installed.
 * @param gateway the running gateway; only for code within tests
 */
export function describeClient(
  name: ClientName,
  tests: (program: string, gateway: () => TestGateway) => void,
): void {
  const program = installClient(name);
  describe.skipIf(program === null)(name, () => {
    let gateway: TestGateway | undefined;
    beforeAll(async () => {
      gateway = await startEveryUpstream();
    });
    afterAll(async () => {
      await gateway?.close();
      removeClients();
    });
    tests(program ?? '', () => {
      if (!gateway) throw new Error('the gateway has not started');
      return gateway;
    });
  });
}

/** A user who has nothing yet. */
export class Desk {
  /** The home. */
  readonly home = mkdtempSync(join(tmpdir(), 'dragoman-home-'));
  /** The folder to work in. */
  readonly folder = mkdtempSync(join(tmpdir(), 'dragoman-work-'));
  readonly #environment: Readonly<Record<string, string>>;

  constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** Writes a file below the home. */
  write(path: string, text: string): void {
    const whole = join(this.home, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  }

  /** A file of the working folder. */
  read(path: string): string {
    return readFileSync(join(this.folder, path), 'utf8');
  }

  /**
   * Runs a program to its end, in a process group of its own that ends with it.
   * @param input for its standard input
   * @returns what it printed; rejects when it fails or takes too long
   */
  async run(program: string, args: readonly string[], input = ''): Promise<string> {
    const child = spawn(program, args, {
      cwd: this.folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.home, CI: '1', NO_COLOR: '1', ...this.#environment },
      detached: true,
    });
    let out = '';
    child.stdout.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.stderr.on('data', (bytes: Buffer) => (out += bytes.toString()));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const tooLong = setTimeout(() => endGroup(child.pid), RUN_MS);
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', resolve);
      });
      if (code !== 0) throw new Error(`${program} ended with ${code}:\n${out}`);
      return out;
    } finally {
      clearTimeout(tooLong);
      endGroup(child.pid);
    }
  }

  [Symbol.dispose](): void {
    for (const folder of [this.home, this.folder]) rmSync(folder, { recursive: true, force: true });
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}
