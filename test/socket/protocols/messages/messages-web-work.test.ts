// Pages that Claude fetched and searches that failed, for clients of other protocols: whole and streamed.
import { afterAll, expect, test } from 'bun:test';
import { messagesBody, messagesStream, stream as sse, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../../support/upstreams/json-path.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const ID = 'srvtoolu_1';
const URL = 'https://a.example/page';
const page = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grass.' } };
const fetched = (content: object): readonly Readonly<Record<string, unknown>>[] => [
  { type: 'server_tool_use', id: ID, name: 'web_fetch', input: { url: URL } },
  { type: 'web_fetch_tool_result', tool_use_id: ID, content },
  { type: 'text', text: 'So.' },
];
const READ = fetched({ type: 'web_fetch_result', url: URL, content: page });
const UNREAD = fetched({ type: 'web_fetch_tool_result_error', error_code: 'url_not_accessible' });
const UNFOUND = [
  { type: 'server_tool_use', id: ID, name: 'web_search', input: { query: 'grass' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: ID,
    content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
  },
  { type: 'text', text: 'So.' },
] as const;
const OPENED = { type: 'open_page', url: URL };
const WORK = [
  ['a page', READ, 'completed', OPENED, 'SUCCESS'],
  ['a page that could not be read', UNREAD, 'failed', OPENED, 'ERROR'],
  ['a failed search', UNFOUND, 'failed', { type: 'search', query: 'grass', queries: ['grass'] }, null],
] as const;

/** The last object of an answer, whole or streamed. */
async function lastOf(path: string, body: object, blocks: (typeof WORK)[number][1]): Promise<unknown[]> {
  const streamed = path.includes('stream') || 'stream' in body;
  scene
    .upstream('up')
    .script(streamed ? sse(messagesStream(blocks, 'end_turn')) : whole(messagesBody(blocks, 'end_turn')));
  const response = await scene.gateway.post(path, body);
  expect(response.status).toBe(200);
  const text = await response.text();
  if (!streamed) return [JSON.parse(text)];
  return [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]): unknown => JSON.parse(data ?? ''));
}

test.each(WORK)('%s is an item of Responses', async (_, blocks, status, action) => {
  const body = { model: 'one/messages', input: 'Hi', store: false };
  const item = { type: 'web_search_call', status, action };
  const answer = (await lastOf('/responses', body, blocks)).at(-1);
  expect(at(answer, 'output', 0)).toMatchObject(item);
  expect(at(answer, 'output', 1, 'content', 0, 'text')).toBe('So.');
  const end = (await lastOf('/responses', { ...body, stream: true }, blocks)).at(-1);
  expect(at(end, 'response', 'output', 0)).toMatchObject(item);
});

test.each(WORK)('%s is metadata of Gemini', async (_, blocks, __, ___, word) => {
  const metadata =
    word === null
      ? { groundingMetadata: { webSearchQueries: ['grass'] } }
      : {
          urlContextMetadata: {
            urlMetadata: [{ retrievedUrl: URL, urlRetrievalStatus: `URL_RETRIEVAL_STATUS_${word}` }],
          },
        };
  const body = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
  for (const method of ['generateContent', 'streamGenerateContent?alt=sse']) {
    const chunks = await lastOf(`/models/one/messages:${method}`, body, blocks);
    expect(at(chunks.at(-1), 'candidates', 0)).toMatchObject(metadata);
  }
});
