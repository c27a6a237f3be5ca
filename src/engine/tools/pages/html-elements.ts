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
