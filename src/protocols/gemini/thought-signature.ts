// `thoughtSignature`: the bytes that carry a model's hidden state through a Gemini conversation, and their encoding in
// JSON.

/** Format of Gemini's own state in `reasoning_details`. */
export const GEMINI_REASONING = 'google-gemini-v1';

/**
 * Value that Gemini 3 accepts instead of the signature of another model's call (documentation "Thought signatures",
 * FAQ, 2026-11). A current turn without any signature is refused.
 */
export const FOREIGN_CALL_SIGNATURE = 'skip_thought_signature_validator';

/** Complete groups of base64 in the alphabet of RFC 4648, section 4, as Google writes it. */
const STANDARD = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const ASCII = /^[\x20-\x7e]*$/;
/** Prefix of a wrapped text, before and after encoding. Its nine bytes fill complete base64 groups. */
const MARK = 'dragoman:';
const ENCODED_MARK = btoa(MARK);

/**
 * Encodes a signature for a client. The member holds bytes, which some clients decode and encode again in the URL-safe
 * alphabet. Text that is not base64, such as another family's state, is wrapped.
 * @param data ASCII; anything else was damaged by the upstream and is passed unchanged
 */
export function encodeSignature(data: string): string {
  return STANDARD.test(data) || !ASCII.test(data) ? data : btoa(MARK + data);
}

/**
 * Decodes a client's signature. Gemini's own are normalized to one alphabet, because the gateway compares them with its
 * stored copies.
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

/** Converts base64 to complete groups in the alphabet of RFC 4648, section 4. */
export function standardBase64(text: string): string {
  const standard = /[-_]/.test(text) ? text.replaceAll('-', '+').replaceAll('_', '/') : text;
  const rest = standard.length % 4;
  return rest < 2 ? standard : standard + '='.repeat(4 - rest);
}
