// Work in an answer that is no text: where its client has a place for it, it is there; where not, the report of the
// generation says so, and an answer of nothing else says it in words.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatChunk,
  CHAT_ENDING,
  CHAT_OPENING,
  frame,
  messagesBody,
  responsesBody,
  responsesStream,
  stream,
  whole,
} from '../../support/upstreams/answers.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { frames, recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { PNG, PNG_URL } from '../../support/images.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

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

/** A search of Anthropic's, and the page that it found. */
function searchBlocks(pageAge: string | null): readonly object[] {
  const page = { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'x' };
  return [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'grass' } },
    {
      type: 'web_search_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: [{ ...page, page_age: pageAge }],
    },
  ];
}

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
    chatBody({ content: '', images: [{ type: 'image_url', image_url: { url: PNG_URL } }] }),
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
    messagesBody([...searchBlocks(null), { type: 'text', text: 'Green.' }], 'end_turn'),
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
  'a page of a certain age, and the words that are cited': [
    'messages',
    messagesBody(
      [
        ...searchBlocks('2 days ago'),
        {
          type: 'text',
          text: 'Green.',
          citations: [
            {
              type: 'web_search_result_location',
              url: 'https://a.example',
              title: 'A',
              cited_text: 'Grass is green.',
              encrypted_index: 'x',
            },
          ],
        },
      ],
      'end_turn',
    ),
  ],
  'suggestions for a search, and pages that were read': [
    'gemini',
    {
      ...geminiBody(),
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Green.' }] },
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['grass'],
            searchEntryPoint: { renderedContent: '<div></div>' },
          },
          urlContextMetadata: {
            urlMetadata: [
              { retrievedUrl: 'https://a.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
              { retrievedUrl: 'https://b.example', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_PAYWALL' },
            ],
          },
        },
      ],
    },
  ],
  'grounding without words': [
    'gemini',
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['grass'],
            searchEntryPoint: { renderedContent: '<div></div>' },
          },
          citationMetadata: { citationSources: [{ startIndex: 0, endIndex: 2, uri: 'https://a.example' }] },
        },
      ],
    },
  ],
  'documents that were found, one of them uncited': [
    'gemini',
    {
      candidates: [
        {
          content: { role: 'model', parts: [{ text: 'Grass is green.' }] },
          finishReason: 'STOP',
          groundingMetadata: {
            groundingChunks: [
              { retrievedContext: { uri: 'https://a.example', title: 'A', text: 'green' } },
              { retrievedContext: { uri: 'https://b.example', title: 'B' } },
            ],
            groundingSupports: [
              { segment: { startIndex: 0, endIndex: 5, text: 'Grass' }, groundingChunkIndices: [0] },
            ],
          },
        },
      ],
    },
  ],
  'pages that were opened, and words looked for in one': [
    'responses',
    responsesBody([
      {
        id: 'ws_0123456789abcdef',
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'open_page', url: 'https://a.example/' },
      },
      {
        id: 'ws_1123456789abcdef',
        type: 'web_search_call',
        status: 'completed',
        action: { type: 'find_in_page', url: 'https://b.example/', pattern: 'green' },
      },
      message('Grass is green.'),
    ]),
  ],
  "a call of an MCP server, and a message's phase": [
    'responses',
    responsesBody([
      {
        type: 'mcp_list_tools',
        id: 'mcpl_0123456789abcdef',
        server_label: 'sums',
        tools: [{ name: 'add', input_schema: {} }],
      },
      {
        type: 'mcp_call',
        id: 'mcp_0123456789abcdef',
        server_label: 'sums',
        name: 'add',
        arguments: '{"a":1}',
        output: 'two',
        error: null,
        status: 'completed',
      },
      { ...message('Two.'), phase: 'final_answer' },
    ]),
  ],
  'a picture from another prompt': [
    'responses',
    responsesBody([
      {
        id: 'ig_0123456789abcdef',
        type: 'image_generation_call',
        status: 'completed',
        result: PNG,
        revised_prompt: 'A red fox.',
      },
    ]),
  ],
} as const satisfies Record<string, readonly [string, object]>;
type Special = keyof typeof ANSWERS;

interface Reported {
  readonly text: string;
  /** The header of a whole answer, and the paths in the record. */
  readonly header: string | null;
  readonly lost: readonly (Json | undefined)[];
}

async function ask(client: ClientProtocol, special: Special, isStreamed = false): Promise<Reported> {
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
  const lost = report.filter((entry) => String(at(entry, 'path')).startsWith('output'));
  return {
    text,
    header: response.headers.get('x-dragoman-report'),
    lost: lost.map((entry) => at(entry, 'path')),
  };
}

