// Messages of the program that reads a PDF, and the limits that both processes know. Types and numbers only: both
// load this file.

export const MOST_PAGES = 500;
/** Most characters of all pages together: about half a million tokens. */
export const MOST_CHARS = 2_000_000;

export type PdfAnswer =
  /** The text of each page, in order; empty where a page has none. */
  | { readonly pages: readonly string[] }
  /** It opens only with a password, is no PDF that can be read, or its text is longer than `MOST_CHARS`. */
  | { readonly problem: 'encrypted' | 'broken' | 'text' }
  | { readonly problem: 'pages'; readonly pages: number };
