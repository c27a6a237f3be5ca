// A gateway in front of scripted upstreams, with a model for each protocol and one for several endpoints; and small
// readers of answers. For scenarios.
import { at, list, type Json } from './json-path.ts';
import { startGateway, type TestGateway } from '../harness.ts';
import type { Clock } from '../../../src/base/runtime/clock.ts';
import { startUpstream, type ScriptedUpstream } from './scripted-upstream.ts';

/** The keys that the gateway sends to its upstreams. */
export const UPSTREAM_KEY = 'sk-upstream-test';
const PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
const PRICE = { input: 1, output: 4 };

/** A provider that serves every protocol at one scripted upstream. @param quirks of each of them */
export function providerAt(origin: string, quirks: object = {}): object {
  return {
    api_key: UPSTREAM_KEY,
    protocols: {
      'openai-chat': { base_url: `${origin}/v1`, quirks },
      'openai-responses': { base_url: `${origin}/v1`, reasoning_format: 'openai-responses-v1', quirks },
      'anthropic-messages': {
        base_url: origin,
        reasoning_format: 'anthropic-claude-v1',
        quirks: { cache_control: true, exclusive_reasoning: true, ...quirks },
      },
      gemini: { base_url: `${origin}/v1beta`, reasoning_format: 'google-gemini-v1', quirks },
    },
  };
}

export interface Scene extends AsyncDisposable {
  readonly gateway: TestGateway;
  /** By the names that were asked for. */
  readonly upstreams: Readonly<Record<string, ScriptedUpstream>>;
  upstream(name: string): ScriptedUpstream;
}

/**
 * Starts upstreams and a gateway. Models: `one/chat`, `one/responses`, `one/messages`, `one/gemini` at the first
 * upstream, and `all/chat` over every upstream in order.
 */
export async function startScene(
  names: readonly string[],
  options: {
    clock?: Clock;
    dataDir?: string;
    config?: Readonly<Record<string, unknown>>;
    faithful?: boolean;
    quirks?: object;
  } = {},
): Promise<Scene> {
  const upstreams = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await startUpstream()] as const)),
  );
  const [first = ''] = names;
  const single = PROTOCOLS.map((protocol) => ({
    id: `one/${protocol.split('-').at(-1)}`,
    max_output_tokens: 8000,
    endpoints: [
      {
        provider: first,
        model: 'm',
        protocol,
        price: PRICE,
        ...(protocol === 'openai-chat' ? {} : { reasoning: 'both' }),
      },
    ],
  }));
  const { config = {}, faithful = false, quirks, ...rest } = options;
  const gateway = await startGateway(
    {
      ...config,
      // Scenarios share a gateway: the failures of one must not make endpoints unavailable for the next.
      routing: { breaker: { failures: 1000 }, ...(config['routing'] as object | undefined) },
      providers: {
        ...Object.fromEntries(
          names.map((name) => [
            name,
            withFaithful(providerAt(upstreams[name]?.origin ?? '', quirks), faithful),
          ]),
        ),
        ...(config['providers'] as object | undefined),
      },
      models: [
        ...single,
        {
          id: 'all/chat',
          endpoints: names.map((provider) => ({
            provider,
            model: 'm',
            protocol: 'openai-chat',
            price: PRICE,
          })),
        },
        ...((config['models'] as object[] | undefined) ?? []),
      ],
    },
    rest,
  );
  return {
    gateway,
    upstreams,
    upstream(name) {
      const found = upstreams[name];
      if (!found) throw new Error(`no upstream ${name}`);
      return found;
    },
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await Promise.all(Object.values(upstreams).map((upstream) => upstream.stop()));
    },
  };
}

function withFaithful(provider: object, faithful: boolean): object {
  if (!faithful) return provider;
  const { protocols } = provider as { readonly protocols: Readonly<Record<string, unknown>> };
  const {
    'openai-chat': chat,
    'openai-responses': responses,
    'anthropic-messages': messages,
    gemini,
  } = protocols;
  return {
    ...provider,
    protocols: {
      ...protocols,
      'openai-chat': { ...(chat as object), faithful: true },
      'openai-responses': { ...(responses as object), faithful: true },
      'anthropic-messages': { ...(messages as object), faithful: true },
      gemini: { ...(gemini as object), faithful: true },
    },
  };
}

/** The record of an answer, by the id in its headers. */
export async function recordOf(gateway: TestGateway, response: Response): Promise<Json> {
  const found = await gateway.get(`/generation?id=${response.headers.get('x-request-id')}`);
  if (found.status !== 200) throw new Error(`no record: ${await found.text()}`);
  return (await found.json()) as Json;
}

/** Attempts of a record: endpoint and outcome. */
export function attemptsOf(record: Json): string[] {
  return list(record, 'attempts').map((entry) => `${at(entry, 'provider')} ${at(entry, 'outcome')}`);
}

/** The frames of a chat stream without its comments, whatever ends its lines; `[DONE]` stays as it is. */
export function frames(text: string): (Json | '[DONE]')[] {
  return text
    .split(/\r\n\r\n|\n\n|\r\r/)
    .filter((block) => block.startsWith('data:'))
    .map((block) => block.slice(5).trim())
    .map((data) => (data === '[DONE]' ? data : (JSON.parse(data) as Json)));
}

/** The visible text of a chat stream. */
export function streamedText(text: string): string {
  return frames(text)
    .map((frame) => at(frame, 'choices', 0, 'delta', 'content') ?? '')
    .join('');
}

/** Reads a streamed answer piece by piece. */
export class StreamReading {
  text = '';
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();

  constructor(response: Response) {
    if (!response.body) throw new Error('no body');
    this.#reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  }

  /** Reads the next piece. Throws when there is none. */
  async more(): Promise<void> {
    if (!(await this.#read())) throw new Error(`the stream ended: ${this.text}`);
  }

  /** Reads until the text holds this. Throws when the stream ends before. */
  async until(part: string): Promise<string> {
    while (!this.text.includes(part)) await this.more();
    return this.text;
  }

  /** Reads to the end. */
  async rest(): Promise<string> {
    while (await this.#read());
    return this.text;
  }

  async #read(): Promise<boolean> {
    const { done, value } = await this.#reader.read();
    if (!done) this.text += this.#decoder.decode(value, { stream: true });
    return !done;
  }

  /** Goes away in the middle. */
  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}
