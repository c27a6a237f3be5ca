// A Gemini client that wants one bare word of a list (`text/x.enum`), over upstreams that know formats in JSON alone: they
// are given a schema, and the client gets the word, whole and streamed.
import { afterAll, expect, test } from 'bun:test';
import { streamOf, dialect } from '../../../support/upstreams/dialects.ts';
import { stream, whole } from '../../../support/upstreams/answers.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import type { Answer } from '../../../support/upstreams/scripted-upstream.ts';

const plain = {
  id: 'one/plain',
  endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-chat', quirks: { structured_output: 'none' } }],
};
const scene = await startScene(['up'], { config: { models: [plain] } });
afterAll(() => scene[Symbol.asyncDispose]());

const WORDS = ['warm', 'cold'];
const SCHEMA = { type: 'STRING', enum: WORDS };

function ask(model: string, method: string, schema: object = { responseSchema: SCHEMA }): Promise<Response> {
  const { gateway } = scene;
  return fetch(`${gateway.origin}/v1beta/models/${model}:${method}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({
      contents: [{ role: 'user', parts: [{ text: 'Is the sea warm?' }] }],
      generationConfig: { responseMimeType: 'text/x.enum', ...schema },
    }),
  });
}

const text = (answer: unknown): string =>
  list(answer, 'candidates', 0, 'content', 'parts')
    .map((part) => at(part, 'text'))
    .join('');
const sent = (): unknown => scene.upstream('up').requests.at(-1)?.json;

const UPSTREAMS = [
  ['one/chat', 'openai-chat', (body: unknown) => at(body, 'response_format', 'json_schema', 'schema')],
  ['one/responses', 'openai-responses', (body: unknown) => at(body, 'text', 'format', 'schema')],
  ['one/messages', 'anthropic-messages', (body: unknown) => at(body, 'output_config', 'format', 'schema')],
] as const;

test.each(UPSTREAMS)('%s gets a schema, and the client gets the value', async (model, protocol, schemaOf) => {
  const speech = dialect(protocol, 'up-1');
  const answers: Answer[] = [
    whole(speech.whole('{"answer":"warm"}')),
    stream(streamOf(speech, '{"ans', 'wer":"co', 'ld"}')),
  ];
  scene.upstream('up').script(...answers);
  const answer = await ask(model, 'generateContent');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-dragoman-report') ?? '').not.toContain('response');
  expect(text(await answer.json())).toBe('warm');
  const schema = schemaOf(sent());
  expect(at(schema, 'type')).toBe('object');
  expect(JSON.stringify(schema)).toContain('"enum":["warm","cold"]');

  const streamed = await ask(model, 'streamGenerateContent?alt=sse', { responseJsonSchema: SCHEMA });
  const chunks = (await streamed.text()).split('\n\n').filter((block) => block.startsWith('data: '));
  expect(chunks.map((block) => text(JSON.parse(block.slice(6)))).join('')).toBe('cold');
});

test('an upstream without formats gets an instruction and a second request, with a report', async () => {
  const speech = dialect('openai-chat', 'up-1');
  scene
    .upstream('up')
    .script(whole(speech.whole('It is warm.')), whole(speech.whole('```json\n{"answer":"warm"}\n```')));
  const answer = await ask('one/plain', 'generateContent');
  expect(text(await answer.json())).toBe('warm');
  expect(answer.headers.get('x-dragoman-report')).toContain('generationConfig.responseSchema:approximated');
});

test('Gemini gets it unchanged', async () => {
  scene.upstream('up').script(whole(dialect('gemini', 'up-1').whole('warm')));
  expect(text(await (await ask('one/gemini', 'generateContent')).json())).toBe('warm');
  expect(at(sent(), 'generationConfig')).toMatchObject({
    responseMimeType: 'text/x.enum',
    responseSchema: SCHEMA,
  } as Readonly<Record<string, Json>>);
});

test('a list that contains more than strings is still reported', async () => {
  scene.upstream('up').script(whole(dialect('openai-chat', 'up-1').whole('1')));
  const answer = await ask('one/chat', 'generateContent', {
    responseSchema: { type: 'INTEGER', enum: [1, 2] },
  });
  expect(answer.headers.get('x-dragoman-report')).toContain('generationConfig.responseSchema:dropped');
});
