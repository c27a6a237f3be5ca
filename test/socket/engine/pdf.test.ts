// PDFs and texts on their way to upstreams that take no files: what the upstream is sent, what the client is told, and
// what files that cannot be read, or were made to do harm, lead to.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { Report, type CanonicalRequest, type FilePart, type Item } from '../../../src/canonical/index.ts';
import type { Endpoint } from '../../../src/catalog/index.ts';
import { pdfText } from '../../../src/engine/documents/pdf-text.ts';
import { readDocuments, type ReadDocuments } from '../../../src/engine/media/read-documents.ts';
import { partsOf } from '../../../src/engine/media/item-parts.ts';
import { TEST_KEY } from '../../support/harness.ts';
import { pdfOf } from '../../support/pdf-file.ts';
import { rejection } from '../../support/rejection.ts';
import { shareOf } from '../../support/share.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { dialect, UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { startScene, UPSTREAM_KEY, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { PNG, PNG_URL } from '../../support/images.ts';

const PAPER = pdfOf(['First page\nof two lines', 'Second page']);
const PAGES = ['[paper.pdf, page 1 of 2]\nFirst page\nof two lines', '[paper.pdf, page 2 of 2]\nSecond page'];
/** A PDF that takes seconds to read. */
const SLOW = pdfOf(['x'], { times: 2_000_000 });

let scene: Scene;
/** Takes no files over any protocol. */
let plain: ScriptedUpstream;
let other: ScriptedUpstream;
let site: ScriptedUpstream;
let client: OpenAI;

beforeAll(async () => {
  [plain, other, site] = await Promise.all([startUpstream(), startUpstream(), startUpstream()]);
  const taking = { reads_files: false };
  const provider = ({ origin }: ScriptedUpstream): object => ({
    api_key: UPSTREAM_KEY,
    protocols: {
      'openai-chat': { base_url: `${origin}/v1`, quirks: taking },
      'openai-responses': { base_url: `${origin}/v1`, quirks: taking },
      'anthropic-messages': { base_url: origin, quirks: taking },
      gemini: { base_url: `${origin}/v1beta`, quirks: taking },
    },
  });
  const over = (name: string, protocol: string): object => ({ provider: name, model: 'm', protocol });
  scene = await startScene(['up'], {
    config: {
      files: { max_mb: 4 },
      routing: { retries: 0 },
      fetch: { allow: [new URL(site.origin).host] },
      providers: { plain: provider(plain), other: provider(other) },
      models: [
        ...UPSTREAM_PROTOCOLS.map((protocol) => ({
          id: `plain/${protocol}`,
          max_output_tokens: 1000,
          endpoints: [over('plain', protocol)],
        })),
        { id: 'two/plain', endpoints: [over('plain', 'openai-chat'), over('other', 'openai-chat')] },
        { id: 'two/mixed', endpoints: [over('plain', 'openai-chat'), over('up', 'openai-chat')] },
      ],
    },
  });
  client = new OpenAI({ apiKey: TEST_KEY, baseURL: scene.gateway.baseURL, maxRetries: 0 });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await Promise.all([plain.stop(), other.stop(), site.stop()]);
});

/** Somebody waits to the end. */
function forEver(): AbortSignal {
  return new AbortController().signal;
}

function answering(protocol: UpstreamProtocol, upstream = plain): ScriptedUpstream {
  upstream.always(whole(dialect(protocol, 'm').whole('ok')));
  return upstream;
}

/** The texts of the last message that an upstream was sent. */
function textsSent(protocol: UpstreamProtocol, body: unknown): unknown {
  const parts =
    protocol === 'gemini'
      ? at(body, 'contents', 0, 'parts')
      : at(body, protocol === 'openai-responses' ? 'input' : 'messages', 0, 'content');
  return (parts as unknown as { text: string }[]).map((part) => part.text);
}

function dataUrl(bytes: Buffer, type = 'application/pdf'): string {
  return `data:${type};base64,${bytes.toString('base64')}`;
}

function file(bytes: Buffer, filename = 'paper.pdf', type?: string): object {
  return { type: 'file', file: { file_data: dataUrl(bytes, type), filename } };
}

/** Asks over Chat Completions. */
function chat(model: string, content: readonly object[], headers = {}): Promise<Response> {
  return scene.gateway.post('/chat/completions', { model, messages: [{ role: 'user', content }] }, headers);
}

