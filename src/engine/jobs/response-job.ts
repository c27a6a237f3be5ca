// Queue entry of a background answer: the client's request, and the answer in its queued state.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { JobView, StoredResponse } from '../../accounts/ports/index.ts';
import { type BackgroundFailure, findProtocol, type ServedProtocol } from '../../protocols/index.ts';
import type { ProtocolName } from '../../canonical/index.ts';
import type { ApiCall } from '../call.ts';
import type { UnixMs } from '../../base/units.ts';

/** Kind of these jobs in the queue. */
export const RESPONSE_KIND = 'response';

/** A request as it is stored until it runs. */
export interface CallPayload {
  /** As named by the client. Must be the first member, because job lists read it from the start of the text. */
  readonly model: string;
  /** Generation id known to the client. */
  readonly id: string;
  readonly protocol: ProtocolName;
  readonly api: string;
  readonly url: string;
  /** Headers without credentials and connection headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Unix milliseconds on the clock of the process that received the request. */
  readonly createdAt: UnixMs;
}

export interface ResponsePayload extends CallPayload {
  readonly queued: JsonObject;
}

/** Headers about the connection, the caller or only the first request. */
const NOT_KEPT =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|idempotency-key|upgrade|sec-.*|cookie|prefer|authorization|x-api-key|x-goog-api-key|api-key|proxy-.*)$/;

/** Headers that still apply when the request runs later. */
export function keptHeaders(headers: ApiCall['headers']): CallPayload['headers'] {
  return [...headers].filter(([name]) => !NOT_KEPT.test(name));
}

/** The request in stored form. @param model as named by the client @param createdAt Unix milliseconds */
export function callPayload(call: ApiCall, model: string, id: string, createdAt: UnixMs): CallPayload {
  const { api, body, request, protocol } = call;
  return {
    model,
    id,
    protocol: protocol.name,
    api,
    url: request.url,
    headers: keptHeaders(call.headers),
    body: body.bytes.toString(),
    createdAt,
  };
}

export function decodePayload(text: string): ResponsePayload {
  return JSON.parse(text) as ResponsePayload;
}

/** @throws TypeError for a protocol without a server side */
export function protocolOf({ protocol: name }: Pick<CallPayload, 'protocol'>): ServedProtocol {
  const protocol = findProtocol(name);
  if (!protocol?.server) throw new TypeError(`no client protocol is called ${name}`);
  return protocol as ServedProtocol;
}

/** Record id of a try. The first has the generation's id, and all begin with its time. */
export function recordIdOf(id: string, attempt: number): string {
  if (attempt <= 1) return id;
  const hash = createHash('sha256').update(`${id}:${attempt}`).digest('hex');
  return id.slice(0, 12) + hash.slice(0, id.length - 12);
}

/** Current state of an unfinished or failed answer, as the API returns it. */
export function currentResponse(job: JobView, payload: ResponsePayload): JsonObject {
  const { background } = protocolOf(payload).server;
  if (!background) return payload.queued;
  const failure: BackgroundFailure | undefined = job.error ?? undefined;
  return background.withStatus(payload.queued, statusOf(job), failure);
}

function statusOf({ state, isCancelRequested }: JobView): 'queued' | 'in_progress' | 'cancelled' | 'failed' {
  if (state === 'cancelled' || state === 'failed') return state;
  if (isCancelRequested) return 'cancelled';
  return state === 'running' || state === 'completed' ? 'in_progress' : 'queued';
}

/** The same with its input. */
export function currentStored(job: JobView, payload: ResponsePayload): StoredResponse {
  const { server } = protocolOf(payload);
  const { state, raw } = server.decodeRequest(JSON.parse(payload.body));
  return {
    id: job.id,
    projectId: job.projectId,
    createdAt: payload.createdAt,
    expiresAt: job.expiresAt,
    previousId: state?.previousResponseId ?? null,
    conversationId: state?.conversationId ?? null,
    response: currentResponse(job, payload),
    input: server.items?.identify(raw['input'], payload.id) ?? [],
  };
}
