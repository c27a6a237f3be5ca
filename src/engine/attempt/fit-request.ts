// A request in terms that one endpoint's protocol knows, conversation and tools: what it has no words for is rewritten,
// told to the model, or refused by name. Must not know what any protocol lacks: codecs say so.
import type { Endpoint } from '../../catalog/index.ts';
import { areTexts, type CanonicalRequest, type Report, type Role } from '../../canonical/index.ts';
import { findProtocol, tellForeign, type Ported, type Protocol } from '../../protocols/index.ts';

const NONE: ReadonlySet<Role> = new Set();

/**
 * The request for an endpoint, and how its answer is put back.
 * @param protocol the endpoint's
 * @throws GatewayError `unsupported` naming what would be another request without it
 */
export function fitRequest(
  request: CanonicalRequest,
  endpoint: Endpoint,
  protocol: Protocol,
  report: Report,
): Ported {
  const ported = findProtocol(request.protocol)?.server?.portable?.(request, endpoint, report);
  const fitting = ported?.request ?? request;
  const { faithful, hostedTools } = endpoint;
  // Whoever defines the client's protocol knows all of it.
  const isOwners = faithful && endpoint.protocol === request.protocol && request.hybrid !== true;
  // Every protocol has words for texts.
  const isText = fitting.tools.length === 0 && areTexts(fitting.items);
  const told =
    isOwners || isText
      ? fitting
      : tellForeign(
          fitting,
          {
            protocol: endpoint.protocol,
            faithful,
            hostedTools,
            textOnly: protocol.upstream.textOnly ?? NONE,
          },
          report,
        );
  return { request: told, restore: ported?.restore ?? null };
}