interface Failure {
  readonly error: { readonly message: string; readonly param: string; readonly code: string };
}

async function failureOf(response: Response, status = 400): Promise<Failure['error']> {
  const body = (await response.json()) as Failure;
  expect([response.status, body.error]).toEqual([status, body.error]);
  return body.error;
}

describe.each(shareOf(UPSTREAM_PROTOCOLS).map((protocol) => [protocol]))(
  'a PDF reaches %s as text',
  (protocol) => {
    const model = `plain/${protocol}`;

    test('from Chat Completions', async () => {
      const upstream = answering(protocol);
      const response = await chat(model, [{ type: 'text', text: 'What?' }, file(PAPER)]);
      expect(response.status).toBe(200);
      expect(textsSent(protocol, upstream.requests[0]?.json)).toEqual(['What?', ...PAGES]);
      expect(response.headers.get('x-dragoman-report')).toContain('messages[0].content[1]:approximated');
    });

    test('from Responses, by the id of an upload', async () => {
      const upstream = answering(protocol);
      const upload = await client.files.create({
        file: await toFile(PAPER, 'paper.pdf'),
        purpose: 'user_data',
      });
      const response = await scene.gateway.post('/responses', {
        model,
        input: [{ role: 'user', content: [{ type: 'input_file', file_id: upload.id }] }],
      });
      expect(response.status).toBe(200);
      expect(textsSent(protocol, upstream.requests[0]?.json)).toEqual(PAGES);
      expect(response.headers.get('x-dragoman-report')).toContain('input[0].content[0]:approximated');
    });

    test('from Messages, by its address', async () => {
      const upstream = answering(protocol);
      site.script((exchange) => {
        exchange.head(200, { 'content-type': 'application/pdf', 'content-length': String(PAPER.length) });
        exchange.raw(PAPER);
      });
      const response = await scene.gateway.post('/messages', {
        model,
        max_tokens: 10,
        messages: [
          {
            role: 'user',
            content: [{ type: 'document', source: { type: 'url', url: `${site.origin}/paper.pdf` } }],
          },
        ],
      });
      expect(response.status).toBe(200);
      expect(textsSent(protocol, upstream.requests[0]?.json)).toEqual(PAGES);
    });

    test('from Gemini', async () => {
      const upstream = answering(protocol);
      const response = await fetch(`${scene.gateway.origin}/v1beta/models/${model}:generateContent`, {
        method: 'POST',
        headers: { 'x-goog-api-key': TEST_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          contents: [
            {
              role: 'user',
              parts: [{ inlineData: { mimeType: 'application/pdf', data: PAPER.toString('base64') } }],
            },
          ],
        }),
      });
      expect(response.status).toBe(200);
      expect(textsSent(protocol, upstream.requests[0]?.json)).toEqual([
        '[file.pdf, page 1 of 2]\nFirst page\nof two lines',
        '[file.pdf, page 2 of 2]\nSecond page',
      ]);
    });
  },
);

