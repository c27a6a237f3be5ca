// A token in the `authorization` header, as OAuth 2.0 issues them. Knows no issuer.
import { asNumber, asObject, asString, parseJson } from '../base/json/index.ts';
import { type IssuerAnswer, notIssued, refusalWords } from './ask-issuer.ts';
import type { ReadyCredential, SignatureHeaders } from './credential.ts';
import type { FetchedCredential } from './renewed-credential.ts';
import type { UnixMs } from '../base/units.ts';

const DEFAULT_SECONDS = 3600;

/** Sends a token, and what else must go with it. */
export function bearerToken(token: string, besides: SignatureHeaders = {}): ReadyCredential {
  const headers = { authorization: `Bearer ${token}`, ...besides };
  return { headers: () => headers, isRefusal: ({ status }) => status === 401 };
}

/** True for text that can stand in a header as a token. */
export function isToken(text: string | undefined): text is string {
  return text !== undefined && text !== '' && !/[^\x21-\x7e]/.test(text);
}

/**
 * Reads an answer of a token service (RFC 6749 section 5.1). Microsoft's metadata services write numbers as texts, and
 * one of them says only when the token expires (`expires_on`, Unix seconds).
 * @param whom the token is for, for messages
 * @throws GatewayError in the issuer's own words where it refuses
 */
export function readToken(
  answer: IssuerAnswer,
  { issuer, whom, now }: { readonly issuer: string; readonly whom: string; readonly now: UnixMs },
  besides?: SignatureHeaders,
): FetchedCredential {
  const body = asObject(parseJson(answer.text));
  const token = asString(body['access_token']);
  if (answer.status !== 200 || !isToken(token))
    throw notIssued(issuer, `no token for ${whom}`, answer, refusalWords(answer));
  const seconds = toNumber(body['expires_in']);
  const until = toNumber(body['expires_on']);
  const expiresAt =
    seconds === undefined && until !== undefined ? until * 1000 : now + (seconds ?? DEFAULT_SECONDS) * 1000;
  return { credential: bearerToken(token, besides), expiresAt };
}

function toNumber(value: unknown): number | undefined {
  const text = asString(value);
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : asNumber(value);
}
