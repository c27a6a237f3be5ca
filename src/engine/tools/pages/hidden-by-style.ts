// Whether an element's own style hides its words from people. Knows nothing of style sheets, nor of elements.

const ZERO = '(?:0+(?:\\.0*)?|\\.0+)[a-z%]*\\s*(?:[;!]|$)';
/** Farther than any overlap that is meant to be seen. */
const FAR = '-(?:[5-9]\\d\\d|\\d{4,}|[1-9]\\d\\d(?:r?em|v[wh])|[5-9]\\dr?em)';
const HIDING = new RegExp(
  [
    'display\\s*:\\s*none',
    'visibility\\s*:\\s*(?:hidden|collapse)',
    'content-visibility\\s*:\\s*hidden',
    `(?:opacity|font-size)\\s*:\\s*${ZERO}`,
    `(?:left|right|top|bottom|text-indent|margin-left|margin-top)\\s*:\\s*${FAR}`,
  ]
    .map((declaration) => `(?:^|[;\\s/])${declaration}`)
    .join('|'),
  'i',
);

/**
 * True for a `style` that shows nothing: not displayed, transparent, without size, or far outside of the page.
 * @param style value of the attribute
 */
export function isHiddenByStyle(style: string): boolean {
  return HIDING.test(style);
}
