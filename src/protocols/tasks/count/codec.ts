// The operation that counts the input tokens of a request, in the forms of one protocol: as upstreams are asked, and as clients
// ask.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, ProtocolName, Report, Target } from '../../../canonical/index.ts';
import type { ClientRoute, RequestRoute } from '../../protocol.ts';

export interface CountUpstream {
  /**
   * Path below the provider's base URL. Absent: the protocol's owner does not count, and only those servers are asked
   * whose preset names a path.
   * @param model the upstream's own name
   */
  pathFor?(model: string): string;
  /** Writes the upstream body. */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Tokens from an upstream's answer; undefined when it holds none. */
  decodeCount(body: unknown): number | undefined;
}

export interface CountClient {
  /** Routes of clients. */
  readonly routes: readonly ClientRoute[];
  /** Decodes a client's body. Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** The answer. @param inputTokens counted by an upstream, or estimated */
  encodeCount(inputTokens: number): JsonObject;
}

export interface CountCodec {
  readonly protocol: ProtocolName;
  readonly upstream: CountUpstream;
  /** Form of hosts that serve the protocol for its owner. Absent: the owner's own. */
  readonly hosted?: Pick<CountUpstream, 'encodeRequest'>;
  /** Absent: its clients have no such operation. */
  readonly client?: CountClient;
}
