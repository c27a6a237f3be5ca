// Removes characters that are invisible to people but read by models, which can hide instructions. Used for untrusted
// text: pages, search results, results of MCP servers.

/**
 * Invisible characters (Unicode Standard, section 5.21, "Default Ignorable Code Points"): tags, bidirectional controls,
 * supplementary variation selectors, soft hyphens and similar. Joiners, the first variation selectors and old Hangul
 * fillers are kept for scripts and emoji.
 */
const INVISIBLE =
  /\p{Default_Ignorable_Code_Point}(?<![\p{Join_Control}\p{Variation_Selector}\u115f\u1160])|[\u{e0100}-\u{e01ef}]/gu;
/** At most two of these occur together in real text; long runs of them encode hidden text. */
const RUN = /([\p{Join_Control}\p{Variation_Selector}]{2})[\p{Join_Control}\p{Variation_Selector}]+/gu;

/** The text as a person sees it. Joined emoji are kept; flags of regions become black flags. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '').replace(RUN, '$1');
}
