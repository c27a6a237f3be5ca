// Compaction: replaces a conversation by a summary. Serves `POST /responses/compact` and turns whose input ends with
// `compaction_trigger` (OpenAI API reference, 2026-11). The summary is an ordinary call through the gateway; the client
// gets it sealed.
import {
  asArray,
  asObject,
  asString,
  bytesOfJson,
  isJsonObject,
  jsonBytes,
  type JsonObject,
  parseJson,
} from '../base/json/index.ts';
import { type CanonicalRequest, GatewayError, TEXTS } from '../canonical/index.ts';
import { type Catalog, endpointsFor } from '../catalog/index.ts';
import {
  type ApiCall,
  type Body,
  type Client,
  type ClientStream,
  type Gateway,
  outputOf,
  previousItems,
} from '../engine/index.ts';
import { newGenerationId, newId } from '../base/runtime/ids.ts';
import { keepingProtocol } from '../protocols/index.ts';
import { makeResponse, sendResponse } from './made-response.ts';
import { type StateDependencies, storedItems } from './routes/state-routes.ts';
import { summaryRequest, TRIGGER } from './summary-request.ts';
import type { UnixMs } from '../base/units.ts';

export interface CompactDependencies extends Pick<StateDependencies, 'state' | 'now' | 'log'> {
  readonly gateway: Gateway;
  readonly catalog: () => Catalog;
  /** Seals a summary, so that only its project can use it. */
  readonly sealSummary: (projectId: string, text: string) => string;
  /** Expiry of a response stored now, in Unix milliseconds. Null: never. */
  readonly expiresAt: (now: UnixMs) => UnixMs | null;
}

/** Name of the operation in the records. */
const API = 'responses.compact';
const NO_IDS: ReadonlySet<string> = new Set();

interface Compacted {
  /** The response with the summary. */
  readonly answer: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
  /** User messages, which are kept. */
  readonly said: readonly JsonObject[];
  /** The item that replaces everything else. */
  readonly item: { readonly id: string; readonly type: 'compaction'; readonly encrypted_content: string };
}

/** True for a turn that requests compaction of its own context. */
export function asksForCompaction(json: unknown): boolean {
  return asObject(asArray(asObject(json)['input']).at(-1))['type'] === TRIGGER;
}

/** Serves `POST /responses/compact`. @throws GatewayError when nothing was sent to the client */
export async function compact(deps: CompactDependencies, call: ApiCall): Promise<void> {
  const body = asObject(call.json);
  const compacted = await summarise(deps, call, body, decode(body));
  if (!compacted) return;
  const { answer, headers, said, item } = compacted;
  const result = {
    id: answer['id'],
    object: 'response.compaction',
    created_at: answer['created_at'],
    output: [...said, item],
    usage: answer['usage'],
  };
  call.client.respond(200, headers, JSON.stringify(result));
}

/** Answers a turn that ends with a trigger: its output is the compaction. @throws GatewayError like `compact` */
export async function compactTurn(deps: CompactDependencies, call: ApiCall): Promise<void> {
  const body = asObject(call.json);
  const input = asArray(body['input']).slice(0, -1);
  const request = decode({ ...body, input });
  if (request.state?.conversationId !== undefined) {
    throw new GatewayError('unsupported', `conversation: cannot be used together with ${TRIGGER}`, {
      param: 'conversation',
    });
  }
  const compacted = await summarise(deps, call, { ...body, input }, request);
  if (!compacted) return;
  const { answer, headers, said, item } = compacted;
  const facts = {
    id: String(headers['x-request-id']),
    model: String(answer['model']),
    createdSeconds: Number(answer['created_at']),
    completedSeconds: Number(answer['completed_at']),
  };
  const { id, type, encrypted_content: encrypted } = item;
  const made = makeResponse(request, facts, [{ type, id, encrypted }]);
  const response = { ...made, usage: answer['usage'] };
  await keep(deps, call, request, response, said);
  sendResponse(call.client, response, request.stream, headers);
}

/**
 * Stores the turn as the beginning of the following conversation, whose earlier part is in the summary. Never rejects.
 */
