// Classifies AWS's error bodies.
import type { ErrorKind } from '../../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import { kindByWords } from '../../errors/refusal-words.ts';
import {
  faultOfKind,
  kindOfStatus,
  retryAfterMs,
  shortMessage,
  upstreamFailure,
} from '../../errors/upstream-error.ts';

/** Kinds by exception name: API reference "Converse", errors, and "Common Errors" (2026-11). */
const EXCEPTIONS: ReadonlyMap<string, ErrorKind> = new Map<string, ErrorKind>([
  ['ValidationException', 'invalid_request'],
  ['ThrottlingException', 'rate_limited'],
  ['ModelNotReadyException', 'rate_limited'],
  ['ServiceQuotaExceededException', 'quota'],
  ['AccessDeniedException', 'permission'],
  ['ResourceNotFoundException', 'not_found'],
  ['ModelTimeoutException', 'timeout'],
  ['ModelErrorException', 'upstream_unavailable'],
  ['ModelStreamErrorException', 'upstream_unavailable'],
  ['InternalServerException', 'upstream_unavailable'],
  ['ServiceUnavailableException', 'upstream_unavailable'],
  ['ExpiredTokenException', 'authentication'],
  ['UnrecognizedClientException', 'authentication'],
  ['InvalidSignatureException', 'authentication'],
  ['IncompleteSignatureException', 'authentication'],
  ['MissingAuthenticationTokenException', 'authentication'],
]);

/** Messages for an invalid model name, or a model that is not available in this way (recorded 2026). */
const NO_SUCH_MODEL = /model identifier is invalid|on-demand throughput isn.t supported|end of its life/i;
const BAD_TOKEN = /security token included in the request|signature/i;

/**
 * Classifies an HTTP answer with an error status, or an exception in a stream.
 * @param status HTTP status
 * @param header reads a response header by lower-case name; `x-amzn-errortype` names the exception
 * @param body text of the answer, normally `{"message"}`
 */
export function decodeError(
  status: number,
  header: (name: string) => string | null,
  body: string,
): GatewayError {
  const parsed = asObject(parseJson(body));
  const message = asString(parsed['message']) ?? asString(parsed['Message']) ?? TEXTS.upstreamStatus(status);
  const kind = classify(exceptionName(header('x-amzn-errortype')), status, message);
  return new GatewayError(kind, shortMessage(message), {
    fault: faultOfKind(kind),
    retryAfterMs: retryAfterMs(header),
    upstream: upstreamFailure(status, body, header),
  });
}

function classify(name: string | undefined, status: number, message: string): ErrorKind {
  const kind = (name === undefined ? undefined : EXCEPTIONS.get(name)) ?? kindOfStatus(status);
  if (kind === 'permission' && BAD_TOKEN.test(message)) return 'authentication';
  if (kind !== 'invalid_request') return kind;
  return NO_SUCH_MODEL.test(message) ? 'not_found' : kindByWords(kind, { message });
}

/** Reads the name from `ValidationException:http://…` in headers, or `validationException` in streams. */
function exceptionName(header: string | null): string | undefined {
  const name = header?.split(/[:#]/, 1)[0]?.trim();
  return name ? name[0]?.toUpperCase() + name.slice(1) : undefined;
}
