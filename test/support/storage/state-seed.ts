// Gateways with two keys, and responses in their database as answered requests would have left them: put there through
// the storage port, by a second connection to the same file.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { KeyIndex } from '../../../src/accounts/auth/index.ts';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import type { Storage, StoredResponse } from '../../../src/accounts/ports/index.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../harness.ts';
import type { Clock } from '../../../src/base/runtime/clock.ts';
import { disposable } from '../disposable.ts';

export const OTHER_KEY = 'sk-test-other';

export interface StatefulGateway extends AsyncDisposable {
  readonly gateway: TestGateway;
  /** SDK clients of the two keys. */
  readonly client: OpenAI;
  readonly stranger: OpenAI;
  readonly storage: Storage;
  /** The tenant of `client`. */
  readonly projectId: string;
  /** Stores a response of the first key. */
  seed(response: JsonObject, over?: Partial<StoredResponse>): Promise<string>;
  call(method: string, path: string, body?: unknown): Promise<{ status: number; json: JsonObject }>;
  close(): Promise<void>;
}

/** Starts a gateway with the two keys. */
export async function startStateful(
  config: Readonly<Record<string, unknown>> = {},
  clock?: Clock,
): Promise<StatefulGateway> {
  const keys = [
    { name: 'test', key: TEST_KEY },
    { name: 'other', key: OTHER_KEY },
  ];
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-state-'));
  const gateway = await startGateway({ keys, ...config }, { dataDir, ...(clock ? { clock } : {}) });
  const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db') });
  const index = new KeyIndex({
    storage,
    pepper: await storage.secret('pepper'),
    configured: { keys: [{ name: 'test', key: TEST_KEY }] },
  });
  await index.refresh();
  const { projectId } = index.authenticate(TEST_KEY, Date.now());
  const clientOf = (apiKey: string): OpenAI =>
    new OpenAI({ apiKey, baseURL: gateway.baseURL, maxRetries: 0 });
  return disposable<Omit<StatefulGateway, keyof AsyncDisposable>>({
    gateway,
    client: clientOf(TEST_KEY),
    stranger: clientOf(OTHER_KEY),
    storage,
    projectId,
    seed: (response, over = {}) =>
      storage.responses.put({
        id: String(response['id']),
        projectId,
        createdAt: Date.now(),
        expiresAt: null,
        previousId: null,
        conversationId: null,
        response,
        input: [],
        ...over,
      }),
    async call(method, path, body) {
      const response = await fetch(`${gateway.baseURL}${path}`, {
        method,
        headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      if (response.headers.get('x-request-id') === null) throw new Error('an answer without a request id');
      return { status: response.status, json: (await response.json()) as JsonObject };
    },
    async close() {
      await storage.close();
      await gateway.close();
    },
  });
}

/** The error of an answer, in OpenAI's shape: where it is, and what it says. */
export function errorOf(json: JsonObject): { readonly param: unknown; readonly message: string } {
  const error = json['error'] as { param: unknown; message: string };
  return { param: error.param, message: error.message };
}
