// Splits a grammar in Lark's syntax into tokens.
import { parseJson } from '../../base/json/index.ts';
import { cannotCheck, broken } from './problem.ts';

export type LarkToken =
  /** Name of a rule or terminal, without the marks that only shape parse trees. */
  | { readonly type: 'name'; readonly text: string; readonly at: number }
  /** `text` is without quotes and escapes. */
  | { readonly type: 'string'; readonly text: string; readonly ignoreCase: boolean; readonly at: number }
  | { readonly type: 'regex'; readonly text: string; readonly flags: string; readonly at: number }
  | { readonly type: 'number'; readonly text: string; readonly at: number }
  /** `%import` and similar. */
  | { readonly type: 'directive'; readonly text: string; readonly at: number }
  | { readonly type: 'mark'; readonly text: string; readonly at: number };

/** One token, or white space and comments between tokens. Comments begin with `//`; OpenAI also allows `#`. */
const TOKEN = new RegExp(
  [
    '(?<space>\\s+|//[^\\n]*|#[^\\n]*)',
    '(?<name>[!?]{0,2}_*[a-zA-Z](?:\\w|-(?!>))*)',
    '(?<string>"(?:[^"\\\\\\n]|\\\\.)*")(?<fold>i?)(?!\\w)',
    '/(?<regex>(?:[^/\\\\\\n]|\\\\.)+)/(?<flags>[imslux]*)(?!\\w)',
    '(?<number>[+-]?\\d+)',
    '(?<directive>%[a-z]+)',
    '(?<mark>->|\\.\\.|[:|()[\\]{}*+?~,.=])',
    '(?<foreign>[<@&])',
  ].join('|'),
  'uy',
);

/**
 * @param path of the grammar in the client's body
 * @throws GatewayError `invalid_request` for invalid tokens, `unsupported` for tokens that only some servers know
 */
export function larkTokens(grammar: string, path: string): readonly LarkToken[] {
  const tokens: LarkToken[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < grammar.length) {
    const at = TOKEN.lastIndex;
    const found = TOKEN.exec(grammar)?.groups;
    if (!found)
      throw broken(path, `${lineOf(grammar, at)} cannot be read: ${grammar.slice(at, at + 20).trim()}`);
    if (found['space'] !== undefined) continue;
    if (found['foreign'] !== undefined)
      throw cannotCheck(path, `${found['foreign']} in ${lineOf(grammar, at)} is not valid in Lark`);
    if (found['name'] !== undefined)
      tokens.push({ type: 'name', text: found['name'].replace(/^[!?]+/, ''), at });
    else if (found['string'] !== undefined)
      tokens.push({ type: 'string', text: unquoted(found['string']), ignoreCase: found['fold'] === 'i', at });
    else if (found['regex'] !== undefined)
      tokens.push({
        type: 'regex',
        text: found['regex'].replaceAll('\\/', '/'),
        flags: found['flags'] ?? '',
        at,
      });
    else if (found['number'] !== undefined) tokens.push({ type: 'number', text: found['number'], at });
    else if (found['directive'] !== undefined)
      tokens.push({ type: 'directive', text: found['directive'], at });
    else tokens.push({ type: 'mark', text: found['mark'] ?? '', at });
  }
  return tokens;
}

/**
 * Decodes JSON escapes, as OpenAI does. In strings that are not valid JSON, Lark's own rules apply: the backslash
 * stands for itself.
 */
function unquoted(quoted: string): string {
  const json = parseJson(quoted.replaceAll('\t', '\\t'));
  if (typeof json === 'string') return json;
  return quoted
    .slice(1, -1)
    .replace(
      /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))/gu,
      (whole, hex?: string, wide?: string, char?: string) =>
        char === undefined
          ? String.fromCharCode(parseInt(hex ?? wide ?? '0', 16))
          : (LARK_ESCAPES[char] ?? whole),
    );
}

const LARK_ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  f: '\f',
  '"': '"',
  '\\': '\\',
};

/** Position in the grammar: `line 3`. */
export function lineOf(grammar: string, at: number): string {
  return `line ${grammar.slice(0, at).split('\n').length}`;
}
