// Meaning of HTML elements for a reader of text: blocks, and elements with nothing to read. Facts of the HTML
// standard (section 15, "Rendering", and 13.1.2, "Elements"; read 2026-11); no code.

const list = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Stand between empty lines. */
export const PARAGRAPHS = list(
  'address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main ' +
    'nav ol p pre search section table ul',
);

/** Begin a line. */
export const LINES = list(
  'body br caption center dd div dt figcaption legend li summary tbody tfoot thead tr',
);

/** Hold no words for people, or words of controls that nobody can press here. */
export const UNREADABLE = list(
  'audio button canvas datalist dialog iframe map noembed noframes object script select style svg template textarea ' +
    'video',
);

/** Lead around the site instead of belonging to the page. */
export const SITE_PARTS = list('nav footer');

/** Never have content, so nothing in them can be left out. */
export const VOID = list('area base br col embed hr img input link meta source track wbr');

/** End where the next of their kind begins, whether or not somebody wrote an end tag. */
export const SELF_ENDING = list('dd dt li option p tbody td tfoot th thead tr');

export const HEADINGS: ReadonlyMap<string, string> = new Map([
  ['h1', '# '],
  ['h2', '## '],
  ['h3', '### '],
  ['h4', '#### '],
  ['h5', '##### '],
  ['h6', '###### '],
]);

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
