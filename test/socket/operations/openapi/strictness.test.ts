// The description is as strict as the gateway: what it refuses of a query or a body, the description refuses, and the other way
// round.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Ajv2020 from 'ajv/dist/2020.js';
import { type ManagedGateway, startManaged } from '../../../support/management/scene.ts';

type Json = Record<string, unknown>;

let gateway: ManagedGateway;
let document: { paths: Record<string, Record<string, Json>>; components: { schemas: Json } };
beforeAll(async () => {
  gateway = await startManaged();
  document = (await (await fetch(`${gateway.origin}/openapi.json`)).json()) as typeof document;
});
afterAll(() => gateway.close());

/** True when a schema of the description accepts a value. */
function takes(schema: unknown, value: unknown): boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.compile({ components: document.components, ...(schema as Json) })(value);
}

test.each([
  [[{ requests: 5, per: 'minute' }], true],
  [[{ requests: 5, per: '5h' }], true],
  [[{ concurrent: 5 }], true],
  [[{ tokens: 5, per: 'day', timezone: 'Europe/Berlin' }], true],
  [[{ requests: 5, per: 'fortnight' }], false],
  [[{ requests: 5, per: '0h' }], false],
  [[{ requests: 5, timezone: 'UTC' }], false],
  [[{ requests: 0, per: 'minute' }], false],
  [[{ requests: 5, tokens: 5, per: 'minute' }], false],
  [[{ per: 'minute' }], false],
] as const)('limits %j', async (limits, isGood) => {
  const operation = document.paths['/v1/management/keys']?.['post'] as unknown as {
    requestBody: { content: Record<string, { schema: unknown }> };
  };
  const body = { name: `key ${Bun.hash(JSON.stringify(limits))}`, limits };
  const { status } = await gateway.manage('POST', '/keys', body);
  expect([status === 201, takes(operation.requestBody.content['application/json']?.schema, body)]).toEqual([
    isGood,
    isGood,
  ]);
});

test.each([
  ['team-1', true],
  ['key_1', false],
  ['a b', false],
  ['a'.repeat(65), false],
] as const)('the name of a project is accepted as documented: %s', async (name, isGood) => {
  const operation = document.paths['/v1/management/projects']?.['post'] as unknown as {
    requestBody: { content: Record<string, { schema: unknown }> };
  };
  const { status } = await gateway.manage('POST', '/projects', { name });
  const isTaken = takes(operation.requestBody.content['application/json']?.schema, { name });
  expect([status === 201, isTaken]).toEqual([isGood, isGood]);
});

test.each([
  ['0b7c-1', true],
  ['two words', false],
  ['x'.repeat(256), false],
] as const)('the idempotency key %j is accepted as documented', async (key, isGood) => {
  const operation = document.paths['/v1/management/keys']?.['post'] as unknown as {
    parameters: readonly { name: string; schema: unknown }[];
  };
  const schema = operation.parameters.find(({ name }) => name === 'idempotency-key')?.schema;
  const body = { name: `key ${Bun.hash(key)}` };
  const { status } = await gateway.manage('POST', '/keys', body, { 'idempotency-key': key });
  expect([status === 201, takes(schema, key)]).toEqual([isGood, isGood]);
});

test.each([
  ['/usage', 'group_by', 'model,key', true],
  ['/usage', 'group_by', 'colour', false],
  ['/usage', 'columns', 'requests', true],
  ['/usage', 'columns', 'nothing', false],
  ['/usage', 'from', '2026-01-31', true],
  ['/usage', 'from', '2026-01-31T10:00:00Z', true],
  ['/usage', 'from', '1767225600', true],
  ['/usage', 'from', 'yesterday', false],
] as const)('the query of %s is accepted as documented: %s=%s', async (path, name, value, isGood) => {
  const operation = document.paths[`/v1/management${path}`]?.['get'] as
    | { parameters?: readonly { name: string; schema: unknown }[] }
    | undefined;
  const schema = operation?.parameters?.find((each) => each.name === name)?.schema;
  const { status } = await gateway.manage('GET', `${path}?${name}=${encodeURIComponent(value)}`);
  expect([status === 200, takes(schema, value)]).toEqual([isGood, isGood]);
});
