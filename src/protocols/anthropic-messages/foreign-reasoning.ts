// Reasoning of other families in a form that clients of the Messages API keep and give back. They know thinking only
// with a signature, so the gateway writes one that holds what the other family needs. Decides nothing about blocks.
import type { OpaqueReasoning, ReasoningItem } from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';

/** The format that names Claude's signed thinking in `reasoning_details`. */
export const CLAUDE_REASONING = 'anthropic-claude-v1';

/** Prefix of a signature or redacted data of the gateway's. Claude's own are base64, which has no colon. */
const MARK = 'dragoman:';

/** Facts of an item besides the text that the client sees. */
export interface HiddenReasoning {
  readonly format: string | undefined;
  readonly opaque: OpaqueReasoning | undefined;
  readonly id: string | undefined;
  /** True: what the client saw is a summary of the reasoning. */
  readonly isSummary: boolean;
}

/** The text for `signature` or `data` by which the item can be made again. Never empty. */
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

/** The item of another family that a block stands for; undefined where the text is no work of the gateway's. */
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
