// Queue entry of an answer that is made in the background: the request as its client sent it, and the answer as it
// stood when it was queued.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../base/json/index.ts';
import type { JobView, StoredResponse } from '../../accounts/ports/index.ts';
import { type BackgroundFailure, findProtocol, type ServedProtocol } from '../../protocols/index.ts';
import type { ProtocolName } from '../../canonical/index.ts';
import type { ApiCall } from '../call.ts';
import type { UnixMs } from '../../base/units.ts';

/** Kind of these jobs in the queue. */
export const RESPONSE_KIND = 'response';

/** A request as it is kept until somebody runs it. */
export interface CallPayload {
  /** As the client named it. The first member: lists of jobs read it from the start of the text. */
  readonly model: string;
  /** Id of the generation that the client knows. */
  readonly id: string;
  readonly protocol: ProtocolName;
  readonly api: string;
  readonly url: string;
  /** Headers without credentials, and without those of the connection. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Unix milliseconds, by the clock of the process that took the request. */
  readonly createdAt: UnixMs;
}

export interface ResponsePayload extends CallPayload {
  readonly queued: JsonObject;
}

/** Headers that were about the connection, who asked, or the first request alone. */
const NOT_KEPT =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|idempotency-key|upgrade|sec-.*|cookie|prefer|authorization|x-api-key|x-goog-api-key|api-key|proxy-.*)$/;

/** Headers that count for whoever runs the request later. */
export function keptHeaders(headers: ApiCall['headers']): CallPayload['headers'] {
  return [...headers].filter(([name]) => !NOT_KEPT.test(name));
}

/** The request as it is kept. @param model as the client named it @param createdAt Unix milliseconds */
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

/** @throws TypeError for a protocol that no client speaks */
export function protocolOf({ protocol: name }: Pick<CallPayload, 'protocol'>): ServedProtocol {
  const protocol = findProtocol(name);
  if (!protocol?.server) throw new TypeError(`no client speaks ${name}`);
  return protocol as ServedProtocol;
}

/** Id of the record of a try: the first has the generation's own, all begin with its time. */
export function recordIdOf(id: string, attempt: number): string {
  if (attempt <= 1) return id;
  const hash = createHash('sha256').update(`${id}:${attempt}`).digest('hex');
  return id.slice(0, 12) + hash.slice(0, id.length - 12);
}

/** The answer of a job that has none of its own, as the API gives it back. */
export function standingResponse(job: JobView, payload: ResponsePayload): JsonObject {
  const { background } = protocolOf(payload).server;
  if (!background) return payload.queued;
  const failure: BackgroundFailure | undefined = job.error ?? undefined;
  return background.standing(payload.queued, statusOf(job), failure);
}

function statusOf({ state, isCancelRequested }: JobView): 'queued' | 'in_progress' | 'cancelled' | 'failed' {
  if (state === 'cancelled' || state === 'failed') return state;
  if (isCancelRequested) return 'cancelled';
  return state === 'running' || state === 'completed' ? 'in_progress' : 'queued';
}

/** The same with what led to it. */
export function standingStored(job: JobView, payload: ResponsePayload): StoredResponse {
  const { server } = protocolOf(payload);
  const { state, raw } = server.decodeRequest(JSON.parse(payload.body));
  return {
    id: job.id,
    projectId: job.projectId,
    createdAt: payload.createdAt,
    expiresAt: job.expiresAt,
    previousId: state?.previousResponseId ?? null,
    conversationId: state?.conversationId ?? null,
    response: standingResponse(job, payload),
    input: server.items?.identify(raw['input'], payload.id) ?? [],
  };
}
