// Streams that clients resume: cut at every event, in every protocol, and together the same bytes; gone with a reason; going on
// or ending when their client leaves.
import { afterAll, describe, expect, test } from 'bun:test';
import { KeptStream, KeptStreams } from '../../../src/engine/index.ts';
import type { Client, ClientStream, Encoding } from '../../../src/engine/index.ts';
import { toByteString } from '../../../src/base/lib/bytes.ts';
import { startGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { bytesOf, missing, readGeminiRecordings, readRecordings } from '../../support/recordings/corpus.ts';
import { startSlow } from '../../support/upstreams/slow-upstream.ts';
import { eventually } from '../../support/program.ts';
import { isWhole } from '../../support/share.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';

const slow = await startSlow();
const gateway = await startGateway({
  providers: { slow: { api_key: 'sk-test', protocols: { 'openai-chat': slow.base } } },
});
afterAll(async () => {
  await gateway.close();
  slow.stop();
});

/** Cuts of one recorded stream. */
const MOST_CUTS = isWhole ? Infinity : 15;

const RESUMABLE = { 'x-dragoman-resumable': 'true' };
const text = 'Tell me of tea, in a few words, and of côté.';
const messages = [{ role: 'user', content: text }];

/** The same question in each protocol. */
const PROTOCOLS = [
  ['Chat Completions', '/chat/completions', { model: 'sim/chat', stream: true, messages }],
  ['Responses', '/responses', { model: 'sim/chat', stream: true, input: text }],
  ['Messages', '/messages', { model: 'sim/messages', max_tokens: 200, stream: true, messages }],
  ['relayed Responses', '/responses', { model: 'sim/responses', stream: true, input: text, store: false }],
] as const;

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.origin}/v1${path}`, {
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
  });
}

/** The events of a stream, comments left out. */
function eventsOf(stream: string): readonly string[] {
  return stream.split(/(?<=\r?\n\r?\n)/).filter((frame) => frame !== '' && !frame.startsWith(':'));
}

describe('a kept stream', () => {
  test.each(PROTOCOLS)('of %s continues after any event', async (_, path, body) => {
    const response = await gateway.post(path, body, RESUMABLE);
    const whole = await response.text();
    const id = response.headers.get('x-request-id');
    const events = eventsOf(whole);
    expect(events.length).toBeGreaterThan(3);
    for (let last = 0; last < events.length - 1; last += 1) {
      const rest = await get(`/streams/${id}?after=${last}`);
      expect(rest.headers.get('x-request-id')).toBe(id);
      expect(rest.headers.get('content-type')).toStartWith('text/event-stream');
      expect(eventsOf(await rest.text())).toEqual(events.slice(last + 1));
    }
    expect(await (await get(`/streams/${id}`)).text()).toBe(whole);
    const byHeader = await get(`/streams/${id}`, { 'last-event-id': '1' });
    expect(eventsOf(await byHeader.text())).toEqual(events.slice(2));
    // An `EventSource` that connects again sends what it has received since, and still has the first number in its address.
    const again = await get(`/streams/${id}?after=0`, { 'last-event-id': '1' });
    expect(eventsOf(await again.text())).toEqual(events.slice(2));
    expect((await get(`/streams/${id}?after=0`, { 'last-event-id': `${events.length - 1}` })).status).toBe(
      204,
    );
    expect((await get(`/streams/${id}?after=${events.length - 1}`)).status).toBe(204);
    expect((await get(`/streams/${id}?after=${events.length}`)).status).toBe(400);
    expect((await get(`/streams/${id}?after=x`)).status).toBe(400);
  });

  test('of Gemini continues after any event', async () => {
    const asked = { contents: [{ role: 'user', parts: [{ text }] }] };
    const response = await fetch(`${gateway.origin}/v1beta/models/sim/gemini:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json', ...RESUMABLE },
      body: JSON.stringify(asked),
    });
    const events = eventsOf(await response.text());
    expect(events[1]).toStartWith('id: 1\n');
    const id = response.headers.get('x-request-id');
    for (let last = 0; last < events.length - 1; last += 1)
      expect(eventsOf(await (await get(`/streams/${id}?after=${last}`)).text())).toEqual(
        events.slice(last + 1),
      );
  });

  test('has `id` lines only on request', async () => {
    const body = { model: 'sim/chat', stream: true, messages };
    const plain = await (await gateway.post('/chat/completions', body)).text();
    const kept = await (await gateway.post('/chat/completions', body, RESUMABLE)).text();
    expect(plain).not.toContain('id: 0\n');
    expect(kept).toStartWith('id: 0\ndata: ');
    expect(kept.trimEnd()).toMatch(/id: \d+\ndata: \[DONE\]$/);
  });

  test('returns a reason if it has been deleted, or is unknown', async () => {
    const response = await gateway.post('/chat/completions', { model: 'sim/chat', stream: true, messages });
    await response.text();
    const gone = await get(`/streams/${response.headers.get('x-request-id')}`);
    expect([gone.status, await gone.json()]).toMatchObject([410, { error: { code: 'stream_gone' } }]);
    expect((await get('/streams/nothing')).status).toBe(404);
  });

  test.each([
    ['stored', {}],
    ['in the background', { background: true }],
  ])('of a response %s is deleted with the response', async (_, wanted) => {
    const asked = { model: 'sim/chat', stream: true, input: text, ...wanted };
    const response = await gateway.post('/responses', asked);
    await response.text();
    const id = response.headers.get('x-request-id');
    expect((await get(`/streams/${id}?after=0`)).status).toBe(200);
    const path = `${gateway.origin}/v1/responses/resp_${id}`;
    const headers = { authorization: `Bearer ${gateway.key}` };
    expect((await fetch(path, { method: 'DELETE', headers })).status).toBe(200);
    for (const query of ['', '?after=0']) expect((await get(`/streams/${id}${query}`)).status).toBe(410);
    for (const query of ['', '&starting_after=0'])
      expect((await get(`/responses/resp_${id}?stream=true${query}`)).status).toBe(404);
  });

  test('is refused with the parameter that names an unknown event', async () => {
    const response = await gateway.post('/responses', { model: 'sim/chat', stream: true, input: text });
    await response.text();
    const id = response.headers.get('x-request-id');
    for (const [path, header, param] of [
      [`/streams/${id}?after=1000`, {}, 'after'],
      [`/streams/${id}`, { 'last-event-id': '1000' }, 'last-event-id'],
      [`/responses/resp_${id}?stream=true&starting_after=1000`, {}, 'starting_after'],
    ] as const) {
      const refused = await get(path, header);
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param } }]);
    }
  });

  test('refuses headers that contradict the parameters', async () => {
    const body = { model: 'sim/chat', stream: true, messages };
    for (const [name, value] of [
      ['x-dragoman-resumable', 'yes'],
      ['x-dragoman-on-disconnect', 'continue:forever'],
    ] as const) {
      const refused = await gateway.post('/chat/completions', body, { [name]: value });
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { param: name } }]);
    }
  });
});