/** The streams of those answers that are asked for as one. */
function asStream(special: Special): string {
  const [model, body] = ANSWERS[special];
  if (model === 'responses') return responsesStream(list(body, 'output') as Record<string, Json>[]);
  if (special === 'a picture of Chat Completions')
    return (
      CHAT_OPENING + chatChunk({ images: [{ type: 'image_url', image_url: { url: PNG_URL } }] }) + CHAT_ENDING
    );
  return frame(body);
}

const NOTHING: readonly string[] = [];
/** Protocols of the clients, in the order in which the losses of each answer are listed. */
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
  // The query, and the page that nothing cites.
  'a search': [['output[0]'], NOTHING, NOTHING, NOTHING],
  'a grounded answer': [['output[0]'], NOTHING, NOTHING, NOTHING],
  'a page of a certain age, and the words that are cited': [
    ['output[2].annotations', 'output[0]'],
    ['output[1].page_age', 'output[2].annotations'],
    NOTHING,
    ['output[1].page_age', 'output[2].annotations'],
  ],
  'suggestions for a search, and pages that were read': [
    ['output[1]', 'output[2]', 'output[3].annotations', 'output[0]'],
    ['output[3].annotations'],
    ['output[1]', 'output[2]', 'output[3].annotations'],
    NOTHING,
  ],
  'grounding without words': [['output[1]', 'output'], ['output'], ['output'], NOTHING],
  'documents that were found, one of them uncited': [
    ['output[0].annotations'],
    ['output[0].annotations'],
    ['output[0].annotations'],
    NOTHING,
  ],
  'pages that were opened, and words looked for in one': [
    ['output[0]', 'output[1]'],
    NOTHING,
    ['output[0]', 'output[1]'],
    ['output[1].pattern'],
  ],
  "a call of an MCP server, and a message's phase": [
    ['output[0]', 'output[1]', 'output[2].phase'],
    NOTHING,
    ['output[0]', 'output[2].phase'],
    ['output[0]', 'output[1]', 'output[2].phase'],
  ],
  'a picture from another prompt': [
    ['output[0].revised_prompt'],
    NOTHING,
    ['output[0]'],
    ['output[0].revised_prompt'],
  ],
};

