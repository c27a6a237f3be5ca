// The stream of what happens in a gateway, as an admin reads it.
import { expect } from 'bun:test';

export interface Listening {
  /** The text of the next event, or undefined where the stream has ended. */
  next(): Promise<string | undefined>;
  leave(): Promise<void>;
}

/** Hears of what happens in a gateway from now on. @param key an admin's */
export async function listenAt(origin: string, key: string, query = ''): Promise<Listening> {
  const response = await fetch(`${origin}/v1/management/events${query}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<string | undefined> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        return event;
      }
      const read = await reader?.read();
      if (!read || read.done) return undefined;
      text += read.value;
    }
  };
  expect(await next()).toBe(': connected');
  return { next, leave: async () => reader?.cancel() };
}

/** One event, taken apart. */
export function parse(event: string | undefined): {
  readonly type: string;
  readonly data: Record<string, unknown>;
} {
  const [, type = '', data = '{}'] = /^event: (\w+)\ndata: (.*)$/.exec(event ?? '') ?? [];
  return { type, data: JSON.parse(data) as Record<string, unknown> };
}

/** Hears of requests that are over, until it leaves. */
export class Received {
  /** Ids of requests. */
  readonly ids = new Set<unknown>();
  readonly #events: Listening;
  readonly #reading: Promise<void>;

  constructor(events: Listening) {
    this.#events = events;
    this.#reading = this.#read();
  }

  async leave(): Promise<void> {
    await this.#events.leave();
    await this.#reading;
  }

  async #read(): Promise<void> {
    for (let event = await this.#events.next(); event !== undefined; event = await this.#events.next())
      this.ids.add(parse(event).data['id']);
  }
}
