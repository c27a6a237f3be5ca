// The description of the API: valid, complete, and true of what the gateway answers to its examples.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js';
import { ADMIN_KEY, type ManagedGateway, startManaged } from '../../../support/management/scene.ts';

type Json = Record<string, unknown>;
interface Described {
  readonly operationId: string;
  readonly security: Record<string, unknown>[];
  readonly parameters: { name: string; in: string; required: boolean; example?: string }[];
  readonly requestBody?: { required: boolean; content: Record<string, { schema: Json; example?: unknown }> };
  readonly responses: Record<
    string,
    { content?: Record<string, { schema: Json }>; links?: Record<string, { parameters: Json }> }
  >;
}

let gateway: ManagedGateway;
let document: { paths: Record<string, Record<string, Described>>; components: { schemas: Json } };

beforeAll(async () => {
  gateway = await startManaged();
  document = (await (await fetch(`${gateway.origin}/openapi.json`)).json()) as typeof document;
});
afterAll(() => gateway.close());

const operations = () =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );

test('it is valid OpenAPI 3.1', async () => {
  const checked = await new Validator().validate(structuredClone(document) as Json);
  expect(checked.errors ?? []).toEqual([]);
  expect(checked.valid).toBe(true);
  const { version } = JSON.parse(
    readFileSync(join(import.meta.dir, '..', '..', '..', '..', 'package.json'), 'utf8'),
  ) as {
    version: string;
  };
  expect(document).toMatchObject({ openapi: '3.1.0', info: { version } });
});

test('every operation has a unique name, its audience, and every refusal in the form of its protocol', () => {
  const ids = operations().map(({ operation }) => operation.operationId);
  expect(ids.length).toBeGreaterThan(60);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { path, operation } of operations()) {
    const errors = Object.entries(operation.responses).filter(([status]) => Number(status) >= 400);
    for (const [status, { content }] of errors) {
      const schema = content?.['application/json']?.schema['$ref'] as string;
      if (status === '503' && path === '/readyz') continue;
      const isClients =
        !/^\/(?:upload\/)?v1(?!\/(?:models|route|generations|files|embeddings\/models)\b)/.test(path);
      const own = /^\/(?:upload\/)?v1beta/.test(path)
        ? 'Google'
        : path.startsWith('/v1/messages')
          ? 'Anthropic'
          : '';
      expect([path, schema]).toEqual([path, `#/components/schemas/${isClients ? 'Any' : own}Error`]);
    }
    const isManaged = path.startsWith('/v1/management/') || path === '/metrics';
    if (isManaged) expect(operation.security).toEqual([{ admin: [] }]);
  }
});

test('another method of a described path is a 405 that lists the allowed ones', async () => {
  const wrong: string[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    const described = Object.keys(item).map((method) => method.toUpperCase());
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (described.includes(method)) continue;
      const isForAdmin = path.startsWith('/v1/management/');
      const answer = await fetch(gateway.origin + path.replaceAll(/\{\w+\}/g, 'x'), {
        method,
        headers: { authorization: `Bearer ${isForAdmin ? ADMIN_KEY : gateway.key}` },
        ...(method !== 'GET' && { body: '{}' }),
      });
      await answer.text();
      const allow = (answer.headers.get('allow') ?? '').split(', ');
      if (answer.status !== 405 || !described.every((each) => allow.includes(each)))
        wrong.push(`${method} ${path}: ${answer.status} ${allow.join()}`);
    }
  }
  expect(wrong).toEqual([]);
  const nothing = await fetch(`${gateway.origin}/v1/nothing`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  expect([nothing.status, nothing.headers.get('allow')]).toEqual([404, null]);
});

