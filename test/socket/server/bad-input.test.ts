// Bodies that are not a request: every one gets an answer that a person can act on, in OpenAI's shape, over a real
// socket. Wrong values of single fields are in bad-input-fields.test.ts, everything around the body in
// bad-input-http.test.ts.
import { afterAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { readCompletion, readError } from '../../support/chat-shape.ts';
import { BEST_OF_THREE } from '../../support/growth.ts';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { jsonRequest, type RawAnswer, sendRaw } from '../../support/raw-request.ts';

const MB = 1024 * 1024;
const QUESTION = { model: 'sim/echo', messages: [{ role: 'user', content: 'hello' }] };

const gateway = await startGateway();
afterAll(async () => {
  expect(gateway.logLines.filter((line) => line.includes('"error"'))).toEqual([]);
  await gateway.close();
});

const send = (body: string | Uint8Array, headers: readonly string[] = []): Promise<RawAnswer> =>
  sendRaw(gateway.origin, jsonRequest(TEST_KEY, body, headers));

async function refusal(body: string | Uint8Array): Promise<ReturnType<typeof readError>> {
  const answer = await send(body);
  expect(answer.status).toBe(400);
  expect(answer.headers.get('content-type')).toStartWith('application/json');
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  return readError(answer.text);
}

describe('a body that is no JSON object', () => {
  test('none at all', async () => {
    const error = await refusal('');
    expect(error.message).toContain('no body');
  });

  test('neither length nor body', async () => {
    const answer = await sendRaw(gateway.origin, { headers: [`authorization: Bearer ${TEST_KEY}`] });
    expect(answer.status).toBe(400);
    expect(readError(answer.text).message).toContain('no body');
  });

  test.each([
    'hello',
    '{"model": "sim/echo", ',
    '{"model": "sim/echo"}}',
    "{'model': 'sim/echo'}",
    '{"model": NaN}',
    '{"model": undefined}',
    '{"temperature": 01}',
    '{"temperature": +1}',
    '{"messages": [1,]}',
    '// comment\n{}',
    '\u0000',
    ' ',
    'model=sim/echo&stream=true',
    '{"a": "\n"}',
  ])('not JSON: %j', async (body) => {
    const error = await refusal(body);
    expect(error.message).toContain('not valid JSON');
    expect(error.param).toBeNull();
  });

  test.each(['[]', '"text"', '42', 'null', 'true', '-0', '[{"model":"sim/echo"}]'])(
    'JSON of another type: %s',
    async (body) => {
      const error = await refusal(body);
      expect(error.message).toContain('must be a JSON object');
    },
  );

  test('the error for an empty object lists the missing members', async () => {
    const error = await refusal('{}');
    expect(error.param).toBe('model');
    expect(error.message).toContain('messages');
  });

  test('invalid UTF-8', async () => {
    const text = JSON.stringify(QUESTION);
    const body = Buffer.from(text.replace('hello', 'h\u00ffllo'), 'latin1');
    expect((await refusal(body)).message).toContain('UTF-8');
  });

  test('UTF-16', async () => {
    expect((await refusal(Buffer.from(JSON.stringify(QUESTION), 'utf16le'))).message).toContain('not valid');
  });

  test('a byte order mark is tolerated or named, never a mystery', async () => {
    const answer = await send(`\ufeff${JSON.stringify(QUESTION)}`);
    if (answer.status === 200) readCompletion(answer.text);
    else expect(readError(answer.text).message).toContain('JSON');
  });
});

describe('text that is not valid UTF-8', () => {
  test.each([
    [
      'a message',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a\\ud800b"}]}',
      'messages[0].content',
    ],
    [
      'an unknown field',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"mine":{"deep":["\\udc00"]}}',
      'mine.deep[0]',
    ],
  ])('a lone surrogate in %s', async (_, body, param) => {
    const error = await refusal(body);
    expect(error.message).toContain('lone surrogate');
    expect(error.param).toBe(param);
  });

  test('a lone surrogate in the name of a member', async () => {
    const error = await refusal(
      '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"metadata":{"\\ud800":"a"}}',
    );
    expect(error.message).toContain('lone surrogate');
  });

  test('proper pairs arrive as they were sent', async () => {
    const answer = await send(
      '{"model":"sim/echo","messages":[{"role":"user","content":"\\ud83d\\ude00 \\u0000 \\u007f é 漢"}]}',
    );
    expect(answer.status).toBe(200);
    const { choices } = readCompletion(answer.text) as unknown as {
      choices: [{ message: { content: string } }];
    };
    expect(choices[0].message.content).toBe('😀 \u0000 \u007f é 漢');
  });
});