describe('when its client leaves', () => {
  async function leave(headers: Record<string, string>): Promise<{ id: string; had: string }> {
    const stop = new AbortController();
    const response = await fetch(`${gateway.baseURL}/chat/completions`, {
      method: 'POST',
      signal: stop.signal,
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'slow/m', stream: true, messages }),
    });
    const had = await new StreamReading(response).until('one');
    stop.abort();
    return { id: response.headers.get('x-request-id')!, had };
  }

  test('a resumable stream continues, and its rest is live', async () => {
    const { id, had } = await leave(RESUMABLE);
    const events = eventsOf(had);
    const rest = get(`/streams/${id}?after=${events.length - 1}`);
    slow.go();
    const whole = had + (await (await rest).text());
    expect(eventsOf(whole).map((event) => event.slice(0, event.indexOf('\n')))).toEqual(
      eventsOf(whole).map((_, number) => `id: ${number}`),
    );
    expect(whole).toContain('two');
    expect(whole.trimEnd()).toEndWith('data: [DONE]');
    expect(slow.aborted).toBe(0);
  });

  test.each([
    ['without headers', {}],
    ['with `abort`', { ...RESUMABLE, 'x-dragoman-on-disconnect': 'abort' }],
  ])('a request %s ends at once', async (_, headers: Record<string, string>) => {
    const before = slow.aborted;
    await leave(headers);
    await eventually('its upstream is left', () => slow.aborted === before + 1);
  });
});

