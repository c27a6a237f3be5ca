// Stands before the reader of an upstream's answer, in both lanes: what the request proved its sender with reaches neither
// a client nor anything that is kept.
import type { Endpoint } from '../../catalog/index.ts';
import { EchoFilter, EchoMask, secretsOfAsking, secretsOfHeaders } from '../../telemetry/echo-mask.ts';
import type { SignatureHeaders } from '../../upstream/credential.ts';
import type { AnswerReader } from './answer-reader.ts';

/** Null: there is nothing to find. */
const known = new WeakMap<Endpoint, EchoMask | null>();
const signed = new WeakMap<SignatureHeaders, EchoMask | null>();

/**
 * The same reader behind a search for the credentials that were sent, by their exact values.
 * @param signature headers that were added to the request; undefined where a fixed one is all
 */
export function masked(
  reader: AnswerReader,
  endpoint: Endpoint,
  signature: SignatureHeaders | undefined,
): AnswerReader {
  const mask = signature ? maskOfSignature(endpoint, signature) : maskOf(endpoint);
  if (!mask) return reader;
  const filter = new EchoFilter(mask);
  return {
    data(bytes) {
      const safe = filter.push(bytes);
      if (safe !== '') reader.data(safe);
    },
    end() {
      const rest = filter.end();
      if (rest !== '') reader.data(rest);
      reader.end();
    },
  };
}

function maskOf(endpoint: Endpoint): EchoMask | null {
  let mask = known.get(endpoint);
  if (mask === undefined) known.set(endpoint, (mask = EchoMask.of(secretsOf(endpoint))));
  return mask;
}

/** Tokens are sent with many requests, in the same object; signatures are not. */
function maskOfSignature(endpoint: Endpoint, signature: SignatureHeaders): EchoMask | null {
  let mask = signed.get(signature);
  if (mask === undefined) {
    mask = EchoMask.of([...secretsOf(endpoint), ...secretsOfHeaders(signature)]);
    signed.set(signature, mask);
  }
  return mask;
}

function secretsOf({ auth, headers, baseUrl }: Endpoint): readonly string[] {
  return [...(auth ? [auth.key.reveal()] : []), ...secretsOfAsking(baseUrl, headers)];
}
