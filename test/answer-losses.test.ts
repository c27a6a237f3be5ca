// Work in an answer that is no text: where its client has a place for it, it is there; where not, the report of the
// generation says so, and an answer of nothing else says it in words.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatChunk,
  CHAT_ENDING,
  CHAT_OPENING,
  frame,
  messagesBody,
  responsesBody,
  stream,
  whole,
} from './upstreams/answers.ts';
import { CLIENTS, type ClientProtocol } from './upstreams/client-dialects.ts';
import { frames, recordOf, startScene, type Scene } from './upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from './upstreams/json-path.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await startScene(['up']);
});
afterAll(() => scene[Symbol.asyncDispose]());

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const DATA_URL = `data:image/png;base64,${PNG}`;

function geminiBody(...parts: object[]): object {
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
    modelVersion: 'm',
    responseId: 'r1',
  };
}
const message = (text: string, annotations: object[] = []): object => ({
  id: 'msg_0123456789abcdef',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations, logprobs: [] }],
});

/** Whole answers of upstreams, by what is special in them; each is told by the models' names in `startScene`. */
const ANSWERS = {
  'a picture of Gemini': ['gemini', geminiBody({ inlineData: { mimeType: 'image/png', data: PNG } })],
  'a picture of Responses': [
    'responses',
    responsesBody([
      { id: 'ig_0123456789abcdef', type: 'image_generation_call', status: 'completed', result: PNG },
    ]),
  ],
  'a picture of Chat Completions': [
    'chat',
    chatBody({ content: '', images: [{ type: 'image_url', image_url: { url: DATA_URL } }] }),
  ],
  'spoken words': [
    'chat',
    chatBody({ content: 'Hi', audio: { id: 'audio_1', data: 'AAAA', transcript: 'Hi' } }),
  ],
  'code that Gemini ran': [
    'gemini',
    geminiBody(
      { executableCode: { language: 'PYTHON', code: 'print(2)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '2' } },
      { text: 'It is 2.' },
    ),
  ],
  'code that OpenAI ran, and a file': [
    'responses',
    responsesBody([
      {
        id: 'ci_0123456789abcdef',
        type: 'code_interpreter_call',
        status: 'completed',
        code: 'print(2)',
        container_id: 'c1',
        outputs: [],
      },
      message('See there.', [{ type: 'file_citation', file_id: 'file-1', filename: 'a.txt', index: 3 }]),
    ]),
  ],
  'code that Anthropic ran': [
    'messages',
    messagesBody(
      [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: { command: 'ls' } },
        {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: {
            type: 'bash_code_execution_result',
            stdout: 'a',
            stderr: '',
            return_code: 0,
            content: [],
          },
        },
        { type: 'container_upload', file_id: 'file_1' },
        { type: 'text', text: 'One file.' },
      ],
      'end_turn',
    ),
  ],
  'citations of a document': [
    'messages',
    messagesBody(
      [
        {
          type: 'text',
          text: 'Grass is green.',
          citations: [
            {
              type: 'char_location',
              cited_text: 'green',
              document_index: 0,
              document_title: 'Grass',
              start_char_index: 0,
              end_char_index: 5,
            },
          ],
        },
      ],
      'end_turn',
    ),
  ],
  'citations of given search results': [
    'messages',
    messagesBody(
      [
        {
          type: 'text',
          text: 'Grass is green.',
          citations: [
            {
              type: 'search_result_location',
              source: 'https://a.example',
              title: 'A',
              cited_text: 'green',
              search_result_index: 0,
              start_block_index: 0,
              end_block_index: 1,
            },
            {
              type: 'search_result_location',
              source: 'shelf 7',
              title: 'B',
              cited_text: 'green',
              search_result_index: 1,
              start_block_index: 0,
              end_block_index: 1,
            },
          ],
        },
      ],
      'end_turn',
    ),
  ],
  'a search': [
    'messages',
    messagesBody(
      [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'grass' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [
            {
              type: 'web_search_result',
              url: 'https://a.example',
              title: 'A',
              encrypted_content: 'x',
              page_age: null,
            },
          ],
        },
        { type: 'text', text: 'Green.' },
      ],
      'end_turn',
    ),
  ],
  'a grounded answer': [
    'gemini',
    {
      ...geminiBody(),
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Green.' }] },
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['grass'],
            groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
            groundingSupports: [
              { segment: { startIndex: 0, endIndex: 6, text: 'Green.' }, groundingChunkIndices: [0] },
            ],
          },
        },
      ],
    },
  ],
} as const satisfies Record<string, readonly [string, object]>;
type Special = keyof typeof ANSWERS;