describe('kept streams together', () => {
  class Reader implements Client, ClientStream {
    text = '';
    ended = false;

    respond(): void {}

    openStream(): ClientStream {
      return this;
    }

    write(data: string, encoding: Encoding): boolean {
      this.text += encoding === 'bytes' ? data : toByteString(data);
      return true;
    }

    onDrain(): void {}

    end(): void {
      this.ended = true;
    }

    onLeave(): void {}
  }

  const options = { projectId: 'p', headers: {}, writesIds: true, patience: 0 };

  test('are deleted a while after their end, the oldest first if memory is short', () => {
    const clock = new ManualClock();
    const streams = new KeptStreams(() => ({ keepMs: 1000, maxBytes: 20_000 }), clock);
    const made = (id: string, bytes: number): KeptStream => {
      const stream = streams.open({ ...options, id });
      stream.write(`data: ${'x'.repeat(bytes)}\n\n`, 'text');
      return stream;
    };
    const running = made('running', 100);
    made('a', 100).end();
    made('b', 100).end();
    expect(streams.find('p', 'a')).toBeInstanceOf(KeptStream);
    expect(streams.find('other', 'a')).toBeNull();
    made('large', 11_500).end();
    expect(streams.find('p', 'a')).toBe('memory');
    expect(streams.find('p', 'b')).toBeInstanceOf(KeptStream);
    expect(streams.find('p', 'running')).toBe(running);
    clock.advance(1001);
    expect(streams.find('p', 'b')).toBe('expired');
    made('huge', 30_000);
    expect(streams.find('p', 'huge')).toBe('memory');
    expect(streams.size).toEqual({ streams: 0, bytes: 0 });
    const deleted = made('deleted', 100);
    streams.delete('other', 'deleted');
    expect(streams.find('p', 'deleted')).toBe(deleted);
    streams.delete('p', 'deleted');
    deleted.end();
    expect(streams.find('p', 'deleted')).toBeNull();
    expect(streams.size).toEqual({ streams: 0, bytes: 0 });
  });

  test('store no keep-alives: a response may be silent for hours', () => {
    const streams = new KeptStreams(() => ({ keepMs: 1000, maxBytes: 20_000 }), new ManualClock());
    const stream = streams.open({ ...options, writesIds: false, id: 'silent' });
    const [present, later] = [new Reader(), new Reader()];
    stream.join(present, null);
    stream.write('data: a\n\n', 'text');
    const { bytes } = stream;
    stream.writeKeepAlive(': keep-alive\n\n');
    expect(stream.bytes).toBe(bytes);
    stream.write('data: b\n\n', 'text');
    stream.join(later, null);
    expect(present.text).toBe('data: a\n\n: keep-alive\n\ndata: b\n\n');
    expect(later.text).toBe('data: a\n\ndata: b\n\n');
  });

  test.skipIf(missing !== undefined)('give every recorded stream again from any event', () => {
    const recordings = [...readRecordings(), ...readGeminiRecordings()];
    const streams = recordings
      .map((recording) => bytesOf(recording).toString('latin1'))
      .filter((bytes) => /^(?:event|data|:|id)/.test(bytes));
    expect(streams.length).toBeGreaterThan(100);
    const kept = new KeptStreams(() => ({ keepMs: 1e9, maxBytes: 1e9 }), new ManualClock());
    for (const [at, bytes] of streams.entries())
      for (const writesIds of [true, false]) {
        const stream = kept.open({ ...options, writesIds, id: `${at}` });
        const whole = new Reader();
        stream.join(whole, null);
        for (const frame of bytes.split(/(?<=\r?\n\r?\n)/)) stream.write(frame, 'bytes');
        stream.end();
        if (!writesIds) expect(whole.text).toBe(bytes);
        // A recording may have been cut in the middle of an event.
        const own = eventsOf(whole.text);
        const step = Math.max(1, Math.floor(stream.next / MOST_CUTS));
        for (let last = 0; last < stream.next; last += step) {
          const rest = new Reader();
          stream.join(rest, last);
          expect(rest.ended).toBe(true);
          expect(eventsOf(rest.text)).toEqual(own.slice(last + 1));
        }
      }
  });
});