describe.each(Object.keys(ANSWERS) as Special[])('%s', (special) => {
  test.each(ORDER.map((client, place) => [client, LOST[special][place] ?? NOTHING] as const))(
    'to a client of %s loses %j',
    async (client, expected) => {
      const { header, lost } = await ask(client, special);
      expect(lost).toEqual([...expected]);
      const entries = (header ?? '').split(', ').filter((entry) => entry.startsWith('output'));
      expect(entries).toEqual(expected.map((path) => `${path}:dropped`));
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
    expect(images).toEqual([{ type: 'image_url', image_url: { url: PNG_URL } }]);

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
    'is rendered as text if the protocol has no other form (stream: %p)',
    async (isStreamed) => {
      const { text, lost } = await ask('anthropic-messages', special, isStreamed);
      const received = CLIENTS['anthropic-messages'].receive(isStreamed, text);
      expect(received).toMatchObject({ complete: true, error: null });
      expect(received.text).toContain('cannot be expressed in this protocol: a picture');
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
] as const)('%s gets an earlier picture as a text without its bytes', async (model, special) => {
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

describe.each([false, true])('pages that were read (stream: %p)', (isStreamed) => {
  test('are opened pages of an answer of Responses', async () => {
    const { text } = await ask(
      'openai-responses',
      'suggestions for a search, and pages that were read',
      isStreamed,
    );
    const answer = isStreamed ? completed(text) : (JSON.parse(text) as Json);
    const calls = list(answer, 'output').filter((item) => at(item, 'type') === 'web_search_call');
    expect(calls.map((call) => [at(call, 'status'), at(call, 'action')])).toMatchObject([
      ['completed', { type: 'search', query: 'grass' }],
      ['completed', { type: 'open_page', url: 'https://a.example' }],
      ['failed', { type: 'open_page', url: 'https://b.example' }],
    ]);
  });

  test('are the context of an answer of Gemini', async () => {
    const { text } = await ask('gemini', 'pages that were opened, and words looked for in one', isStreamed);
    const answer: unknown = isStreamed ? events(text).at(-1) : JSON.parse(text);
    expect(at(answer, 'candidates', 0, 'urlContextMetadata')).toEqual({
      urlMetadata: [
        { retrievedUrl: 'https://a.example/', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
        { retrievedUrl: 'https://b.example/', urlRetrievalStatus: 'URL_RETRIEVAL_STATUS_SUCCESS' },
      ],
    });
  });
});

describe.each([false, true])('two searches of Gemini (stream: %p)', (isStreamed) => {
  test('have ids of their own for a client of Messages, whose last block is the answer', async () => {
    const body = geminiBody({ text: 'Grass is green.' });
    const [candidate] = list(body, 'candidates');
    const grounded = {
      ...body,
      candidates: [{ ...(candidate as object), groundingMetadata: { webSearchQueries: ['grass', 'green'] } }],
    };
    const answers: (string | undefined)[] = [];
    for (const _turn of [1, 2]) {
      scene.upstream('up').script(isStreamed ? stream(frame(grounded)) : whole(grounded));
      const dialect = CLIENTS['anthropic-messages'];
      const asked = dialect.ask('one/gemini', isStreamed);
      const text = await (await scene.gateway.post('/messages', asked)).text();
      const blocks = isStreamed
        ? events(text).flatMap((event) => at(event, 'content_block') ?? [])
        : list(JSON.parse(text), 'content');
      const [first, found, second, foundNext, words] = blocks;
      expect(at(found, 'tool_use_id')).toBe(at(first, 'id') ?? 'none');
      expect(at(foundNext, 'tool_use_id')).toBe(at(second, 'id') ?? 'none');
      expect([at(words, 'type'), blocks.length]).toEqual(['text', 5]);
      answers.push(String(at(first, 'id')), String(at(second, 'id')));
    }
    expect(new Set(answers).size).toBe(4);
  });
});

test.each(ORDER)('tokens written to a cache are counted for a client of %s, or reported', async (client) => {
  const body = messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn');
  const usage = {
    input_tokens: 3,
    cache_creation_input_tokens: 70_707,
    cache_read_input_tokens: 0,
    output_tokens: 5,
  };
  scene.upstream('up').script(whole({ ...body, usage }));
  const dialect = CLIENTS[client];
  const given = dialect.ask('one/messages', false);
  const response = await scene.gateway.post(dialect.path('one/messages', false), given);
  const text = await response.text();
  const isReported = response.headers.get('x-dragoman-report')?.includes('usage.cache_writes:dropped');
  expect([isReported ?? false, text.includes('70707')]).toEqual([client === 'gemini', client !== 'gemini']);
});

test('a response that has other text does not mention what is lost', async () => {
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

test('a stream of Responses contains the commands of a shell call', async () => {
  const item = {
    id: 'sh_0123456789abcdef',
    type: 'shell_call',
    status: 'completed',
    call_id: 'call_1',
    action: { commands: ['ls', 'pwd'], timeout_ms: null, max_output_length: null },
    environment: null,
  };
  const answer = responsesBody([item]);
  const upstreams = [
    { type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress' } },
    { type: 'response.shell_call_command.added', output_index: 0, command_index: 0, command: '' },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: answer },
  ];
  const sent = upstreams.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  scene.upstream('up').script(stream(sent));
  const dialect = CLIENTS['openai-responses'];
  const response = await scene.gateway.post('/responses', dialect.ask('one/responses', true));
  const shown = events(await response.text()).filter((event) =>
    String(at(event, 'type')).startsWith('response.shell_call_command.'),
  );
  expect(shown).toMatchObject(
    ['ls', 'pwd'].flatMap((command, command_index) => [
      { type: 'response.shell_call_command.added', output_index: 0, command_index, command: '' },
      { type: 'response.shell_call_command.delta', output_index: 0, command_index, delta: command },
      { type: 'response.shell_call_command.done', output_index: 0, command_index, command },
    ]),
  );
});

test('the name of a schema becomes its title if the protocol has no field for it', async () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  for (const kind of ['messages', 'gemini'] as const)
    for (const [title, reported] of [
      [undefined, null],
      ['Person', null],
      ['Other', 'response_format.json_schema.name:defaulted'],
    ] as const) {
      const up = scene.upstream('up');
      const text = '{"a":"b"}';
      up.script(
        whole(kind === 'gemini' ? geminiBody({ text }) : messagesBody([{ type: 'text', text }], 'end_turn')),
      );
      const given = {
        name: 'Person',
        strict: true,
        schema: title === undefined ? schema : { ...schema, title },
      };
      const response = await scene.gateway.post('/chat/completions', {
        model: `one/${kind}`,
        messages: [{ role: 'user', content: 'Hi' }],
        response_format: { type: 'json_schema', json_schema: given },
      });
      expect(response.status).toBe(200);
      const sent = up.requests.at(-1)?.json;
      const written =
        kind === 'gemini'
          ? at(sent, 'generationConfig', 'responseJsonSchema')
          : at(sent, 'output_config', 'format', 'schema');
      expect(at(written, 'title')).toBe(title ?? 'Person');
      expect(response.headers.get('x-dragoman-report')).toBe(reported);
    }
});