interface Told {
  readonly text: string;
  /** The header of a whole answer, and the paths in the record. */
  readonly header: string | null;
  readonly lost: readonly (Json | undefined)[];
}

async function ask(client: ClientProtocol, special: Special, isStreamed = false): Promise<Told> {
  const [model, body] = ANSWERS[special];
  scene.upstream('up').script(isStreamed ? stream(asStream(special)) : whole(body));
  const dialect = CLIENTS[client];
  const name = `one/${model}`;
  const given = dialect.ask(name, isStreamed);
  const response = await scene.gateway.post(dialect.path(name, isStreamed), given);
  const text = await response.text();
  expect([response.status, text]).toEqual([200, text]);
  const record = await recordOf(scene.gateway, response);
  const report = list(record, 'report');
  const lost = report.filter((entry) => String(at(entry, 'path')).startsWith('output['));
  return {
    text,
    header: response.headers.get('x-dragoman-report'),
    lost: lost.map((entry) => at(entry, 'path')),
  };
}

/** The streams of those answers that are asked for as one. */
function asStream(special: Special): string {
  const [, body] = ANSWERS[special];
  if (special === 'a picture of Chat Completions')
    return (
      CHAT_OPENING +
      chatChunk({ images: [{ type: 'image_url', image_url: { url: DATA_URL } }] }) +
      CHAT_ENDING
    );
  return frame(body);
}

const NOTHING: readonly string[] = [];
/** What is lost of each answer to clients of the four protocols, in the order of `ORDER`. */
const ORDER = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
const LOST: Readonly<Record<Special, readonly (readonly string[])[]>> = {
  'a picture of Gemini': [NOTHING, NOTHING, ['output[0]'], NOTHING],
  'a picture of Responses': [NOTHING, NOTHING, ['output[0]'], NOTHING],
  'a picture of Chat Completions': [NOTHING, NOTHING, ['output[0]'], NOTHING],
  'spoken words': [NOTHING, ['output[1]'], ['output[1]'], ['output[1]']],
  'code that Gemini ran': [
    ['output[0]', 'output[1]'],
    ['output[0]', 'output[1]'],
    ['output[0]', 'output[1]'],
    NOTHING,
  ],
  'code that OpenAI ran, and a file': [
    ['output[0]', 'output[1].annotations'],
    NOTHING,
    ['output[0]', 'output[1].annotations'],
    ['output[0]', 'output[1].annotations'],
  ],
  'code that Anthropic ran': [
    ['output[0]', 'output[1]', 'output[2]'],
    ['output[0]', 'output[1]', 'output[2]'],
    NOTHING,
    ['output[0]', 'output[1]', 'output[2]'],
  ],
  'citations of a document': [
    ['output[0].annotations'],
    ['output[0].annotations'],
    NOTHING,
    ['output[0].annotations'],
  ],
  'citations of given search results': [
    ['output[0].annotations'],
    ['output[0].annotations'],
    NOTHING,
    ['output[0].annotations'],
  ],
  'a search': [NOTHING, NOTHING, NOTHING, NOTHING],
  'a grounded answer': [NOTHING, NOTHING, NOTHING, NOTHING],
};

describe.each(Object.keys(ANSWERS) as Special[])('%s', (special) => {
  test.each(ORDER.map((client, place) => [client, LOST[special][place] ?? NOTHING] as const))(
    'to a client of %s loses %j',
    async (client, expected) => {
      const { header, lost } = await ask(client, special);
      expect(lost).toEqual([...expected]);
      const told = (header ?? '').split(', ').filter((entry) => entry.startsWith('output['));
      expect(told).toEqual(expected.map((path) => `${path}:dropped`));
    },
  );
});

