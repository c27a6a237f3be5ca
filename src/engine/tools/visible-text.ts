// Takes out of a text what shows nothing to a person and is still read by a model: a way to give it orders that nobody
// sees. For text that comes from strangers: pages, search results, results of MCP servers.

/**
 * Characters that show nothing by themselves (Unicode Standard, section 5.21, "Default Ignorable Code Points"): tags,
 * bidirectional controls, variation selectors of the supplement, soft hyphens and the like. Scripts and emoji need the
 * others: joiners, the first variation selectors, the fillers of old Hangul.
 */
const INVISIBLE =
  /\p{Default_Ignorable_Code_Point}(?<![\p{Join_Control}\p{Variation_Selector}\u115f\u1160])|[\u{e0100}-\u{e01ef}]/gu;
/** Never more than two of these stand together, as in a burning heart: long runs of them are a writing of their own. */
const RUN = /([\p{Join_Control}\p{Variation_Selector}]{2})[\p{Join_Control}\p{Variation_Selector}]+/gu;

/** The text as a person sees it. Emoji that are joined of several stay whole; flags of regions become black ones. */
export function visibleText(text: string): string {
  return text.replace(INVISIBLE, '').replace(RUN, '$1');
}