describe('hostile structures', () => {
  const before = '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"mine":';

  test.each([
    ['arrays', '['.repeat(10_000) + ']'.repeat(10_000)],
    ['objects', '{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000)],
    ['arrays a million deep', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
    ['arrays that are never closed', '['.repeat(1_000_000)],
  ])('nesting of 10,000 levels and more is refused: %s', async (_, value) => {
    const answer = await send(`${before}${value}}`);
    expect(answer.status).toBe(400);
    const error = readError(answer.text);
    expect(error.message).toMatch(/nested|not valid JSON/);
    expect(error.message.length).toBeLessThan(1000);
  });

  test('nesting that real schemas have is fine', async () => {
    const answer = await send(`${before}${'['.repeat(60)}${']'.repeat(60)}}`);
    expect(answer.status).not.toBe(500);
    expect(answer.text).not.toContain('nested');
  });

  test.each([
    [
      'the body',
      '{"__proto__":{"stream":true},"model":"sim/echo","messages":[{"role":"user","content":"a"}]}',
    ],
    [
      'a message',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a","__proto__":{"role":"system"}}]}',
    ],
    [
      'a part',
      '{"model":"sim/echo","messages":[{"role":"user","content":[{"type":"text","text":"a","__proto__":null}]}]}',
    ],
    [
      'the metadata',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"metadata":{"__proto__":"a"}}',
    ],
    [
      'a schema',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"__proto__":{"type":"string"}}}}}]}',
    ],
    [
      'an escaped name',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"\\u005f_proto__":{"polluted":true}}',
    ],
  ])('__proto__ in %s changes nothing', async (_, body) => {
    const error = await refusal(body);
    expect(error.param).toEndWith('__proto__');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  test.each(['constructor', 'prototype', 'toString', 'hasOwnProperty', 'then', 'toJSON'])(
    'the name %s is nothing special',
    async (name) => {
      const body = {
        ...QUESTION,
        model: 'sim/messages',
        metadata: { [name]: 'a' },
        [name]: { [name]: 'a' },
        logit_bias: { 1: 1 },
        tools: [
          {
            type: 'function',
            function: { name, parameters: { type: 'object', properties: { [name]: { type: 'string' } } } },
          },
        ],
        tool_choice: { type: 'function', function: { name } },
      };
      const answer = await send(JSON.stringify(body));
      expect(answer.status).toBe(200);
      readCompletion(answer.text);
    },
  );

  test.each([
    ['in the body', '{"model":"sim/echo","messages":[],"model":"sim/chat"}', 'model'],
    ['escaped in the body', '{"model":"sim/echo","messages":[],"\\u006dodel":"sim/chat"}', 'model'],
    ['with the same value', '{"model":"sim/echo","messages":[],"model":"sim/echo"}', 'model'],
    [
      'in a message',
      '{"model":"sim/echo","messages":[{"role":"user","content":"a","role":"system"}]}',
      'messages[0].role',
    ],
    ['in an unknown member', `${before}[0,{"é":{"漢":1,"\\u6f22":2}}]}`, 'mine[1].é.漢'],
    [
      'among a thousand',
      `${before}{${Array.from({ length: 1000 }, (_, index) => `"k${index}":0`).join()},"k7":1}}`,
      'mine.k7',
    ],
  ])('a duplicate member is refused %s', async (_, body, param) => {
    const error = await refusal(body);
    expect(error.message).toContain('duplicate member');
    expect(error.param).toBe(param);
  });

  test(
    'eight bodies of 30 MB of brackets at once cost neither time nor memory',
    async () => {
      const body = Buffer.alloc(30 * MB, '[');
      const held = process.memoryUsage.rss();
      const spent = process.cpuUsage();
      const errors = await Promise.all(Array.from({ length: 8 }, () => refusal(body)));
      for (const error of errors) expect(error.message).toContain('nested more than 128 levels');
      const { user } = process.cpuUsage(spent);
      expect(user / 1000).toBeLessThan(1500);
      expect(process.memoryUsage.rss() - held).toBeLessThan(1024 * MB);
    },
    BEST_OF_THREE,
  );

  test('more members in one object than a parser is quick with', async () => {
    const mine = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`field${index}`, index]));
    const answer = await send(JSON.stringify({ ...QUESTION, metadata: mine }));
    expect(answer.status).toBe(400);
    expect(readError(answer.text)).toMatchObject({
      message: 'metadata: has more than 10000 members',
      param: 'metadata',
    });
  });

  test('9,900 unknown members pass', async () => {
    const mine = Object.fromEntries(Array.from({ length: 9_900 }, (_, index) => [`field${index}`, index]));
    const answer = await send(JSON.stringify({ ...mine, ...QUESTION, model: 'sim/messages' }));
    expect(answer.status).toBe(200);
    expect(answer.head.length).toBeLessThan(8192);
  });

  test('the error for a hostile member name stays short', async () => {
    const name = 'x'.repeat(MB);
    const answer = await send(
      `{"model":"sim/echo","messages":[{"role":"user","content":"a"}],"metadata":{"${name}":"\\ud800"}}`,
    );
    expect(answer.status).toBe(400);
    expect(answer.text.length).toBeLessThan(4096);
    readError(answer.text);
  });
});

