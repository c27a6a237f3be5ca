// What the program that reads a PDF says to the process that started it, and the limits that both know. Types and
// numbers only: it is loaded in both.

export const MOST_PAGES = 500;
/** Of all pages together: about half a million tokens. */
export const MOST_CHARS = 2_000_000;

export type PdfAnswer =
  /** The text of each page, in order; empty where a page has none. */
  | { readonly pages: readonly string[] }
  /** It opens only with a password, is no PDF that can be read, or its text is longer than `MOST_CHARS`. */
  | { readonly problem: 'encrypted' | 'broken' | 'text' }
  | { readonly problem: 'pages'; readonly pages: number };