describe('every example', () => {
  /** Parameters that answers of earlier operations gave, by operation. */
  const given = new Map<string, Record<string, string>>();
  let ajv: Ajv2020;

  const validatorFor = (schema: Json): ValidateFunction => {
    ajv ??= new Ajv2020({ strict: false, validateFormats: false });
    return ajv.compile({ components: document.components, ...schema });
  };

  async function run(path: string, method: string, operation: Described): Promise<Response> {
    const known = given.get(operation.operationId) ?? {};
    let url = path;
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    for (const { name, in: place, example } of operation.parameters) {
      const value = known[name] ?? example;
      if (value === undefined) continue;
      if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(value));
      if (place === 'query') query.set(name, value);
      if (place === 'header') headers[name] = value;
    }
    const isForAdmin = operation.security.some((scheme) => 'admin' in scheme);
    headers['authorization'] = `Bearer ${isForAdmin ? ADMIN_KEY : gateway.key}`;
    const [type = '', body] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
    const search = query.size > 0 ? `?${query}` : '';
    const init: RequestInit = { method: method.toUpperCase(), headers };
    if (type.startsWith('multipart')) {
      const { file, ...fields } = (body?.example ?? {}) as Record<string, string>;
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('file', new File([file ?? ''], 'example.txt'));
      init.body = form;
    } else if (body?.example !== undefined) {
      init.body = JSON.stringify(body.example);
      headers['content-type'] = 'application/json';
    }
    return fetch(`${gateway.origin}${url}${search}`, init);
  }

  test('runs against the simulated models and is answered as described', async () => {
    const ran: string[] = [];
    const wrong: string[] = [];
    const deletions = operations().filter(({ method }) => method === 'delete');
    const rest = operations().filter(({ method }) => method !== 'delete');
    for (const { path, method, operation } of [...rest, ...deletions]) {
      const id = operation.operationId;
      const known = given.get(id) ?? {};
      const needs = operation.parameters.filter(
        ({ name, required, example }) => required && !(known[name] ?? example),
      );
      const needsBody = operation.requestBody?.required === true;
      const hasExample = Object.values(operation.requestBody?.content ?? {}).some(
        ({ example }) => example !== undefined,
      );
      if (needs.length > 0 || (needsBody && !hasExample) || operation.responses['101']) continue;
      const response = await run(path, method, operation);
      ran.push(id);
      const described = operation.responses[String(response.status)];
      const type = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
      const content = described?.content?.[type] ?? described?.content?.['*/*'];
      // One that is a stream and nothing else has no end.
      const isEndless = Object.keys(described?.content ?? {}).join() === 'text/event-stream';
      const text = isEndless ? await firstPiece(response) : await response.text();
      if (response.status >= 400 || !content)
        wrong.push(`${id}: ${response.status} ${type} ${text.slice(0, 300)}`);
      if (!content || type !== 'application/json') continue;
      const body = JSON.parse(text) as Json;
      const isValid = validatorFor(content.schema);
      if (!isValid(body)) wrong.push(`${id}: ${JSON.stringify(isValid.errors)} ${text.slice(0, 300)}`);
      for (const [next, { parameters }] of Object.entries(described?.links ?? {}))
        given.set(
          next,
          Object.fromEntries(
            Object.entries(parameters).map(([name, expression]) => [
              name,
              String(body[String(expression).replace('$response.body#/', '')]),
            ]),
          ),
        );
    }
    expect(wrong).toEqual([]);
    expect(ran.length).toBeGreaterThan(40);
  });

  test('of a refusal, too, is as described', async () => {
    const asked = operations().filter(
      ({ operation: { security, responses } }) => security.length > 0 && !responses['101'],
    );
    // At once: many refusals to one address are held back, all of them for a second.
    const answers = await Promise.all(
      asked.map(async ({ path, method, operation }) => {
        const url = gateway.origin + path.replaceAll(/\{\w+\}/g, 'nothing');
        const own = operation.parameters.filter(({ in: place }) => place === 'header');
        const headers = Object.fromEntries(own.map(({ name, example = 'x' }) => [name, example]));
        const response = await fetch(url, { method: method.toUpperCase(), headers });
        const isValid = validatorFor(operation.responses['401']?.content?.['application/json']?.schema ?? {});
        return [operation.operationId, response.status, isValid(await response.json())];
      }),
    );
    expect(answers).toEqual(asked.map(({ operation }) => [operation.operationId, 401, true]));
  });
});

async function firstPiece(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const { value = '' } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return value;
}
