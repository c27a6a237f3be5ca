// Addresses of sources as clients get them: URIs, whatever characters an upstream writes into them.
import { afterAll, describe, expect, test } from 'bun:test';
import { citationUri } from '../../../src/protocols/content/citation-address.ts';
import { chatBody, responsesBody, stream, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS } from '../../support/upstreams/client-dialects.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const ADDRESS = 'https://maps.example/a place/Zürich?q="x|y"#[1]';
const URI = 'https://maps.example/a%20place/Z%C3%BCrich?q=%22x%7Cy%22#%5B1%5D';

const gemini = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text: 'Here.' }] },
      finishReason: 'STOP',
      index: 0,
      groundingMetadata: {
        webSearchQueries: ['where'],
        groundingChunks: [{ web: { uri: ADDRESS, title: 'A place' } }],
        groundingSupports: [{ segment: { endIndex: 5, text: 'Here.' }, groundingChunkIndices: [0] }],
      },
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 5, totalTokenCount: 8 },
};
const citation = { type: 'url_citation', url: ADDRESS, title: 'A place', start_index: 0, end_index: 5 };
const ANSWERS = {
  gemini,
  chat: chatBody({ content: 'Here.', annotations: [{ type: 'url_citation', url_citation: citation }] }),
  responses: responsesBody([
    {
      id: 'msg_0123456789abcdef',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Here.', annotations: [citation], logprobs: [] }],
    },
  ]),
} as const;

describe.each(Object.entries(ANSWERS))('a citation of %s', (upstream, body) => {
  test.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('is a URI for a client of %s', async (name) => {
    const { path, ask } = CLIENTS[name];
    for (const streamed of [false, true]) {
      if (streamed && upstream !== 'gemini') continue;
      const answer = streamed ? stream(`data: ${JSON.stringify(body)}\r\n\r\n`) : whole(body);
      scene.upstream('up').script(answer);
      const response = await scene.gateway.post(
        path(`one/${upstream}`, streamed),
        ask(`one/${upstream}`, streamed),
      );
      expect(response.status).toBe(200);
      const text = await response.text();
      // Google's own form of its own answer stays as Google wrote it.
      if (!(name === 'gemini' && upstream === 'gemini')) {
        expect(text).toContain(URI);
        expect(text).not.toContain('a place/');
      }
    }
  });
});

test.each([
  ['https://a.example/b?c=d&e=%20f#g', 'https://a.example/b?c=d&e=%20f#g'],
  ['https://[::1]:8080/a[0]', 'https://[::1]:8080/a%5B0%5D'],
  ['https://a.example/100%', 'https://a.example/100%25'],
  ['gs://bucket/Ein Bericht 🦊.pdf', 'gs://bucket/Ein%20Bericht%20%F0%9F%A6%8A.pdf'],
  ['a\nb<c>\\d^e`f{g}', 'a%0Ab%3Cc%3E%5Cd%5Ee%60f%7Bg%7D'],
  ['', ''],
])('%p is %p', (address, uri) => {
  expect(citationUri(address)).toBe(uri);
});
