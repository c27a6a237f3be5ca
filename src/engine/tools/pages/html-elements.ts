// Classification of HTML elements for text extraction (HTML standard, section 15, "Rendering", and 13.1.2, "Elements";
// read 2026-11).

const list = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Separated by empty lines. */
export const PARAGRAPHS = list(
  'address article aside blockquote details dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr main ' +
    'nav ol p pre search section table ul',
);

/** Begin a new line. */
export const LINES = list(
  'body br caption center dd div dt figcaption legend li summary tbody tfoot thead tr',
);

/** Contain no readable text, or only controls. */
export const UNREADABLE = list(
  'audio button canvas datalist dialog iframe map noembed noframes object script select style svg template textarea ' +
    'video',
);

/** Site navigation that is not part of the page. */
export const SITE_PARTS = list('nav footer');

/** Void elements, which have no content to omit. */
export const VOID_ELEMENTS = list('area base br col embed hr img input link meta source track wbr');

/** End where the next of their kind begins, even without an end tag. */
export const SELF_ENDING = list('dd dt li option p tbody td tfoot th thead tr');

export const HEADINGS: ReadonlyMap<string, string> = new Map([
  ['h1', '# '],
  ['h2', '## '],
  ['h3', '### '],
  ['h4', '#### '],
  ['h5', '##### '],
  ['h6', '###### '],
]);

// Detection of text hidden by an element's `style` attribute.

const ZERO = '(?:0+(?:\\.0*)?|\\.0+)[a-z%]*\\s*(?:[;!]|$)';
/** Offsets far outside of any intended overlap. */
const OFF_SCREEN = '-(?:[5-9]\\d\\d|\\d{4,}|[1-9]\\d\\d(?:r?em|v[wh])|[5-9]\\dr?em)';
const HIDING = new RegExp(
  [
    'display\\s*:\\s*none',
    'visibility\\s*:\\s*(?:hidden|collapse)',
    'content-visibility\\s*:\\s*hidden',
    `(?:opacity|font-size)\\s*:\\s*${ZERO}`,
    `(?:left|right|top|bottom|text-indent|margin-left|margin-top)\\s*:\\s*${OFF_SCREEN}`,
  ]
    .map((declaration) => `(?:^|[;\\s/])${declaration}`)
    .join('|'),
  'i',
);

/**
 * True for a `style` that hides content: not displayed, transparent, without size, or far outside of the page.
 * @param style value of the attribute
 */
export function isHiddenByStyle(style: string): boolean {
  return HIDING.test(style);
}
