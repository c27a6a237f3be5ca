// Paths that are not served: known parts of other APIs say so with the nearest thing, a wrong method is a 405 that names the
// right ones, and everything is said in the protocol of the client.
import { afterAll, expect, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { startGateway } from '../../support/harness.ts';
import { at } from '../../support/upstreams/json-path.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const ANTHROPIC = { 'anthropic-version': '2023-06-01' };
const GOOGLE = { 'x-goog-api-key': 'sk-test' };

const messageOf = (body: unknown): string => String(at(body, 'error', 'message'));

async function ask(method: string, path: string, headers: object = {}): Promise<[Response, unknown]> {
  const init = { method, headers: { authorization: `Bearer ${gateway.key}`, ...headers } };
  const response = await fetch(gateway.origin + path, method === 'POST' ? { ...init, body: '{}' } : init);
  const text = await response.text();
  return [response, text === '' ? undefined : JSON.parse(text)];
}

test.each([
  ['POST', '/v1/realtime/client_secrets', /WebSocket at `\/v1\/responses`/],
  ['GET', '/v1/realtime', /WebSocket/],
  ['POST', '/v1/completions', /\/v1\/chat\/completions/],
  ['GET', '/v1/chat/completions/chatcmpl-1', /\/v1\/responses/],
  ['POST', '/api/v1/audio/transcriptions', /input_audio/],
  ['POST', '/v1/images/generations', /image_generation/],
  ['POST', '/v1/moderations', /provider directly/],
  ['GET', '/v1/vector_stores/vs_1/files', /file_search/],
  ['POST', '/v1/rerank', /embeddings/],
  ['POST', '/v1/threads/thread_1/runs', /conversation/],
  ['GET', '/v1/organization/usage/completions', /management/],
  ['POST', '/api/chat', /base URL/],
  ['GET', '/api/tags', /base URL/],
  ['POST', '/openai/deployments/gpt-5/chat/completions', /base URL/],
])("%s %s is refused in OpenAI's form", async (method, path, nearest) => {
  const [response, body] = await ask(method, path);
  expect(response.status).toBe(404);
  expect(response.headers.get('x-request-id')).toBeString();
  const message = messageOf(body);
  expect(message).toStartWith(`\`${path}\` is not served by this gateway. `);
  expect(message).toMatch(nearest);
  expect(body).toMatchObject({ error: { code: 'not_served', param: null } });
});

test.each([
  ['POST', '/api/anthropic/v1/complete', {}],
  ['GET', '/v1/skills', ANTHROPIC],
  ['GET', '/v1/organizations/me', {}],
  // A path of another vendor's, asked by a client of this one.
  ['POST', '/v1/realtime', ANTHROPIC],
])("%s %s %j is refused in Anthropic's form", async (method, path, headers) => {
  const [response, body] = await ask(method, path, headers);
  expect(response.status).toBe(404);
  const message = expect.stringContaining(`\`${path}\` is not served by this gateway. `);
  expect(body).toMatchObject({ type: 'error', error: { type: 'not_found_error', message } });
});

test.each([
  ['POST', '/v1beta/models/imagen-5:predict', {}],
  ['POST', '/v1beta/models/veo-4:predictLongRunning', {}],
  ['POST', '/v1beta/cachedContents', {}],
  ['GET', '/v1beta/cachedContents/x', {}],
  ['POST', '/upload/v1beta/files/x/y', {}],
  ['POST', '/v1beta/files:register', {}],
  ['GET', '/v1beta/fileSearchStores', {}],
  ['POST', '/api/vertex-ai/v1/projects/p/locations/l/tuningJobs', {}],
  ['GET', '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent', {}],
])("%s %s is refused in Google's form", async (method, path, headers) => {
  const [response, body] = await ask(method, path, headers);
  expect(response.status).toBe(404);
  const message = expect.stringContaining(`\`${path}\` is not served by this gateway. `);
  expect(body).toMatchObject({ error: { code: 404, status: 'NOT_FOUND', message } });
});

test.each([
  ['GET', '/v1/chat/completions', {}, 'POST'],
  ['PUT', '/v1/responses', {}, 'POST, GET'],
  ['DELETE', '/v1/models', {}, 'GET, HEAD'],
  ['PATCH', '/v1/files/file-1', {}, 'GET, HEAD, DELETE'],
  ['GET', '/v1/messages', ANTHROPIC, 'POST'],
  ['POST', '/v1/embeddings/models', {}, 'GET, HEAD'],
  ['GET', '/v1/route/explain', {}, 'POST'],
  ['DELETE', '/v1beta/models', GOOGLE, 'GET, HEAD'],
  ['POST', '/healthz', {}, 'GET, HEAD'],
  ['POST', '/', {}, 'GET, HEAD'],
  ['GET', '/v1/responses/resp_1/cancel', {}, 'POST'],
  ['OPTIONS', '/v1/chat/completions', {}, 'POST'],
  ['DELETE', '/v1/models/acme/large', {}, 'GET, HEAD'],
  ['PUT', '/v1/prompts/pmpt_1', {}, 'DELETE, GET, HEAD, POST'],
])('%s %s %j is a 405 that allows %4$s', async (method, path, headers, allow) => {
  const [response, body] = await ask(method, path, headers);
  expect(response.status).toBe(405);
  const methods = new Set(response.headers.get('allow')?.split(', '));
  expect(methods).toEqual(new Set(allow.split(', ')));
  const type = headers === ANTHROPIC ? { type: 'error' } : {};
  const words = expect.stringContaining(`${path} does not support ${method}. Supported: `);
  expect(body).toMatchObject({ ...type, error: { message: words } });
});

test.each([
  ['POST', '/chat/completions/', '/chat/completions'],
  ['POST', '/v1/v1/chat/completions', '/v1/chat/completions'],
  ['POST', '/v2/chat/completions', '/v1/chat/completions'],
  ['POST', '/V1/Messages', '/v1/messages'],
  ['GET', '/files', '/v1/files'],
])('%s %s suggests the path that was probably meant', async (method, path, meant) => {
  const [response, body] = await ask(method, path);
  expect(response.status).toBe(404);
  const message = expect.stringContaining(`Did you mean ${meant}?`);
  expect(body).toMatchObject({ error: { message } });
});

test('a path that is near no other leads to the list of routes', async () => {
  const [response, body] = await ask('POST', '/v1/completely/other');
  expect(response.status).toBe(404);
  const message = expect.stringContaining('`GET /openapi.json` lists all routes.');
  expect(body).toMatchObject({ error: { message } });
});

test("the suggestion reaches a client of OpenAI's SDK", async () => {
  const client = new OpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key, maxRetries: 0 });
  const error: unknown = await client.images
    .generate({ prompt: 'a fox', model: 'x' })
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status: 404, code: 'not_served' });
  expect(String(error)).toContain('`/v1/images/generations` is not served by this gateway.');
});
