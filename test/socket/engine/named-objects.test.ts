// Objects in the operator's accounts at vendors: a request that names one by its id is refused unless the operator shares
// it, in both lanes, for every protocol, and nothing is sent.
import { afterAll, describe, expect, test } from 'bun:test';
import { UPSTREAM_PROTOCOLS } from '../../support/upstreams/dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { askOver as ask } from '../../support/upstreams/ask-over.ts';

const scenes = await Promise.all([true, false].map((faithful) => startScene(['up'], { faithful })));
const vendor_objects = ['container_shared*', 'file_team*', 'cachedContents/team-*'];
const sharing = await startScene(['up'], { faithful: true, config: { vendor_objects } });
afterAll(() => Promise.all([...scenes, sharing].map((scene) => scene[Symbol.asyncDispose]())));

const said = { role: 'user', content: 'Hello' };
const saidToGemini = { role: 'user', parts: [{ text: 'Hello' }] };
const chat = (part: object, more: object = {}): object => ({
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Look.' }, part] }],
  ...more,
});
const messages = (part: object, more: object = {}): object => ({ max_tokens: 9, ...chat(part, more) });
const gemini = (part: object, more: object = {}): object => ({
  contents: [{ role: 'user', parts: [{ text: 'Look.' }, part] }],
  ...more,
});
const responses = (more: object): object => ({ store: false, input: 'Hello', ...more });
const text = { type: 'text', text: 'Hello' };

