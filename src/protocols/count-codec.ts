// The operation that counts the input tokens of a request, as clients ask for it and as upstreams are asked.
import type { CanonicalRequest, JsonObject, Report, Target } from '../canonical/index.ts';
import type { RequestRoute } from './server-codec.ts';

/** The operation that counts the input tokens of a request, as clients ask for it. */
export interface CountServer {
  /** Decodes a client's body. Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): CanonicalRequest;
  /** The answer. @param inputTokens counted by an upstream, or estimated */
  encodeCount(inputTokens: number): JsonObject;
}

/** The same operation, as upstreams are asked for it. */
export interface CountCodec {
  /** Path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** Writes the upstream body. */
  encodeRequest(request: CanonicalRequest, target: Target, report: Report): JsonObject;
  /** Tokens from an upstream's answer; undefined when it holds none. */
  decodeCount(body: unknown): number | undefined;
}
