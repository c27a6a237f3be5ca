// The same answer in every form that HTTP and server-sent events allow: the client must see no difference.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  chatBody,
  chatStream,
  messagesBody,
  messagesStream,
  opened,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import {
  frames,
  recordOf,
  startScene,
  streamedText,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { RawClient } from '../../support/upstreams/raw-client.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const SAID = 'Grüße, 世界 🧭!';
const MESSAGES = [{ role: 'user', content: 'Hello' }];
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const each = (data: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(data.length / size) }, (_, index) =>
    data.subarray(index * size, (index + 1) * size),
  );

const scenes: { relay?: Scene; translate?: Scene } = {};
beforeAll(async () => {
  [scenes.relay, scenes.translate] = await Promise.all([
    startScene(['up'], { faithful: true }),
    startScene(['up']),
  ]);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

function sceneOf(lane: 'relay' | 'translate'): Scene {
  const scene = scenes[lane];
  if (!scene) throw new Error('no scene');
  return scene;
}

/** Streams as they may arrive, from the text that LF and one piece would be. */
const forms: Record<string, (text: string) => Answer> = {
  'one piece': (text) => sse(text),
  'every byte alone': (text) => sse(each(bytes(text), 1)),
  'three bytes at a time': (text) => sse(each(bytes(text), 3)),
  CRLF: (text) => sse(text.replaceAll('\n', '\r\n')),
  'CRLF, every byte alone': (text) => sse(each(bytes(text.replaceAll('\n', '\r\n')), 1)),
  CR: (text) => sse(text.replaceAll('\n', '\r')),
  'a byte order mark': (text) => sse(`\uFEFF${text}`),
  'comments and other fields': (text) =>
    sse(`: hello\n\nretry: 10\n\n${text.replaceAll('data: ', ': ping\nid: 7\ndata: ')}`),
  'no space after the colon': (text) =>
    sse(text.replaceAll('data: ', 'data:').replaceAll('event: ', 'event:')),
  'data in several lines': (text) => sse(text.replaceAll(/^(data: \{.*?,)/gm, '$1\ndata: ')),
  'no blank line at the end': (text) => sse(text.trimEnd()),
  gzip: (text) => sse([gzipSync(text)], { 'content-encoding': 'gzip' }),
  'gzip, every byte alone': (text) => sse(each(gzipSync(text), 1), { 'content-encoding': 'gzip' }),
  brotli: (text) => sse([brotliCompressSync(text)], { 'content-encoding': 'br' }),
  deflate: (text) => sse([deflateSync(text)], { 'content-encoding': 'deflate' }),
  'a content type with parameters': (text) =>
    sse(text, { 'content-type': 'text/event-stream; charset=utf-8' }),
  'chunk extensions and a trailer': (text) => (exchange) => {
    exchange.openStream();
    const data = bytes(text);
    exchange.raw(`${data.length.toString(16).toUpperCase()};a=b\r\n${text}\r\n0\r\nx-sum: 1\r\n\r\n`);
  },
  'until the connection closes': (text) => (exchange) => {
    exchange.head(200, { 'content-type': 'text/event-stream', connection: 'close' });
    exchange.raw(text);
    exchange.close();
  },
  'with an interim response': (text) => (exchange) => {
    exchange.raw('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
    sse(text)(exchange);
  },
};

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  test.each(Object.keys(forms))('reads a stream in the form: %s', async (name) => {
    const scene = sceneOf(lane);
    const form = forms[name];
    if (!form) throw new Error('no such form');
    scene.upstream('up').script(form(chatStream(...SAID)));
    const body = {
      model: 'one/chat',
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
    };
    const response = await scene.gateway.post('/chat/completions', body);
    expect(response.headers.get('x-dragoman-lane')).toBe(lane);
    const text = await response.text();
    expect(streamedText(text)).toBe(SAID);
    expect(frames(text).at(-1)).toBe('[DONE]');
    expect(at(frames(text).at(-2), 'usage', 'total_tokens')).toBe(15);
    expect(at(await recordOf(scene.gateway, response), 'nativeTokens', 'total_tokens')).toBe(15);
  });

  const whole200: Record<string, Answer> = {
    plain: whole(chatBody(SAID)),
    gzip: compressed('gzip', gzipSync),
    brotli: compressed('br', brotliCompressSync),
    deflate: compressed('deflate', deflateSync),
    'spread out': whole(JSON.stringify(chatBody(SAID), null, 2)),
    'escaped characters': whole(
      JSON.stringify(chatBody(SAID)).replaceAll(
        /[\u0080-\uffff]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      ),
    ),
    'chunked, every byte alone': (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' });
      for (const byte of each(bytes(JSON.stringify(chatBody(SAID))), 1)) exchange.chunk(byte);
      exchange.endStream();
    },
    'until the connection closes': (exchange) => {
      exchange.head(200, { 'content-type': 'application/json', connection: 'close' });
      exchange.raw(JSON.stringify(chatBody(SAID)));
      exchange.close();
    },
  };
  test.each(Object.keys(whole200))('reads a whole response in the form: %s', async (name) => {
    const scene = sceneOf(lane);
    scene.upstream('up').script(whole200[name] ?? whole(''));
    const response = await scene.gateway.post('/chat/completions', { model: 'one/chat', messages: MESSAGES });
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(SAID);
  });

  test('damaged compression is an error', async () => {
    const scene = sceneOf(lane);
    const damaged = gzipSync(JSON.stringify(chatBody(SAID))).subarray(0, 40);
    scene.upstream('up').always((exchange) => {
      exchange.head(200, {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'content-length': '40',
      });
      exchange.raw(damaged);
    });
    const response = await scene.gateway.post('/chat/completions', { model: 'one/chat', messages: MESSAGES });
    expect(response.status).toBe(502);
    await response.text();
  });

  test('a connection that the upstream closed while it was idle is replaced unseen', async () => {
    const scene = sceneOf(lane);
    const up = scene.upstream('up');
    const before = up.connections;
    const ask = async (): Promise<void> => {
      up.script(whole(chatBody(SAID)));
      const response = await scene.gateway.post('/chat/completions', {
        model: 'one/chat',
        messages: MESSAGES,
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-dragoman-attempts')).toBe('1');
      await response.text();
    };
    await ask();
    await ask();
    expect(up.connections - before).toBeLessThanOrEqual(1);
    await up.dropConnections();
    await ask();
    // Closed at the very moment in which the next request is on its way.
    up.script((exchange) => exchange.cut(), whole(chatBody(SAID)));
    const response = await scene.gateway.post('/chat/completions', { model: 'one/chat', messages: MESSAGES });
    expect(response.status).toBe(200);
    // It may have been received: it is an attempt of its own.
    expect(response.headers.get('x-dragoman-attempts')).toBe('2');
    await response.text();
  });

  test('a thousand streams run at the same time', async () => {
    const scene = sceneOf(lane);
    const up = scene.upstream('up');
    const [opening = '', ...rest] = chatStream('a', 'b').split(/(?<="a"}.*\n\n)/);
    up.always(opened(opening));
    const body = { model: 'one/chat', messages: MESSAGES, stream: true };
    const clients = Array.from({ length: 1000 }, () => new RawClient(scene.gateway.origin, body));
    await Promise.all(clients.map((client) => client.until('"a"')));
    // Nobody's answer has ended yet: each of them has an upstream connection of its own.
    expect(up.requests).toHaveLength(1000);
    for (const exchange of up.exchanges) {
      exchange.chunk(rest.join(''));
      exchange.endStream();
    }
    await Promise.all(clients.map((client) => client.until('data: [DONE]')));
    for (const client of clients) client.close();
  });
});

function compressed(coding: string, compress: (text: string) => Uint8Array): Answer {
  return (exchange) => {
    const data = compress(JSON.stringify(chatBody(SAID)));
    exchange.head(200, {
      'content-type': 'application/json',
      'content-encoding': coding,
      'content-length': String(data.length),
    });
    exchange.raw(data);
  };
}

describe('Messages', () => {
  const content = [{ type: 'text', text: SAID }];
  test.each(Object.keys(forms))('reads a stream in the form: %s', async (name) => {
    const scene = sceneOf('translate');
    scene.upstream('up').script(forms[name]?.(messagesStream(content, 'end_turn')) ?? sse(''));
    const response = await scene.gateway.post('/chat/completions', {
      model: 'one/messages',
      messages: MESSAGES,
      stream: true,
    });
    const text = await response.text();
    expect(streamedText(text)).toBe(SAID);
    expect(frames(text).at(-1)).toBe('[DONE]');
  });

  test('reads a whole response', async () => {
    const scene = sceneOf('translate');
    scene.upstream('up').script(whole(messagesBody(content, 'end_turn')));
    const response = await scene.gateway.post('/chat/completions', {
      model: 'one/messages',
      messages: MESSAGES,
    });
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(SAID);
  });
});
