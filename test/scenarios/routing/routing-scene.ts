// Three upstreams behind one model, which write down in one list who was asked, in the order of asking. For scenarios of
// routing.
import { chatBody, chatError, chatStream, stream as sse, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

export const NAMES = ['east', 'west', 'north'] as const;
export type Name = (typeof NAMES)[number];
export const MESSAGES = [{ role: 'user', content: 'Hello' }];
const HOUR_MS = 3_600_000;

export interface RoutingScene extends Scene {
  readonly clock: ArmedClock;
  /** Upstreams that were asked since `forget`, in order; with the model's name there unless that is `m`. */
  readonly asked: string[];
  /** Lets an upstream answer like this from now on. */
  answer(name: Name, answer: Answer): void;
  /** Lets all upstreams answer well; empties `asked`; lets time pass, so that failures are forgotten. */
  forget(): void;
}

/** Answer of a sound upstream to a chat, streamed or not. */
export const good: Answer = (exchange) => {
  const stream = at(exchange.request.json, 'stream') === true;
  return (stream ? sse(chatStream('Hel', 'lo')) : whole(chatBody('Hello')))(exchange);
};
export const down: Answer = chatError(503);

/** @param config adds to, or replaces, what the scene has: `models` and `routing` are put together */
export async function startRouting(
  config: Readonly<Record<string, unknown>> = {},
  options: { readonly faithful?: boolean } = {},
): Promise<RoutingScene> {
  const clock = new ArmedClock();
  const scene = await startScene(NAMES, {
    ...options,
    clock,
    config: { ...config, routing: { retries: 0, ...(config['routing'] as object | undefined) } },
  });
  const asked: string[] = [];
  const answer = (name: Name, reply: Answer): void =>
    scene.upstream(name).always((exchange) => {
      const model = at(exchange.request.json, 'model');
      asked.push(model === 'm' ? name : `${name}/${String(model)}`);
      reply(exchange);
    });
  const forget = (): void => {
    for (const name of NAMES) answer(name, good);
    asked.length = 0;
    clock.advance(HOUR_MS);
  };
  forget();
  return {
    ...scene,
    clock,
    asked,
    answer,
    forget,
    [Symbol.asyncDispose]: () => scene[Symbol.asyncDispose](),
  };
}

/** An endpoint at an upstream. */
export function endpoint(provider: Name, extra: Readonly<Record<string, unknown>> = {}): object {
  return { provider, model: 'm', protocol: 'openai-chat', ...extra };
}

export interface Asked {
  readonly status: number;
  readonly json: unknown;
  /** The answer's headers. */
  readonly headers: Headers;
}

/** Sends a chat and reads the whole answer. */
export async function chat(scene: RoutingScene, body: object, headers = {}): Promise<Asked> {
  const full = { messages: MESSAGES, ...body };
  const response = await scene.gateway.post('/chat/completions', full, headers);
  const text = await response.text();
  const json: unknown = text.startsWith('{') ? JSON.parse(text) : text;
  return { status: response.status, json, headers: response.headers };
}

/** Everybody who is asked for a request that nobody answers, in order. */
export async function triedFor(scene: RoutingScene, body: object, headers = {}): Promise<string[]> {
  scene.forget();
  for (const name of NAMES) scene.answer(name, down);
  const { status, json } = await chat(scene, body, headers);
  if (status === 200) throw new Error(`answered: ${JSON.stringify(json)}`);
  return [...scene.asked];
}

/** The plan for a request, as `POST /route/explain` tells it. */
export async function explained(scene: RoutingScene, body: object, headers = {}): Promise<unknown> {
  const response = await scene.gateway.post('/route/explain', { messages: MESSAGES, ...body }, headers);
  const json: unknown = await response.json();
  if (response.status !== 200) throw new Error(JSON.stringify(json));
  return json;
}

/** Slugs of a route table, in the order of trying. */
export function slugs(table: unknown): unknown[] {
  return list(table, 'candidates').map((row) => at(row, 'endpoint'));
}