describe('to an upstream that takes no files', () => {
  test('texts go as text, and pictures as pictures', async () => {
    const upstream = answering('openai-chat');
    const response = await chat('plain/openai-chat', [
      file(Buffer.from('a,b\n1,2'), 'table.csv', 'text/csv'),
      file(Buffer.from('{"a":"ü"}'), 'facts.json', 'application/json'),
      { type: 'file', file: { file_data: Buffer.from('# Title').toString('base64'), filename: 'notes.md' } },
      file(Buffer.from(PNG, 'base64'), 'dot.png', 'image/png'),
    ]);
    expect(response.status).toBe(200);
    expect(at(upstream.requests[0]?.json, 'messages', 0, 'content')).toEqual([
      { type: 'text', text: '[table.csv]\na,b\n1,2' },
      { type: 'text', text: '[facts.json]\n{"a":"ü"}' },
      { type: 'text', text: '[notes.md]\n# Title' },
      { type: 'image_url', image_url: { url: PNG_URL } },
    ] as never);
    expect(response.headers.get('x-dragoman-report')).toBe(
      [0, 1, 2].map((index) => `messages[0].content[${index}]:approximated`).join(', '),
    );
  });

  test.each([
    [
      'a sheet',
      Buffer.from('PK\u0003\u0004'),
      'a.xlsx',
      'application/vnd.ms-excel',
      'application/vnd.ms-excel',
    ],
    ['bytes that are declared as text', Buffer.from([0x66, 0xff, 0xfe]), 'a.txt', 'text/plain', 'UTF-8'],
    [
      'a PDF with a password',
      pdfOf(['Secret'], { isEncrypted: true }),
      'a.pdf',
      'application/pdf',
      'encrypted',
    ],
    ['a scan', pdfOf(['', ''], { isScan: true }), 'a.pdf', 'application/pdf', 'no text'],
    ['half a PDF', PAPER.subarray(0, 40), 'a.pdf', 'application/pdf', 'corrupt'],
    ['something else by the name of a PDF', Buffer.from('no'), 'a.pdf', 'application/pdf', 'corrupt'],
    [
      'a PDF of too many pages',
      pdfOf(Array.from({ length: 501 }, () => 'x')),
      'a.pdf',
      'application/pdf',
      '501 pages',
    ],
    [
      'a PDF of too much text',
      // 51 lines of 203 letters are within a page; the rest is not read.
      pdfOf(
        Array.from({ length: 200 }, () => 'i'.repeat(204)),
        { times: 51 },
      ),
      'a.pdf',
      'application/pdf',
      'too long',
    ],
  ] as const)('%s is refused by name', async (_, bytes, filename, type, reason) => {
    const upstream = answering('openai-chat');
    const error = await failureOf(
      await chat('plain/openai-chat', [{ type: 'text', text: 'What?' }, file(bytes, filename, type)]),
    );
    expect(error.param).toBe('messages[0].content[1]');
    expect(error.message).toContain(reason);
    expect(upstream.requests).toEqual([]);
  });

  test('a text that unfolds into gigabytes ends alone, while others are served', async () => {
    answering('openai-chat');
    const bomb = pdfOf([' '.repeat(1000)], { times: 400_000 });
    expect(bomb.length).toBeLessThan(2_000_000);
    const order: string[] = [];
    const hostile = chat('plain/openai-chat', [file(bomb)]).then((response) => {
      order.push('hostile');
      return response;
    });
    const honest = await chat('plain/openai-chat', [{ type: 'text', text: 'Hello?' }]);
    order.push('honest');
    expect(honest.status).toBe(200);
    const error = await failureOf(await hostile);
    expect(error).toMatchObject({ param: 'messages[0].content[0]', code: 'pdf_not_readable' });
    expect(order).toEqual(['honest', 'hostile']);
  });

  describe('when the request has been cancelled', () => {
    const parts = ['One', 'Two', 'Three'].map((text): FilePart => {
      const media = { kind: 'base64', data: pdfOf([text]).toString('base64'), mediaType: undefined } as const;
      return { type: 'file', media, filename: `${text}.pdf` };
    });
    const items = [{ type: 'message', role: 'user', parts }];
    const request = { items, report: new Report() } as unknown as CanonicalRequest;
    const plainly = { slug: 'plain' } as Endpoint;

    test('the reading of PDFs stops', async () => {
      const known: ReadDocuments = new Map();
      const abort = new AbortController();
      const reading = rejection(readDocuments(request, plainly, known, abort.signal));
      expect(known.size).toBe(1);
      abort.abort();
      expect(await reading).toMatchObject({ kind: 'cancelled' });
      expect(known.size).toBe(0);
    });

    test('another endpoint still gets the same PDFs', async () => {
      const known: ReadDocuments = new Map();
      const abort = new AbortController();
      const left = rejection(readDocuments(request, plainly, known, abort.signal));
      const other = readDocuments(request, plainly, known, forEver());
      abort.abort();
      expect(await left).toMatchObject({ kind: 'cancelled' });
      expect(partsOf((await other).items[0] as Item)).toMatchObject([
        { text: '[One.pdf, page 1 of 1]\nOne' },
        { text: '[Two.pdf, page 1 of 1]\nTwo' },
        { text: '[Three.pdf, page 1 of 1]\nThree' },
      ]);
    });
  });

  test('a client that leaves frees the places of its PDFs', async () => {
    const upstream = answering('openai-chat');
    const abort = new AbortController();
    const left = [1, 2, 3].map(() =>
      rejection(
        client.chat.completions.create(
          { model: 'plain/openai-chat', messages: [{ role: 'user', content: [file(SLOW)] }] } as never,
          { signal: abort.signal },
        ),
      ),
    );
    expect((await chat('plain/openai-chat', [{ type: 'text', text: 'Hello?' }])).status).toBe(200);
    abort.abort();
    await Promise.all(left);
    // Sooner than one of them would have been given up.
    expect((await chat('plain/openai-chat', [file(PAPER)])).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
  });

  test('strict mode refuses the approximation', async () => {
    const upstream = answering('openai-chat');
    const error = await failureOf(
      await chat('plain/openai-chat', [file(PAPER)], { 'x-dragoman-strict': 'true' }),
    );
    expect(error).toMatchObject({ code: 'strict_mode', param: 'messages[0].content[0]' });
    expect(upstream.requests).toEqual([]);
  });

  test('the next one gets the same text', async () => {
    plain.always(dialect('openai-chat', 'm').error(500));
    const upstream = answering('openai-chat', other);
    expect((await chat('two/plain', [file(PAPER)])).status).toBe(200);
    expect(textsSent('openai-chat', plain.requests.at(-1)?.json)).toEqual(PAGES);
    expect(textsSent('openai-chat', upstream.requests[0]?.json)).toEqual(PAGES);
  });

  test('a PDF that cannot become text is sent unchanged to an endpoint that accepts files', async () => {
    const asked = answering('openai-chat').requests.length;
    const upstream = answering('openai-chat', scene.upstream('up'));
    const scan = pdfOf([''], { isScan: true });
    const response = await chat('two/mixed', [file(scan)]);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toBeNull();
    expect(at(upstream.requests.at(-1)?.json, 'messages', 0, 'content')).toEqual([file(scan)] as never);
    expect(plain.requests.length).toBe(asked);
  });
});

describe('one PDF', () => {
  test('is refused if reading it takes too long or too much memory', async () => {
    const within = (limits: { timeoutMs: number; maxMemoryBytes: number }): Promise<unknown> =>
      rejection(pdfText(SLOW, forEver(), limits));
    expect(await within({ timeoutMs: 1, maxMemoryBytes: 1e12 })).toMatchObject({
      kind: 'unsupported',
      message: 'The text of this PDF cannot be extracted: reading it takes longer than 0.001 seconds.',
    });
    if (process.platform === 'linux')
      expect(await within({ timeoutMs: 60_000, maxMemoryBytes: 1 })).toMatchObject({
        message: 'The text of this PDF cannot be extracted: reading it takes too much memory.',
      });
  });

  test('waits for its turn, and many are read in the end', async () => {
    const all = await Promise.all(
      Array.from({ length: 3 }, (_, index) => pdfText(pdfOf([`This is ${index}`, '']), forEver())),
    );
    expect(all).toEqual(Array.from({ length: 3 }, (_, index) => [`This is ${index}`, '']));
  });

  test('does not wait for all PDFs of an earlier request', async () => {
    const order: string[] = [];
    const read = async (who: string, signal: AbortSignal): Promise<void> => {
      await pdfText(pdfOf([who]), signal);
      order.push(who);
    };
    const greedy = forEver();
    const all = Array.from({ length: 5 }, () => read('greedy', greedy));
    await Promise.all([...all, read('modest', forEver())]);
    // Two are being read when it comes, and one more may go first.
    expect(order.indexOf('modest')).toBeLessThan(5);
  });

  test('is read although another request has used all places, and that request gets an error', async () => {
    const abort = new AbortController();
    const greedy = Array.from({ length: 53 }, () => rejection(pdfText(SLOW, abort.signal)));
    // Two are read and fifty wait.
    expect(await greedy[52]).toMatchObject({ kind: 'rate_limited', fault: 'gateway', retryAfterMs: 1000 });
    const modest = pdfText(pdfOf(['modest']), forEver());
    expect(await greedy[51]).toMatchObject({ kind: 'rate_limited' });
    // A client that leaves frees all its places, also those of what is being read.
    abort.abort();
    expect(await modest).toEqual(['modest']);
    for (const each of greedy.slice(0, 51)) expect(await each).toMatchObject({ kind: 'cancelled' });
    expect(await rejection(pdfText(SLOW, abort.signal))).toMatchObject({ kind: 'cancelled' });
    expect(await pdfText(pdfOf(['next']), forEver())).toEqual(['next']);
  });
});
