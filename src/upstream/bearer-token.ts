// Bearer tokens as issued by OAuth 2.0.
import { asNumber, asObject, asString, parseJson } from '../base/json/index.ts';
import { type IssuerAnswer, notIssued, refusalWords } from './request-token.ts';
import type { ReadyCredential, SignatureHeaders } from './credential.ts';
import type { FetchedCredential } from './renewed-credential.ts';
import type { UnixMs } from '../base/units.ts';

const DEFAULT_SECONDS = 3600;

/** Credential that sends a token and additional headers. */
export function bearerToken(token: string, extraHeaders: SignatureHeaders = {}): ReadyCredential {
  const headers = { authorization: `Bearer ${token}`, ...extraHeaders };
  return { headers: () => headers, isRefusal: ({ status }) => status === 401 };
}

/** True for text that is a valid token in a header. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && text !== '' && !/[^\x21-\x7e]/.test(text);
}

/**
 * Reads an answer of a token service (RFC 6749 section 5.1). Microsoft's metadata services write numbers as strings,
 * and one only returns `expires_on` (Unix seconds).
 * @param whom owner of the token, for messages
 * @throws GatewayError with the issuer's message when it refuses
 */
export function readToken(
  answer: IssuerAnswer,
  { issuer, whom, now }: { readonly issuer: string; readonly whom: string; readonly now: UnixMs },
  extraHeaders?: SignatureHeaders,
): FetchedCredential {
  const body = asObject(parseJson(answer.text));
  const token = asString(body['access_token']);
  if (answer.status !== 200 || !isToken(token))
    throw notIssued(issuer, `no token for ${whom}`, answer, refusalWords(answer));
  const seconds = toNumber(body['expires_in']);
  const until = toNumber(body['expires_on']);
  const expiresAt =
    seconds === undefined && until !== undefined ? until * 1000 : now + (seconds ?? DEFAULT_SECONDS) * 1000;
  return { credential: bearerToken(token, extraHeaders), expiresAt };
}

function toNumber(value: unknown): number | undefined {
  const text = asString(value);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : asNumber(value);
}
