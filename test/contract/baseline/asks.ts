// A baseline's folder, its configuration, and what is asked of it: requests with the answers that they had when it was made.
import { expect } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { ADMIN_KEY } from '../../support/management/scene.ts';

/** Folders of baselines, one for each schema version that was frozen. */
export const BASELINES = import.meta.dir;
/** Schema versions that were frozen. */
export const VERSIONS = [2, 3, 4, 5, 6, 7, 8] as const;
export type BaselineKind = 'directory' | 'postgres';

/** The secret of the PostgreSQL baseline. A data directory has its own. */
export const SECRET = 'ab'.repeat(32);
/** A key of the configuration file. */
export const FILE_KEY = 'sk-test-baseline-file';

const price = { input: 1, output: 4 };
/** Configuration of every process that opens a baseline. Nothing is deleted by age. */
export const CONFIG = {
  keys: [{ name: 'file', key: FILE_KEY, limits: [{ requests: 1, per: 'day' }] }],
  models: [
    { id: 'acme/small', endpoints: [{ provider: 'sim', model: 'echo', price }] },
    { id: 'acme/refused', endpoints: [{ provider: 'sim', model: 'error-401' }] },
    {
      id: 'acme/recovers',
      endpoints: [
        { provider: 'sim', model: 'error-503', price },
        { provider: 'sim', model: 'chat', price },
      ],
    },
  ],
  state: { retention_days: 0 },
  audit: { retention_days: 0 },
  logging: { content: true },
  batches: { max_delay_ms: 0 },
  // A receiver of webhooks that nobody is.
  fetch: { allow: ['127.0.0.1:9'] },
};

/** One request, and what it must be answered with. */
export interface Ask {
  /** A key of its own; absent: the admin's. */
  readonly key?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: it is a GET. */
  readonly body?: unknown;
  readonly status: number;
  /** Members that the answer must have; absent: any. A text is compared whole. */
  readonly answer?: unknown;
}

/** Notes beside a baseline: when it was made (Unix milliseconds), and what is asked of it, in order. */
export interface Expected {
  readonly madeAt: number;
  readonly asks: readonly Ask[];
}

/** The archive of a baseline: its data, and `expected.json`. */
export function archiveOf(version: number, kind: BaselineKind): string {
  return join(BASELINES, `schema-${version}`, `${kind}.tar.gz`);
}

/** Asks one. @returns status and body: JSON where it is, else text */
export async function answerOf(
  origin: string,
  { key = ADMIN_KEY, path, headers = {}, body }: Pick<Ask, 'key' | 'path' | 'headers' | 'body'>,
): Promise<{ readonly status: number; readonly answer: unknown }> {
  const response = await fetch(`${origin}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return { status: response.status, answer: isJson ? (JSON.parse(text) as JsonObject) : text };
}

/** Waits until the upstream has sent the first words of a response. */
export async function sendsWords(origin: string, key: string, id: string): Promise<void> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${origin}/v1/responses/${id}?stream=true`, { headers, signal: stop.signal });
  let text = '';
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString();
    if (text.includes('response.output_text.delta')) break;
  }
  stop.abort();
}

/** Milliseconds in which what a killed process left behind is settled. */
const SETTLED_MS = 20_000;

/** Asks, and compares: what was said then is said now, whatever else is said besides. What is only read may be late. */
export async function expectAnswer(origin: string, ask: Ask): Promise<void> {
  const until = performance.now() + (ask.body === undefined ? SETTLED_MS : 0);
  for (;;) {
    const { status, answer } = await answerOf(origin, ask);
    const where = ask.path;
    try {
      expect({ where, status }).toEqual({ where, status: ask.status });
      if (ask.answer !== undefined) expect({ where, answer }).toMatchObject({ where, answer: ask.answer });
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await Bun.sleep(50);
    }
  }
}