async function keep(
  { state, now: clock, expiresAt, log }: CompactDependencies,
  { principal: { projectId }, memory }: ApiCall,
  request: CanonicalRequest,
  response: JsonObject,
  input: readonly JsonObject[],
): Promise<void> {
  const id = String(response['id']);
  if (!request.state?.store) return memory?.remember(id, [...input, ...outputOf(response)]);
  const createdAt = clock();
  const turn = { id, projectId, createdAt, expiresAt: expiresAt(createdAt), response, input };
  await state.responses
    .put({ ...turn, previousId: null, conversationId: null })
    .catch((error: unknown) => log.error(TEXTS.notKept, { id, error }));
}

function decode(body: JsonObject): CanonicalRequest {
  return keepingProtocol.server.decodeRequest(body);
}

/** @returns null when the client already received an error, or disconnected */
async function summarise(
  deps: CompactDependencies,
  call: ApiCall,
  body: JsonObject,
  request: CanonicalRequest,
): Promise<Compacted | null> {
  const { memory, client, principal } = call;
  const { projectId } = principal;
  const previous = request.state?.previousResponseId;
  const from = { responses: deps.state.responses, projectId, now: deps.now(), memory };
  const before = previous === undefined ? [] : await previousItems(previous, from);
  const input = storedItems.identify(request.raw['input'], newGenerationId(deps.now()));
  const all = [...before, ...input];
  if (all.length === 0) {
    throw new GatewayError('invalid_request', 'input: there is nothing to compact', { param: 'input' });
  }
  const native = compactsItself(deps.catalog(), body);
  const json = summaryRequest(body, input.map(storedItems.withoutMadeId), native);
  const inner = new InnerClient(client);
  await deps.gateway.serve({
    ...call,
    api: API,
    body: jsonBytes(bytesOfJson(json)),
    json,
    client: inner,
    // The turn that requests the summary is not remembered.
    ...(memory ? { memory: { recall: (id) => memory.recall(id), remember: () => {} } } : {}),
  });
  const { answer } = inner;
  if (!answer) return null;
  if (answer.status !== 200) {
    client.respond(answer.status, answer.headers, answer.body);
    return null;
  }
  const response = asObject(parseJson(inner.text()));
  const { headers } = answer;
  const encrypted = native ? encryptedOf(response) : deps.sealSummary(projectId, summaryOf(response));
  const said = all.filter((item) => item['type'] === 'message' && item['role'] === 'user');
  return {
    answer: response,
    headers,
    said: said.map((item) => storedItems.show(item, NO_IDS)),
    item: { id: newId('cmp_'), type: 'compaction', encrypted_content: encrypted },
  };
}

/** True when all possible endpoints compact conversations natively. */
function compactsItself(catalog: Catalog, body: JsonObject): boolean {
  // Other models may be used.
  if (body['models'] !== undefined || body['model_routing_config'] !== undefined) return false;
  const model = catalog.find(asString(body['model']) ?? '');
  const endpoints = model ? endpointsFor(model, { protocol: keepingProtocol.name }) : [];
  return endpoints.length > 0 && endpoints.every((endpoint) => endpoint.compacts);
}

function encryptedOf(response: JsonObject): string {
  const item = outputOf(response).find(({ type }) => type === 'compaction');
  return asString(item?.['encrypted_content']) ?? noSummary('the upstream returned no compaction');
}

function summaryOf(response: JsonObject): string {
  // A partial summary would be taken for a complete one.
  if (response['status'] !== 'completed') return noSummary('the model did not finish its summary');
  const text = outputOf(response)
    .filter(({ type }) => type === 'message')
    .flatMap((message) => asArray(message['content']))
    .map((part) =>
      isJsonObject(part) && part['type'] === 'output_text' ? asString(part['text']) : undefined,
    )
    .join('');
  return text.trim() === '' ? noSummary('the model returned no summary') : text;
}

function noSummary(reason: string): never {
  throw new GatewayError('upstream_unavailable', reason, { code: 'compaction_failed', fault: 'upstream' });
}

/** Receives the summary in place of the client. */
class InnerClient implements Client {
  answer:
    | {
        readonly status: number;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: Body;
      }
    | undefined;
  readonly #client: Client;

  constructor(client: Client) {
    this.#client = client;
  }

  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void {
    this.answer = { status, headers, body };
  }

  openStream(): ClientStream {
    throw new TypeError('a summary is not streamed');
  }

  onLeave(left: () => void): void {
    this.#client.onLeave(left);
  }

  text(): string {
    return String(this.answer?.body ?? '');
  }
}