describe.each(['a picture of Gemini', 'a picture of Chat Completions'] as const)('%s', (special) => {
  test.each([false, true])('is in the answers that have a place for it (stream: %p)', async (isStreamed) => {
    const chat = await ask('openai-chat', special, isStreamed);
    const chatAnswers: unknown[] = isStreamed ? frames(chat.text) : [JSON.parse(chat.text)];
    const images = chatAnswers.flatMap((each) => [
      ...list(each, 'choices', 0, 'message', 'images'),
      ...list(each, 'choices', 0, 'delta', 'images'),
    ]);
    expect(images).toEqual([{ type: 'image_url', image_url: { url: DATA_URL } }]);

    const responses = await ask('openai-responses', special, isStreamed);
    const answer: unknown = isStreamed ? completed(responses.text) : JSON.parse(responses.text);
    const item = { type: 'image_generation_call', status: 'completed', result: PNG, output_format: 'png' };
    const expected = { id: expect.stringMatching(/^ig_/) as string, ...item };
    expect(at(answer, 'output', 0)).toEqual(expected as unknown as Json);

    const gemini = await ask('gemini', special, isStreamed);
    const pieces: unknown[] = isStreamed ? frames(gemini.text) : [JSON.parse(gemini.text)];
    const parts = pieces.flatMap((piece) => list(piece, 'candidates', 0, 'content', 'parts'));
    expect(parts).toContainEqual({ inlineData: { mimeType: 'image/png', data: PNG } });
  });

  test.each([false, true])(
    'is told in words where there is nothing else (stream: %p)',
    async (isStreamed) => {
      const { text, lost } = await ask('anthropic-messages', special, isStreamed);
      const heard = CLIENTS['anthropic-messages'].hear(isStreamed, text);
      expect(heard).toMatchObject({ complete: true, error: null });
      expect(heard.text).toContain('no place for what the model answered with: a picture');
      expect(lost).toEqual(['output[0]']);
    },
  );
});

test('a stream of Responses announces a picture before it has it', async () => {
  const { text } = await ask('openai-responses', 'a picture of Gemini', true);
  const types = events(text).map((event) => at(event, 'type'));
  expect(types).toEqual([
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.image_generation_call.in_progress',
    'response.image_generation_call.generating',
    'response.image_generation_call.completed',
    'response.output_item.done',
    'response.completed',
  ]);
  expect(at(events(text)[2], 'item')).toMatchObject({ status: 'in_progress', result: null });
});

test.each([
  ['gemini', 'code that Gemini ran'],
  ['chat', 'spoken words'],
  ['messages', 'a search'],
] as const)('%s is told of an earlier picture without its bytes', async (model, special) => {
  const up = scene.upstream('up');
  up.script(whole(ANSWERS['a picture of Gemini'][1]));
  const asked = { model: 'one/gemini', input: 'Draw a dot.' };
  const first: unknown = await (await scene.gateway.post('/responses', asked)).json();
  up.script(whole(ANSWERS[special][1]));
  const next = { model: `one/${model}`, input: 'Thanks.', previous_response_id: at(first, 'id') };
  expect((await scene.gateway.post('/responses', next)).status).toBe(200);
  const [sent] = up.requests;
  expect(sent?.text).toContain('image_generation_call');
  expect(sent?.text).not.toContain(PNG);
});

test('a cited search result with an address is a page to other clients', async () => {
  const { text } = await ask('openai-chat', 'citations of given search results');
  const cited = list(JSON.parse(text), 'choices', 0, 'message', 'annotations');
  expect(cited.map((each) => at(each, 'url_citation', 'url'))).toEqual(['https://a.example']);
});

test('an answer with text beside what is lost says nothing of it', async () => {
  const { text } = await ask('openai-chat', 'code that Gemini ran');
  expect(at(JSON.parse(text), 'choices', 0, 'message', 'content')).toBe('It is 2.');
});

function events(text: string): readonly unknown[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line): unknown => JSON.parse(line.slice(6)));
}

function completed(text: string): unknown {
  return at(events(text).at(-1), 'response');
}
