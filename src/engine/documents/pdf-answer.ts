// Messages of the PDF reader process and the limits shared with it. Both processes load this file, so it contains only
// types and numbers.

export const MOST_PAGES = 500;
/** Maximum characters of all pages together: about half a million tokens. */
export const MOST_CHARS = 2_000_000;

export type PdfAnswer =
  /** Text of each page, in order; empty for a page without text. */
  | { readonly pages: readonly string[] }
  /** The file needs a password, is not a readable PDF, or its text exceeds `MOST_CHARS`. */
  | { readonly problem: 'encrypted' | 'broken' | 'text' }
  | { readonly problem: 'pages'; readonly pages: number };
