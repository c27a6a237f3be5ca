// Embeddings, as clients of a protocol ask for them and as its servers make them.
import type {
  CanonicalRequest,
  Embeddings,
  EmbeddingsRequest,
  JsonObject,
  Report,
  Target,
  Usage,
  Vector,
} from '../canonical/index.ts';
import type { RequestRoute } from './server-codec.ts';

/** Embeddings as servers of a protocol make them. */
export interface EmbeddingsCodec {
  /** Path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** How many inputs one request may hold: more are sent as several. Absent: as many as clients may send. */
  mostInputs?(model: string): number;
  /**
   * Writes the upstream body. What has no place in it goes to the report; throws GatewayError `unsupported` for inputs
   * that cannot be expressed.
   */
  encodeRequest(
    request: EmbeddingsRequest,
    target: Pick<Target, 'model' | 'quirks'>,
    report: Report,
  ): JsonObject;
  /**
   * Reads a whole answer.
   * @param count how many inputs were sent
   * @throws GatewayError `upstream_unavailable` for a body that does not hold as many vectors
   */
  decodeResponse(body: unknown, count: number): Embeddings;
}

/** The vectors of a request, as a client is to get them. */
export interface AnsweredEmbeddings {
  /** One for each input, in the form that was asked for. */
  readonly vectors: readonly Vector[];
  readonly usage: Usage;
  /** The gateway's id of the model that ran. */
  readonly model: string;
  /** Cost in USD; undefined where it was not asked for, or is not known. */
  readonly costUsd: number | undefined;
}

/** A client's request for embeddings. */
export interface DecodedEmbeddings {
  /** What routing needs to know: a request without items. */
  readonly request: CanonicalRequest;
  /** Never empty. Several where settings differ from one input to another; their vectors are one answer, in order. */
  readonly asked: readonly EmbeddingsRequest[];
  /** Writes the body of the answer. */
  encode(answer: AnsweredEmbeddings): JsonObject;
}

/** Embeddings as clients of a protocol ask for them. */
export interface EmbeddingsServer {
  /** Decodes a client's body. Throws GatewayError naming every offending field. */
  decodeRequest(body: unknown, route?: RequestRoute): DecodedEmbeddings;
}
