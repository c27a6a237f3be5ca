// Replays a client's request from its original bytes: through the same engine and for the same key, as a new generation
// with a whole answer.
import type { Principal } from '../accounts/auth/index.ts';
import { editJson, isJsonObject } from '../base/json/index.ts';
import { GatewayError, toNameList, type ProtocolName, TEXTS } from '../canonical/index.ts';
import {
  type ApiCall,
  type Body,
  type Client,
  type ClientStream,
  type Encoding,
  findTask,
  type Gateway,
  text,
} from '../engine/index.ts';
import { toByteString, joined } from '../base/lib/bytes.ts';
import { type ClientOperation, findProtocol, type ServedProtocol } from '../protocols/index.ts';
import { parseBody, type RequestBody } from './body/body.ts';
import { clientRoutes, operationAt } from './client-routes.ts';
import { asksForCompaction } from './compact.ts';
import type { MemoryBudget } from './body/memory-budget.ts';

/** The original request, and the changes to it. */
export interface ReplayedRequest {
  /** Id of the original generation. */
  readonly replayOf: string;
  readonly protocol: ProtocolName;
  /** Name of the operation in the records. */
  readonly api: string;
  readonly principal: Principal;
  /** Path and query. */
  readonly address: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** Model to use instead. Null: the original one. */
  readonly model: string | null;
  /** The only provider that may answer. Null: any. */
  readonly provider: string | null;
  /** True: tools outside of the model may run again. */
  readonly mayActAgain: boolean;
}

export interface ReplayedAnswer {
  /** Id of the new generation. */
  readonly id: string;
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Headers specific to the original connection, trace or idempotency key. */
const FIRST_TIME_HEADERS =
  /^(?:host|connection|content-length|idempotency-key|traceparent|tracestate|upgrade|sec-.*)$/;

/**
 * Replays a request.
 * @param signal aborts when the result is no longer needed
 * @throws GatewayError `conflict` for a request that cannot be replayed
 */
export async function replayRequest(
  { gateway, memory }: { readonly gateway: Gateway; readonly memory: MemoryBudget },
  given: ReplayedRequest,
  signal: AbortSignal,
): Promise<ReplayedAnswer> {
  const { replayOf, principal, address, provider } = given;
  const protocol = findProtocol(given.protocol);
  const operation = protocol?.server && operationOf(protocol as ServedProtocol, given);
  const task = operation && (operation.does === 'answer' ? text : findTask(operation.does));
  if (!operation || !task?.isRecorded) throw cannot('it did not call a model');
  if (operation.takes === 'form') throw cannot('its files are not stored');
  const isInAddress = operation.route?.model !== undefined;
  const read = parseBody(given.body);
  const body = given.model === null || isInAddress ? read : withModel(read, given.model);
  const route =
    given.model !== null && isInAddress ? { ...operation.route, model: given.model } : operation.route;
  const served = protocol as ServedProtocol;
  if (task === text) refuseEffects(served, body.json, route, given);
  const headers = new Map(given.headers.filter(([name]) => !FIRST_TIME_HEADERS.test(name)));
  const hold = memory.open(principal.keyId);
  const client = new Listening(signal);
  const call: ApiCall = {
    protocol: served,
    api: given.api,
    ...(route && { route }),
    principal: provider === null ? principal : withProvider(principal, provider),
    request: { method: 'POST', url: address },
    body: body.body,
    json: body.json,
    header: (name) => headers.get(name) ?? null,
    headers,
    client,
    account: hold,
    replayOf,
  };
  try {
    hold.add(given.body.length);
    await gateway.serve(call, task);
    return client.answer();
  } finally {
    hold.release();
  }
}

/** Operation of the address in its protocol. Undefined: not served. */
function operationOf(
  protocol: ServedProtocol,
  { api, address }: ReplayedRequest,
): ClientOperation | undefined {
  const { pathname, searchParams: query } = new URL(address, 'http://gateway');
  for (const route of clientRoutes(protocol)) {
    const found = operationAt(route, { path: decodeURIComponent(pathname), query });
    if (found?.api === api) return found;
  }
  return undefined;
}

/** Refuses requests whose tools could have side effects again, or whose conversation would contain the turn twice. */
function refuseEffects(
  { server }: ServedProtocol,
  json: unknown,
  route: ClientOperation['route'],
  { mayActAgain }: ReplayedRequest,
): void {
  if (asksForCompaction(json)) throw cannot('it asked for a compaction whose summary the gateway stores');
  const request = server.decodeRequest(json, route);
  if (request.state?.conversationId !== undefined)
    throw cannot('its conversation would contain the turn twice');
  // A thread has the tools of its first request.
  const isContinued = isJsonObject(json) && server.threads?.read(json)?.previousId !== undefined;
  if ((isContinued || request.tools.some(({ type }) => type === 'hosted')) && !mayActAgain)
    throw cannot('its hosted tools would run again; send `tools: true` to allow this');
}

function cannot(reason: string): GatewayError {
  return new GatewayError('conflict', TEXTS.notReplayable(reason), {
    code: 'not_replayable',
  });
}

function withModel({ body }: RequestBody, model: string): RequestBody {
  return parseBody(joined(editJson(body, { set: { model } })));
}

function withProvider(principal: Principal, provider: string): Principal {
  return { ...principal, routing: { ...principal.routing, only: toNameList([provider], 'provider') } };
}

/** Collects an answer. */
class Listening implements Client, ClientStream {
  readonly #signal: AbortSignal;
  readonly #pieces: Buffer[] = [];
  #status = 0;
  #headers: Readonly<Record<string, string>> = {};

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.#status = status;
    this.#headers = headers;
    this.#pieces.push(Buffer.from(body));
  }

  openStream(headers: Readonly<Record<string, string>>): ClientStream {
    this.#status = 200;
    this.#headers = headers;
    return this;
  }

  write(data: string, encoding: Encoding): boolean {
    this.#pieces.push(Buffer.from(encoding === 'text' ? toByteString(data) : data, 'latin1'));
    return true;
  }

  onDrain(): void {}

  end(): void {}

  onLeave(left: () => void): void {
    if (this.#signal.aborted) left();
    else this.#signal.addEventListener('abort', left, { once: true });
  }

  answer(): ReplayedAnswer {
    return {
      id: this.#headers['x-request-id'] ?? '',
      status: this.#status,
      contentType: this.#headers['content-type'] ?? '',
      body: Buffer.concat(this.#pieces),
    };
  }
}
