// How the simulated provider misbehaves: each way over each protocol, on the bytes that a client receives.
import { afterAll, describe, expect, test } from 'bun:test';
import { createSim } from '../../../sim/index.ts';
import {
  addressed,
  drain,
  events,
  GEMINI,
  HEADERS,
  MESSAGES,
  paths,
  serveSim,
  streamedText,
} from '../../support/sim-server.ts';

const server = serveSim();
afterAll(() => server.stop());

describe.each([...paths])('misbehaviour over %s', (path) => {
  const call = (model: string, stream: boolean): Promise<Response> => server.ask(path, model, stream);
  const requestTo = (origin: string, model: string, stream: boolean, signal?: AbortSignal): Request => {
    const asked = addressed(path, model, stream);
    return new Request(origin + asked.path, {
      method: 'POST',
      body: JSON.stringify(asked.body),
      headers: HEADERS,
      ...(signal ? { signal } : {}),
    });
  };

  test('fails with native errors', async () => {
    for (const status of [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529, 502]) {
      const response = await call(`error-${status}`, status % 2 === 0);
      expect(response.status).toBe(status);
      const answer = (await response.json()) as { type?: string; error: { message: string; type: string } };
      expect(answer.type === 'error').toBe(path === MESSAGES);
      expect(answer.error).toHaveProperty(path === GEMINI ? 'status' : 'type', expect.any(String));
      expect(response.headers.get('retry-after')).toBe(status === 429 ? '1' : null);
    }
    const overflow = await (await call('context-overflow', false)).text();
    expect(overflow).toMatch(
      /prompt is too long|context_length_exceeded|exceeds the maximum number of tokens allowed/,
    );
  });

  test('breaks the connection after so many characters', async () => {
    for (const n of [0, 7, 300]) {
      // A broken connection takes with it what its client has not read yet: on a busy machine, not all is read in time.
      let received = -1;
      for (let tries = 0; received !== n && tries < 5; tries++) {
        const { text, broken } = await drain(await call(`cut-after-${n}`, true));
        expect(broken).toBe(true);
        received = streamedText(text).length;
        expect(received).toBeLessThanOrEqual(n);
      }
      expect(received).toBe(n);
    }
    const { text, broken } = await drain(await call('cut-after-40', false));
    expect(broken).toBe(true);
    expect(() => JSON.parse(text)).toThrow();
  });

  test('stops sending, and ends when the client disconnects', async () => {
    const abort = new AbortController();
    const asked = addressed(path, 'stall-after-12', true);
    const response = await server.post(asked.path, asked.body, abort.signal);
    const reader = response.body!.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (streamedText(text).length < 12)
      text += decoder.decode((await reader.read()).value, { stream: true });
    let ended = false;
    const rest = reader.read().then(
      () => (ended = true),
      () => (ended = true),
    );
    await call('echo', true).then((other) => other.text());
    expect([streamedText(text).length, ended]).toEqual([12, false]);
    abort.abort();
    await rest;
    expect(ended).toBe(true);
  });

  test('reports an error inside the stream', async () => {
    for (const model of ['error-in-stream-early', 'error-in-stream']) {
      const { text, broken } = await drain(await call(model, true));
      const last = JSON.parse(events(text).at(-1)?.data ?? '') as {
        type?: string;
        error?: unknown;
        response?: { error?: unknown };
      };
      expect([broken, streamedText(text).length]).toEqual([false, model === 'error-in-stream' ? 20 : 0]);
      expect(last.type === 'error' || last.error !== undefined || last.response?.error !== undefined).toBe(
        true,
      );
    }
    expect((await call('error-in-stream', false)).status).toBe(500);
  });

  test('ends badly, oddly or early', async () => {
    const whole = events((await drain(await call('echo', true))).text).at(-1);
    const open = events((await drain(await call('no-done', true))).text).at(-1);
    expect(open?.event === whole?.event && open?.data === whole?.data).toBe(false);

    const malformed = events((await drain(await call('malformed-event', true))).text);
    const broken = malformed.filter(({ data }) => {
      try {
        JSON.parse(data);
        return false;
      } catch {
        return data !== '[DONE]';
      }
    });
    expect(broken.length).toBe(1);

    const odd = (await drain(await call('unknown-event', true))).text;
    expect([odd.includes('telemetry'), streamedText(odd)]).toEqual([
      true,
      expect.stringContaining('You said'),
    ]);
    expect(await (await call('unknown-event', false)).json()).toMatchObject({ telemetry: { load: 0.5 } });

    const empty = await call('empty-200', true);
    expect([empty.status, await empty.text()]).toEqual([200, '']);
    const html = await call('html-200', false);
    expect([html.status, html.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);

    const short = await (await call('length', false)).text();
    expect(short).toMatch(
      /"finish_reason":"length"|"reason":"max_output_tokens"|"stop_reason":"max_tokens"|"finishReason":"MAX_TOKENS"/,
    );
    const filtered = (await drain(await call('content-filter-mid', true))).text;
    expect(filtered).toMatch(
      /"finish_reason":"content_filter"|"reason":"content_filter"|"stop_reason":"refusal"|"finishReason":"SAFETY"/,
    );
  });

  test('is flaky in a fixed rhythm', async () => {
    const own = createSim();
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) {
      statuses.push((await own.fetch(requestTo(server.origin, 'flaky-3', false))).status);
    }
    expect(statuses).toEqual([503, 503, 200, 503, 503, 200]);
  });

  test('waits for the time in its name, on the injected timer', async () => {
    for (const [model, waits] of [
      ['slow-first-token', [3000]],
      ['slow-first-token-500', [500]],
      ['slow-headers-70', [70]],
      ['paced-9', [9]],
    ] as const) {
      const asked: number[] = [];
      const setTimer = (run: () => void, ms: number): (() => void) => {
        if (ms > 0) asked.push(ms);
        queueMicrotask(run);
        return () => {};
      };
      const request = requestTo(server.origin, model, true);
      const text = await (await createSim({ setTimer }).fetch(request)).text();
      expect(new Set(asked)).toEqual(new Set(waits));
      if (model.startsWith('paced')) expect(asked.length).toBe(events(text).length - 1);
      else expect(asked.length).toBe(1);
    }
  });

  test('never answers until the client disconnects', async () => {
    const abort = new AbortController();
    let answered = false;
    const request = requestTo(server.origin, 'stall-headers', false, abort.signal);
    const pending = createSim({ setTimer: () => () => {} })
      .fetch(request)
      .then(() => (answered = true));
    await call('echo', false).then((other) => other.text());
    expect(answered).toBe(false);
    abort.abort();
    await pending;
    expect(answered).toBe(true);
  });
});