const GENERATE = '/v1beta/models/one/MODEL:generateContent';
/** Objects that a client of a protocol may name, with their places. */
const NAMED: readonly (readonly [place: string, path: string, body: object])[] = [
  [
    'messages[0].content[1]',
    '/v1/chat/completions',
    chat({ type: 'file', file: { file_id: 'file-of-the-operator' }, more: 1 }),
  ],
  [
    'messages[1].audio',
    '/v1/chat/completions',
    { messages: [said, { role: 'assistant', audio: { id: 'audio_1' } }, said] },
  ],
  [
    'messages[0].content[1].video.file_id',
    '/v1/chat/completions',
    chat({ type: 'video', video: { file_id: 'file-of-the-operator' } }),
  ],
  [
    'input[0].content[0]',
    '/v1/responses',
    responses({ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-x' }] }] }),
  ],
  [
    'tools[0].environment.container_id',
    '/v1/responses',
    responses({
      tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_x' } }],
    }),
  ],
  ['previous_response_id', '/v1/responses', responses({ previous_response_id: 'resp_of_the_vendor' })],
  ['conversation', '/v1/responses', responses({ conversation: 'conv_of_the_vendor' })],
  ['prompt.id', '/v1/responses', responses({ prompt: { id: 'pmpt_of_the_vendor' } })],
  [
    'messages[0].content[1]',
    '/v1/messages',
    messages({ type: 'document', source: { type: 'file', file_id: 'file_of_the_operator' } }),
  ],
  [
    'messages[0].content[1].file_id',
    '/v1/messages',
    messages({ type: 'container_upload', file_id: 'file_x' }),
  ],
  ['container', '/v1/messages', messages(text, { container: 'container_of_somebody' })],
  ['container.id', '/v1/messages', messages(text, { container: { id: 'container_of_somebody' } })],
  [
    'container.skills[1].skill_id',
    '/v1/messages',
    messages(text, {
      container: {
        skills: [
          { type: 'anthropic', skill_id: 'pptx' },
          { type: 'custom', skill_id: 'skill_x' },
        ],
      },
    }),
  ],
  [
    'messages[0].content[1]',
    '/v1/messages',
    messages({ type: 'image', source: { type: 'url', url: 's3://bucket/a' } }),
  ],
  ...[
    'gs://bucket/a.png',
    ' GS://bucket/a.png',
    'https://generativelanguage.googleapis.com/v1beta/files/x',
    ' https://generativelanguage.googleapis.com/v1beta/files/x',
    'https://generativelanguage.googleapis.com:443/v1beta/files/x',
    'https://generativelanguage.googleapis.com./v1beta/files/x',
    'https://us-central1-aiplatform.googleapis.com/v1/files/x',
    'https:generativelanguage.googleapis.com/v1beta/files/x',
    'https:\\\\generativelanguage.googleapis.com/v1beta/files/x',
    '//generativelanguage.googleapis.com/v1beta/files/x',
    'generativelanguage.googleapis.com/v1beta/files/x',
    'files/x',
    'files/file-0123456789abcdef01234567',
    '/v1beta/files/x',
    'x',
  ].flatMap((fileUri): (typeof NAMED)[number][] => [
    ['contents[0].parts[1]', GENERATE, gemini({ fileData: { fileUri, mimeType: 'image/png' } })],
    ['contents[0].parts[1]', GENERATE, gemini({ file_data: { file_uri: fileUri, mime_type: 'text/plain' } })],
  ]),
  [
    'contents[2].parts[0]',
    GENERATE,
    {
      contents: [
        saidToGemini,
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'f',
                response: {},
                parts: [{ fileData: { fileUri: 'files/x', mimeType: 'image/png' } }],
              },
            },
          ],
        },
      ],
    },
  ],
  ['cachedContent', GENERATE, gemini({ text: '' }, { cachedContent: 'cachedContents/x' })],
  ['cached_content', GENERATE, gemini({ text: '' }, { cached_content: 'x' })],
  [
    'tools[0].fileSearch',
    GENERATE,
    gemini({ text: '' }, { tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/x'] } }] }),
  ],
  [
    'tools[0].retrieval',
    GENERATE,
    gemini(
      { text: '' },
      {
        tools: [
          {
            retrieval: {
              externalApi: {
                endpoint: 'https://search.example',
                apiAuth: { apiKeyConfig: { apiKeySecretVersion: 'projects/p/secrets/s/versions/1' } },
              },
            },
          },
        ],
      },
    ),
  ],
];

/** Objects that OpenAI's own tools name: where they are left out, so are the ids. */
const NAMED_BY_TOOLS: readonly object[] = [
  { type: 'file_search', vector_store_ids: ['vs_board'] },
  { type: 'code_interpreter', container: 'cntr_of_somebody' },
  { type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-x'] } },
  { type: 'image_generation', input_image_mask: { file_id: 'file-x' } },
];

test.each(NAMED_BY_TOOLS)('%j shows no id to the vendor', async (tool) => {
  for (const scene of scenes)
    for (const protocol of UPSTREAM_PROTOCOLS) {
      const { sent = '' } = await ask(scene, protocol, '/v1/responses', responses({ tools: [tool] }));
      expect(sent).not.toMatch(/vs_board|cntr_of_somebody|file-x/);
    }
});

describe.each(NAMED)('%s of %s', (place, path, body) => {
  test('is a 404 that names it, and nothing is sent upstream', async () => {
    // OpenAI's own status for this one.
    const expected = place === 'previous_response_id' ? 400 : 404;
    for (const scene of scenes)
      for (const protocol of UPSTREAM_PROTOCOLS) {
        const { status, error, sent } = await ask(scene, protocol, path, body);
        expect([protocol, status, sent]).toEqual([protocol, expected, undefined]);
        if (path !== '/v1/messages' && path !== GENERATE)
          expect(String(at(error, 'param'))).toStartWith(place);
        else expect(JSON.stringify(error)).toContain(place);
      }
  });
});

describe('shared objects', () => {
  test.each([
    ['anthropic-messages', '/v1/messages', messages(text, { container: 'container_shared_1' })],
    [
      'anthropic-messages',
      '/v1/messages',
      messages({ type: 'image', source: { type: 'file', file_id: 'file_team_logo' } }),
    ],
    ['gemini', GENERATE, gemini({ text: '' }, { cachedContent: 'cachedContents/team-handbook' })],
  ] as const)('passes to the vendor: %s', async (protocol, path, body) => {
    const { status, sent } = await ask(sharing, protocol, path, body);
    expect(status).toBe(200);
    expect(sent).toMatch(/container_shared_1|file_team_logo|cachedContents\/team-handbook/);
  });
});

test('a token count shows none of it to the vendor', async () => {
  for (const scene of scenes) {
    const body = messages(text, { container: 'container_of_somebody' });
    const { status, sent } = await ask(scene, 'anthropic-messages', '/v1/messages/count_tokens', body);
    expect([status, sent]).toEqual([404, undefined]);
  }
});

test("Anthropic's own skills are available to every key", async () => {
  const body = messages(text, {
    container: { skills: [{ type: 'anthropic', skill_id: 'pptx', version: 'latest' }] },
  });
  expect((await ask(scenes[0] as Scene, 'anthropic-messages', '/v1/messages', body)).sent).toContain('pptx');
});

test('arguments of a function that look like a file are not treated as a file', async () => {
  const words = { fileData: { fileUri: 'notes.txt' }, fileUri: 'files/notes.txt' };
  const body = {
    contents: [
      saidToGemini,
      { role: 'model', parts: [{ functionCall: { name: 'f', args: words } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: words } }] },
    ],
  };
  for (const scene of scenes) expect((await ask(scene, 'gemini', GENERATE, body)).status).toBe(200);
});
