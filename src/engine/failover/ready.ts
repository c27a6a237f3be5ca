// Makes a request ready for one endpoint before it is prepared: everything about it that takes time. Most requests are
// ready as they are.
import { areTexts, type CanonicalRequest } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol } from '../../protocols/index.ts';
import { contextOf } from '../routing/index.ts';
import { overlong, prepareSchema, schemaToPrepare, truncate } from '../adapt/index.ts';
import { fetchMedia, needsReading, hasMediaAddresses, readDocuments } from '../media/index.ts';
import type { TextTry } from './try-text.ts';

export interface Ready {
  readonly request: CanonicalRequest;
  /** True: it says what the client's own bytes do not say. */
  readonly isRewritten: boolean;
  /** The oldest items that were left out, since they do not fit. */
  readonly omitted: number;
}

/** Makes the request of a try ready. Rejects with GatewayError where it cannot be, or nobody waits for it any more. */
export async function readyFor(asking: TextTry): Promise<Ready> {
  const { input, candidate, terms } = asking;
  const { cancellation } = terms;
  const { endpoint } = candidate;
  const fitted = input.fit
    ? await cancellation.orCancelled(input.fit(asking.request, endpoint))
    : asking.request;
  const { request: pointing, omitted } = fitted.state
    ? await cutFor(fitted, asking)
    : { request: fitted, omitted: 0 };
  let request = pointing;
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
  // A schema that the answer will be checked by is compiled first, in a process of its own.
  const schema = schemaOf(request, endpoint);
  if (schema) await cancellation.orCancelled(prepareSchema(schema, cancellation.signal));
  return { request, isRewritten: fitted !== asking.request || request !== pointing, omitted };
}

/** The schema that the answer will be checked by here; undefined or null where it will not be. */
function schemaOf(
  request: CanonicalRequest,
  endpoint: Endpoint,
): ReturnType<typeof schemaToPrepare> | undefined {
  const ported = findProtocol(request.protocol)?.server?.portableFormat?.(request, endpoint);
  const format = ported ?? request.responseFormat;
  const { quirks, faithful } = endpoint;
  return format && schemaToPrepare(format, { structuredOutput: quirks.structuredOutput, faithful });
}

/** The request as it fits into the endpoint's context, where its client wants it cut. Rejects where it does not fit. */
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
