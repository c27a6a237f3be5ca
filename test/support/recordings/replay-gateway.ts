// A whole gateway in front of the replaying upstream, and the ways to ask it: one provider for each kind of
// upstream that the gateway tells apart.
import { startGateway } from '../harness.ts';
import type { TestGateway } from '../harness.ts';
import type { Recording } from './corpus.ts';
import type { Loose } from './loose.ts';
import type { RecordedProtocol } from './recorded-answers.ts';
import { replayModel, startReplay } from './replay-server.ts';
import type { Replayable, ReplayServer } from './replay-server.ts';
import type { SaidCall } from './said.ts';

/**
 * `relay` is a faithful Chat Completions server; the others are translated. `deepseek` and `openrouter` are the
 * presets, which know in which form each wants its reasoning back.
 */
export type Route = RecordedProtocol | 'relay' | 'deepseek' | 'openrouter';

/** A recording, and how it is spoken. */
type Replayed = Replayable & { readonly api: RecordedProtocol };

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface Asking {
  /** Size of the upstream's writes; 0 for one write. */
  readonly pieceBytes?: number;
  /** Ask for token counts of a stream; default true. */
  readonly usage?: boolean;
  /** Calls for whose tools the request brings a declaration. */
  readonly calls?: readonly SaidCall[];
  /** Further members of the request, over all others. */
  readonly members?: Readonly<Record<string, unknown>>;
}

/** How the recorded models are told to reason, where that is a fact of the protocol. */
const REASONING: Readonly<Partial<Record<RecordedProtocol, string>>> = {
  responses: 'effort',
  messages: 'budget',
  gemini: 'budget',
  converse: 'budget',
  invoke: 'budget',
};
/** Bedrock tells by a model's name who made it. */
const MODEL_PREFIX: Readonly<Partial<Record<Route, string>>> = { invoke: 'anthropic.claude-' };

/** Requests that run at the same time. */
const CONCURRENCY = 16;

export class ReplayGateway {
  readonly #gateway: TestGateway;
  readonly #upstream: ReplayServer;

  private constructor(gateway: TestGateway, upstream: ReplayServer) {
    this.#gateway = gateway;
    this.#upstream = upstream;
  }

  static async start(recordings: readonly Replayed[]): Promise<ReplayGateway> {
    const upstream = await startReplay(recordings);
    const provider = (protocol: string, facts: object): object => ({
      api_key: 'none',
      protocols: { [protocol]: { base_url: `${upstream.origin}/v1`, ...facts } },
    });
    const gateway = await startGateway({
      providers: {
        sim: false,
        chat: provider('openai-chat', {}),
        relay: provider('openai-chat', { faithful: true }),
        responses: provider('openai-responses', { reasoning_format: 'openai-responses-v1' }),
        deepseek: { api_key: 'none', base_url: `${upstream.origin}/v1` },
        openrouter: { api_key: 'none', base_url: `${upstream.origin}/v1` },
        messages: provider('anthropic-messages', { reasoning_format: 'anthropic-claude-v1' }),
        gemini: provider('gemini', { reasoning_format: 'google-gemini-v1' }),
        converse: provider('bedrock-converse', { reasoning_format: 'anthropic-claude-v1' }),
        invoke: { preset: 'bedrock', region: 'eu-west-1', api_key: 'sk-test', base_url: upstream.origin },
      },
      // Reasoning of models of these kinds is the gateway's to keep and give back.
      models: recordings.flatMap((recording) => {
        const reasoning = REASONING[recording.api];
        return reasoning ? [{ id: modelOf(recording.api, recording), reasoning }] : [];
      }),
      // A recording says the same however often it is asked, and nothing about the next one.
      routing: { retries: 0, breaker: { failures: 1_000_000 } },
    });
    return new ReplayGateway(gateway, upstream);
  }

  /** Asks as an OpenAI client does, streamed if the recording is. */
  async ask(route: Route, recording: Recording, asking: Asking = {}): Promise<Reply> {
    const { pieceBytes = 0, usage = true, calls = [], members = {} } = asking;
    const tools = new Map(calls.map(({ kind, name }) => [name, { type: kind, [kind]: { name } }]));
    return this.post('/chat/completions', {
      model: modelOf(route, recording, pieceBytes),
      messages: [{ role: 'user', content: 'x' }],
      ...(tools.size > 0 ? { tools: [...tools.values()] } : {}),
      ...(recording.stream ? { stream: true } : {}),
      ...(recording.stream && usage ? { stream_options: { include_usage: true } } : {}),
      ...members,
    });
  }

  /** Asks as any client does. @param path below `/v1` */
  async post(path: string, body: object): Promise<Reply> {
    const response = await this.#gateway.post(path, body);
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  /** The body that the upstream got with the last request for a recording. */
  sent(recording: Replayable): Loose {
    return JSON.parse(this.#upstream.bodies.get(replayModel(recording)) ?? 'null') as Loose;
  }

  /** The record of an answer, read as soon as the answer is. */
  async record(reply: Reply): Promise<Loose> {
    const response = await this.#gateway.get(`/generation?id=${reply.headers.get('x-request-id') ?? ''}`);
    return (await response.json()) as Loose;
  }

  /** Complaints of the gateway, and requests to the upstream that found no recording. */
  complaints(): readonly string[] {
    return [...this.#gateway.logLines, ...this.#upstream.misses];
  }

  async close(): Promise<void> {
    await this.#gateway.close();
    await this.#upstream.close();
  }
}

/** The gateway's id of the model that gives a recorded answer. */
export function modelOf(route: Route, recording: Replayable, pieceBytes = 0): string {
  return `${route}/${MODEL_PREFIX[route] ?? ''}${replayModel(recording, pieceBytes)}`;
}

/** Runs a check for each recording, some at a time. */
export async function eachRecording<Kind extends Replayable>(
  recordings: readonly Kind[],
  check: (recording: Kind) => Promise<void>,
): Promise<void> {
  const rest = recordings.values();
  const lane = async (): Promise<void> => {
    for (const recording of rest) await check(recording);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, lane));
}
