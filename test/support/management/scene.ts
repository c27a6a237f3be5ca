// A gateway that is managed, and how a test asks its management API: every answer is checked against the schema of its
// route.
import { expect } from 'bun:test';
import { ROUTES } from '../../../src/operations/management/routes/index.ts';
import { startGateway, type TestGateway } from '../harness.ts';

export const ADMIN_KEY = 'sk-test-admin-0123456789';

export interface Asked {
  readonly status: number;
  readonly headers: Headers;
  // Bodies of tests are read as they are.
  readonly body: Record<string, unknown>;
}

export interface ManagedGateway extends TestGateway {
  /** Asks below `/v1/management` with the admin's key. Fails where a good answer is not as its route describes it. */
  manage(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Asked>;
}

type Start = Parameters<typeof startGateway>;

/** Starts one. */
export async function startManaged(config: Start[0] = {}, options?: Start[1]): Promise<ManagedGateway> {
  const server = { ...(config?.['server'] as object | undefined), admin_key: ADMIN_KEY };
  const gateway = await startGateway({ ...config, server }, options);
  return {
    ...gateway,
    async manage(method, path, body, headers = {}) {
      const response = await fetch(`${gateway.origin}/v1/management${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}`, ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
      const read = (isJson ? JSON.parse(text) : { text }) as Record<string, unknown>;
      if (response.ok && isJson) expectDescribed(method, path, response.status, read);
      return { status: response.status, headers: response.headers, body: read };
    },
  };
}

function expectDescribed(method: string, path: string, status: number, body: unknown): void {
  const place = path.split('?')[0] ?? '';
  const route = ROUTES.find(
    (each) =>
      each.method === method.toLowerCase() &&
      new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, each.isDeep ? '.+' : '[^/]+')}$`).test(place),
  );
  expect(route).toBeDefined();
  expect(status).toBe(route?.status ?? 200);
  const checked = route?.answer.safeParse(body);
  expect(checked?.error?.issues ?? []).toEqual([]);
}
