// `thoughtSignature`: the bytes in which a model's hidden state travels through a Gemini conversation. Owns their
// spelling in clients' JSON. Must not know on which part a signature stands.

/** The format that names Gemini's own state in `reasoning_details`. */
export const GEMINI_REASONING = 'google-gemini-v1';

/**
 * Accepted by Gemini 3 in place of the signature of a call that it did not make itself (documentation "Thought
 * signatures", FAQ, 2026-11); a current turn without any is refused.
 */
export const FOREIGN_CALL_SIGNATURE = 'skip_thought_signature_validator';

/** Whole groups of base64 in the alphabet of RFC 4648, section 4: what Google writes. */
const STANDARD = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ASCII = /^[\x20-\x7e]*$/;
/** Prefix of a wrapped text, before and after its encoding (nine bytes fill whole groups). */
const MARK = 'dragoman:';
const ENCODED_MARK = btoa(MARK);

/**
 * The signature for a client. The field holds bytes: some clients decode base64 and write it again, in the URL-safe
 * alphabet. A text that would not survive this, as the sealed state of another family's, is wrapped.
 * @param data ASCII; anything else is an upstream's damage, and passes as it came
 */
export function encodeSignature(data: string): string {
  return STANDARD.test(data) || !ASCII.test(data) ? data : btoa(MARK + data);
}

/**
 * The text that was given to a client as a signature; of Gemini's own always in one alphabet: the same bytes must be
 * the same text, or the copy that the gateway kept would count as another one.
 */
export function decodeSignature(signature: string): string {
  const data = standardBase64(signature);
  if (!data.startsWith(ENCODED_MARK)) return data;
  try {
    return atob(data).slice(MARK.length);
  } catch {
    return data;
  }
}

/** The same bytes in the alphabet of RFC 4648, section 4, in whole groups. */
export function standardBase64(text: string): string {
  const standard = /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
  const rest = standard.length % 4;
  return rest < 2 ? standard : standard + '='.repeat(4 - rest);
}
