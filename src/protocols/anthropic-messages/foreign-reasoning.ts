// Carries reasoning of other families through Messages clients, which keep only thinking with a signature. The gateway
// writes a signature that contains what the other family needs.
import type { OpaqueReasoning, ReasoningItem } from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';

/** Format of Claude's signed thinking in `reasoning_details`. */
export const CLAUDE_REASONING = 'anthropic-claude-v1';

/** Prefix of a signature or redacted data that the gateway wrote. Claude's own are base64, which has no colon. */
const MARK = 'dragoman:';

/** Data of a reasoning item that the client does not see. */
export interface HiddenReasoning {
  readonly format: string | undefined;
  readonly opaque: OpaqueReasoning | undefined;
  readonly id: string | undefined;
  /** True: the client saw a summary of the reasoning. */
  readonly isSummary: boolean;
}

/** Returns the value of `signature` or `data` from which the item can be restored. Never empty. */
export function encodeHidden({ format, opaque, id, isSummary }: HiddenReasoning): string {
  return (
    MARK +
    JSON.stringify({
      format: opaque?.format ?? format,
      kind: opaque?.kind,
      data: opaque?.data,
      id,
      summary: isSummary || undefined,
    })
  );
}

/** Returns the item of another family that a block carries; undefined if the gateway did not write the text. */
export function decodeHidden(text: string, thinking: string): ReasoningItem | undefined {
  if (!text.startsWith(MARK)) return undefined;
  const hidden = asObject(parseJson(text.slice(MARK.length)));
  const format = asString(hidden['format']);
  const data = asString(hidden['data']);
  const kind = hidden['kind'] === 'signature' ? 'signature' : 'encrypted';
  const visible = thinking === '' ? [] : [thinking];
  return {
    type: 'reasoning',
    id: asString(hidden['id']),
    format,
    text: hidden['summary'] === true ? [] : visible,
    summary: hidden['summary'] === true ? visible : [],
    opaque: data === undefined ? undefined : { format: format ?? 'unknown', kind, data },
  };
}