describe('size', () => {
  const big = (bytes: number): string =>
    `{"model":"sim/echo","messages":[{"role":"user","content":"${'x'.repeat(bytes)}"}]}`;

  test('33 MB with a length: the client reads a 413', async () => {
    const answer = await send(big(33 * MB));
    expect(answer.status).toBe(413);
    const error = readError(answer.text);
    expect(error.code).toBe('request_too_large');
    expect(error.message).toContain('body_limit_mb');
  });

  test('33 MB in chunks: the client reads a 413', async () => {
    const piece = 'x'.repeat(MB);
    const chunks = Array.from({ length: 33 }, () => `${MB.toString(16)}\r\n${piece}\r\n`);
    const answer = await sendRaw(gateway.origin, {
      headers: [
        `authorization: Bearer ${TEST_KEY}`,
        'content-type: application/json',
        'transfer-encoding: chunked',
      ],
      body: [...chunks, '0\r\n\r\n'],
    });
    expect(answer.status).toBe(413);
    readError(answer.text);
  });

  test('2 MB in chunks of uneven sizes are read whole', async () => {
    const text = big(2 * MB);
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += 65_537) {
      for (const part of [text.slice(at, at + 1), text.slice(at + 1, at + 65_537)]) {
        if (part !== '') pieces.push(`${part.length.toString(16)}\r\n${part}\r\n`);
      }
    }
    const answer = await sendRaw(gateway.origin, {
      headers: [`authorization: Bearer ${TEST_KEY}`, 'transfer-encoding: chunked'],
      body: [...pieces, '0\r\n\r\n'],
    });
    expect(answer.status).not.toBe(500);
    expect([200, 400]).toContain(answer.status);
  });

  test('a limit of 1 MB is kept to the byte', async () => {
    await using small = await startGateway({ server: { body_limit_mb: 1 } });
    const frame = big(0).length;
    const fits = await sendRaw(small.origin, jsonRequest(TEST_KEY, big(MB - frame)));
    expect(fits.status).not.toBe(413);
    const over = await sendRaw(small.origin, jsonRequest(TEST_KEY, big(MB - frame + 1)));
    expect(over.status).toBe(413);
    const far = await sendRaw(small.origin, jsonRequest(TEST_KEY, big(3 * MB)));
    expect(far.status).toBe(413);
  });

  test('2,000 messages work', async () => {
    const messages = Array.from({ length: 2000 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `message ${index}`,
    }));
    for (const model of ['sim/chat', 'sim/responses', 'sim/messages']) {
      const answer = await send(
        JSON.stringify({ model, messages: [...messages, { role: 'user', content: 'the end' }] }),
      );
      expect(answer.status).toBe(200);
      readCompletion(answer.text);
    }
  });

  test('2,000 messages that are all wrong get a short answer', async () => {
    const messages = Array.from({ length: 2000 }, () => ({ role: 'nobody', content: 1 }));
    const error = await refusal(JSON.stringify({ model: 'sim/echo', messages }));
    expect(error.param).toBe('messages[0].role');
    expect(error.message.length).toBeLessThan(4000);
  });

  test('2,000 tools work, also with 2,000 parts', async () => {
    const tools = Array.from({ length: 2000 }, (_, index) => ({
      type: 'function',
      function: { name: `tool_${index}` },
    }));
    const content = Array.from({ length: 2000 }, (_, index) => ({ type: 'text', text: `${index} no tools` }));
    const answer = await send(
      JSON.stringify({ model: 'sim/messages', messages: [{ role: 'user', content }], tools }),
    );
    expect(answer.status).toBe(200);
  });
});

describe('encodings of the body', () => {
  test.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity'])(
    '%s is refused by name',
    async (encoding) => {
      const answer = await send(gzipSync(JSON.stringify(QUESTION)), [`content-encoding: ${encoding}`]);
      expect(answer.status).toBe(400);
      expect(readError(answer.text).message).toContain('content-encoding');
    },
  );

  test('content-encoding: identity is no encoding', async () => {
    expect((await send(JSON.stringify(QUESTION), ['content-encoding: identity'])).status).toBe(200);
  });
});
