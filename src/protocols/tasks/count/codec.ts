// Counting the input tokens of a request, in the forms of one protocol, for upstreams and clients.
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalRequest, ProtocolName, Report, Target } from '../../../canonical/index.ts';
import type { ClientRoute, RequestRoute } from '../../protocol.ts';

export interface CountUpstream {
  /**
   * Returns the path below the provider's base URL. Absent: the protocol's owner does not count, and only servers whose
   * preset names a path are used.
   * @param model the upstream's own name
   */
  pathFor?(model: string): string;
  /** Encodes the upstream body. */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Returns the tokens in an upstream's answer; undefined if there are none. */
  decodeCount(body: unknown): number | undefined;
}

export interface CountClient {
  readonly routes: readonly ClientRoute[];
  /** Decodes a client's body. @throws GatewayError naming every invalid field */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** Encodes the answer. @param inputTokens counted by an upstream, or estimated */
  encodeCount(inputTokens: number): JsonObject;
}

export interface CountCodec {
  readonly protocol: ProtocolName;
  readonly upstream: CountUpstream;
  /** Form of hosts that serve the protocol for its owner. Absent: the owner's form. */
  readonly hosted?: Pick<CountUpstream, 'encodeRequest'>;
  /** Absent: its clients have no such operation. */
  readonly client?: CountClient;
}
