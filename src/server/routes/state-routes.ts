// What the routes over stored state share: what they are given, and how a request of theirs is read and answered.
import type { Hono } from 'hono';
import { GatewayError, isJsonObject, type JsonObject } from '../../canonical/index.ts';
import { keepingProtocol, type StoredItems } from '../../protocols/index.ts';
import type { Files } from '../../state/files.ts';
import type { PromptLibrary } from '../../state/prompt-library.ts';
import type { Storage } from '../../storage/ports.ts';
import { announcedBytes, readBody } from '../body/body.ts';
import type { BodyReader } from '../body/body-reader.ts';
import type { Hold } from '../body/memory-budget.ts';
import { reply, type ReplyDependencies } from '../reply.ts';

export interface StateDependencies extends ReplyDependencies {
  readonly state: Pick<Storage, 'responses' | 'conversations'>;
  readonly prompts: PromptLibrary;
  readonly files: Files;
  /** When what is stored at `now` expires, in Unix milliseconds; null: never. */
  readonly expiresAt: (now: number) => number | null;
  readonly bodies: BodyReader;
}

/** One request to a route over stored state. */
export interface StateCall {
  readonly deps: StateDependencies;
  readonly projectId: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly query: URLSearchParams;
  /** For whoever reads the body as it arrives. */
  readonly request: Request;
  /** A parameter of the path. */
  readonly id: (name: string) => string;
  /** The body, which must be an object; `{}` where there may be none and is none. */
  readonly body: (optional?: 'optional') => Promise<JsonObject>;
}

type Method = 'get' | 'post' | 'delete';
/** Adds one route. */
export type AddRoute = (
  method: Method,
  path: string,
  answer: (call: StateCall) => Promise<JsonObject | Response>,
) => void;

/** Adds routes below a base path. */
export function routesBelow(hono: Hono, base: string, deps: StateDependencies): AddRoute {
  return (method, path, answer) =>
    hono[method](base + path, (context) => {
      const request = context.req.raw;
      return reply(deps, request, (principal, hold) =>
        answer({
          deps,
          projectId: principal.projectId,
          now: deps.now(),
          query: new URL(request.url).searchParams,
          request,
          id: (name) => context.req.param(name) ?? '',
          body: (optional) => readObject(request, deps.bodies, hold, optional !== undefined),
        }),
      );
    });
}

async function readObject(
  request: Request,
  bodies: BodyReader,
  hold: Hold,
  mayBeAbsent: boolean,
): Promise<JsonObject> {
  const isAbsent = request.body === null || request.headers.get('content-length') === '0';
  if (mayBeAbsent && isAbsent) return {};
  const { json } = await readBody(request, announcedBytes(request), bodies, hold);
  if (isJsonObject(json)) return json;
  throw new GatewayError('invalid_request', 'the request body must be a JSON object');
}

/** How kept items are read and shown. */
export const storedItems: StoredItems = keepingProtocol.server.items;

/** What an id that names nothing of this key gets. @param what begins the sentence, e.g. `Response` */
export function notFound(what: string, id: string, param?: string): GatewayError {
  return new GatewayError('not_found', `${what} with id '${id.slice(0, 100)}' not found.`, { param });
}
