// Preparation that takes time, before a request is prepared for one endpoint: adaptation, truncation, fetched media, text of
// documents, compiled schemas. Most requests need none.
import { areTexts, type CanonicalRequest } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol } from '../../protocols/index.ts';
import { overlong, prepareSchema, schemaToPrepare, truncate } from '../adapt/index.ts';
import { fetchMedia, hasMediaAddresses, needsReading, readDocuments } from '../media/index.ts';
import { contextOf } from '../routing/index.ts';
import type { TextTry } from './text-try.ts';

export interface Ready {
  readonly request: CanonicalRequest;
  /** True: the request differs from the client's own bytes. */
  readonly isRewritten: boolean;
  /** Number of oldest items that were dropped to fit the context. */
  readonly omitted: number;
}

/** Makes the request of a try ready. Rejects with GatewayError when that is impossible or cancelled. */
export async function readyFor(asking: TextTry): Promise<Ready> {
  const { input, candidate, terms } = asking;
  const { cancellation } = terms;
  const { endpoint } = candidate;
  const fitted = input.fit
    ? await cancellation.orCancelled(input.fit(asking.request, endpoint))
    : asking.request;
  const { request: truncated, omitted } = fitted.state
    ? await cutFor(fitted, asking)
    : { request: fitted, omitted: 0 };
  let request = truncated;
  const { attemptLog, deps } = input;
  const isText = areTexts(request.items);
  if (!isText && hasMediaAddresses(request)) {
    const { account } = input.planned.arrival.call;
    const fetching = fetchMedia(request, endpoint, attemptLog.fetched, deps.media, account);
    request = await cancellation.orCancelled(fetching);
  }
  if (!isText && needsReading(request, endpoint)) {
    const reading = readDocuments(request, endpoint, attemptLog.documents, cancellation.signal);
    request = await cancellation.orCancelled(reading);
  }
  // A schema for checking the answer is compiled first, in a separate process.
  const schema = schemaOf(request, endpoint);
  if (schema) await cancellation.orCancelled(prepareSchema(schema, cancellation.signal));
  return { request, isRewritten: fitted !== asking.request || request !== truncated, omitted };
}

/** The schema for checking the answer here. Undefined or null: the answer is not checked. */
function schemaOf(
  request: CanonicalRequest,
  endpoint: Endpoint,
): ReturnType<typeof schemaToPrepare> | undefined {
  const ported = findProtocol(request.protocol)?.server?.portableFormat?.(request, endpoint);
  const format = ported ?? request.responseFormat;
  const { quirks, faithful } = endpoint;
  return format && schemaToPrepare(format, { structuredOutput: quirks.structuredOutput, faithful });
}

/** Truncates the request to the endpoint's context if the client allows it. Rejects when it does not fit. */
async function cutFor(
  request: CanonicalRequest,
  { input, candidate, terms: { cancellation } }: TextTry,
): Promise<Pick<Ready, 'request' | 'omitted'>> {
  const { routing, clock } = input.deps;
  const { endpoint } = candidate;
  const isOver = (): boolean => cancellation.reason !== undefined;
  const contextLength = contextOf(endpoint, routing.health(endpoint), clock.now());
  if (request.state?.truncation === 'auto') return truncate(request, contextLength, isOver);
  const refusal = await overlong(request, contextLength, isOver);
  if (refusal) throw refusal;
  return { request, omitted: 0 };
}
