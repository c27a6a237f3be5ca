// Parses a grammar in Lark's syntax, as OpenAI documents it for custom tools ("Function calling", "Context-free
// grammars", and the syntax notes of llguidance, which runs them; read 2026-11). Valid features that are not
// implemented (templates, lexeme options, inline JSON Schemas, special tokens) are reported as unsupported.
import { TEXTS } from '../../canonical/index.ts';
import { lineOf, larkTokens, type LarkToken } from './lark-tokens.ts';
import { cannotCheck, broken } from './problem.ts';

export type LarkNode =
  | { readonly type: 'literal'; readonly text: string; readonly ignoreCase: boolean }
  | { readonly type: 'range'; readonly from: string; readonly to: string }
  | { readonly type: 'regex'; readonly text: string; readonly flags: string }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'sequence'; readonly parts: readonly LarkNode[] }
  | { readonly type: 'choice'; readonly options: readonly LarkNode[] }
  | { readonly type: 'repeat'; readonly body: LarkNode; readonly min: number; readonly max: number | null };

export interface LarkGrammar {
  /** Rules and terminals by name. */
  readonly definitions: ReadonlyMap<string, LarkNode>;
  /** Imported terminals: the name here, and that in `common`. */
  readonly imports: ReadonlyMap<string, string>;
  /** Nodes that may appear between any two terminals. */
  readonly ignored: readonly LarkNode[];
}

/** Maximum nesting depth of a grammar. */
const DEEPEST = 200;

/**
 * @param path of the grammar in the client's body
 * @throws GatewayError `invalid_request` for an invalid grammar, `unsupported` for one that cannot be checked
 */
export function parseLark(grammar: string, path: string): LarkGrammar {
  return new LarkParser(grammar, path).parse();
}

class LarkParser {
  readonly #grammar: string;
  readonly #path: string;
  readonly #tokens: readonly LarkToken[];
  #at = 0;
  #depth = 0;
  readonly #definitions = new Map<string, LarkNode>();
  readonly #imports = new Map<string, string>();
  readonly #ignored: LarkNode[] = [];

  constructor(grammar: string, path: string) {
    this.#grammar = grammar;
    this.#path = path;
    this.#tokens = larkTokens(grammar, path);
  }

  parse(): LarkGrammar {
    while (this.#at < this.#tokens.length) {
      const token = this.#tokens[this.#at++];
      if (token?.type === 'directive') this.#directive(token.text);
      else if (token?.type === 'name') this.#definition(token.text);
      else throw this.#unexpected(token);
    }
    return { definitions: this.#definitions, imports: this.#imports, ignored: this.#ignored };
  }

  #definition(name: string): void {
    if (this.#takes('{')) throw cannotCheck(this.#path, 'it has templates');
    if (this.#takes('[')) throw cannotCheck(this.#path, 'it has options for single rules');
    // Skips a priority, which selects parse trees and does not affect matching.
    if (this.#takes('.')) this.#at++;
    if (!this.#takes(':')) throw this.#unexpected(this.#tokens[this.#at]);
    if (this.#definitions.has(name)) throw broken(this.#path, `${name} is defined twice`);
    this.#definitions.set(name, this.#alternatives());
  }

  #directive(directive: string): void {
    switch (directive) {
      case '%ignore':
        this.#ignored.push(this.#alternatives());
        return;
      case '%import':
        return this.#import();
      default:
        throw cannotCheck(this.#path, `it uses ${directive}`);
    }
  }

  /** `common.NAME`, `common.NAME -> ALIAS` or `common (NAME, …)`. */
  #import(): void {
    const library = this.#tokens[this.#at++];
    if (library?.type !== 'name' || library.text !== 'common')
      throw cannotCheck(this.#path, 'it imports from a library other than `common`');
    if (this.#takes('.')) {
      const name = this.#name();
      this.#imports.set(this.#takes('->') ? this.#name() : name, name);
      return;
    }
    this.#expect('(');
    do {
      const name = this.#name();
      this.#imports.set(name, name);
    } while (this.#takes(','));
    this.#expect(')');
  }

  #alternatives(): LarkNode {
    if (++this.#depth > DEEPEST) throw broken(this.#path, TEXTS.tooDeep(DEEPEST));
    // A definition may begin with a bar, as its further lines do.
    this.#takes('|');
    const options: LarkNode[] = [];
    do {
      options.push(this.#sequence());
      // Skips a name for the parse tree.
      if (this.#takes('->')) this.#name();
    } while (this.#takes('|'));
    this.#depth--;
    const [only] = options;
    return only && options.length === 1 ? only : { type: 'choice', options };
  }

  #sequence(): LarkNode {
    const parts: LarkNode[] = [];
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token === undefined || token.type === 'directive' || this.#beginsDefinition()) break;
      if (token.type === 'mark' && token.text !== '(' && token.text !== '[' && token.text !== '~') break;
      parts.push(this.#repeated(this.#atom()));
    }
    const [only] = parts;
    return only && parts.length === 1 ? only : { type: 'sequence', parts };
  }

  /** Line breaks are ignored: a name begins a definition when a colon follows, optionally after a priority. */
  #beginsDefinition(): boolean {
    if (this.#tokens[this.#at]?.type !== 'name') return false;
    const next = this.#tokens[this.#at + 1];
    if (next?.type !== 'mark') return false;
    if (next.text === ':') return true;
    const colon = this.#tokens[this.#at + 3];
    return next.text === '.' && colon?.type === 'mark' && colon.text === ':';
  }

  #atom(): LarkNode {
    const token = this.#tokens[this.#at++];
    switch (token?.type) {
      case 'name':
        if (this.#sees('{') && !this.#beginsBounds()) throw cannotCheck(this.#path, 'it has templates');
        return { type: 'name', name: token.text };
      case 'regex':
        return { type: 'regex', text: token.text, flags: token.flags };
      case 'string': {
        if (!this.#takes('..')) return { type: 'literal', text: token.text, ignoreCase: token.ignoreCase };
        const to = this.#tokens[this.#at++];
        if (to?.type !== 'string' || [...token.text].length !== 1 || [...to.text].length !== 1)
          throw broken(
            this.#path,
            `${lineOf(this.#grammar, token.at)}: a range needs one character on each side`,
          );
        return { type: 'range', from: token.text, to: to.text };
      }
      case 'mark': {
        if (token.text === '~') throw cannotCheck(this.#path, 'it negates a terminal');
        if (token.text !== '(' && token.text !== '[') break;
        const body = this.#alternatives();
        this.#expect(token.text === '(' ? ')' : ']');
        return token.text === '(' ? body : { type: 'repeat', body, min: 0, max: 1 };
      }
      default:
    }
    throw this.#unexpected(token);
  }

  #repeated(body: LarkNode): LarkNode {
    if (this.#takes('*')) return { type: 'repeat', body, min: 0, max: null };
    if (this.#takes('+')) return { type: 'repeat', body, min: 1, max: null };
    if (this.#takes('?')) return { type: 'repeat', body, min: 0, max: 1 };
    if (this.#takes('{')) return this.#bounded(body);
    if (!this.#takes('~')) return body;
    const min = this.#number();
    const max = this.#takes('..') ? this.#number() : min;
    if (max < min) throw broken(this.#path, TEXTS.repetitionOrder);
    return { type: 'repeat', body, min, max };
  }

  /** `{n}`, `{n,}`, `{,m}` and `{n,m}`, an extension of llguidance. */
  #bounded(body: LarkNode): LarkNode {
    const min = this.#takes(',') ? 0 : this.#number();
    const isOpen = this.#tokens[this.#at - 1]?.text === ',' || this.#takes(',');
    const max = this.#tokens[this.#at]?.type === 'number' ? this.#number() : isOpen ? null : min;
    this.#expect('}');
    if (max !== null && max < min) throw broken(this.#path, TEXTS.repetitionOrder);
    return { type: 'repeat', body, min, max };
  }

  /** After a name, a brace begins bounds or the arguments of a template. */
  #beginsBounds(): boolean {
    const next = this.#tokens[this.#at + 1];
    return next?.type === 'number' || (next?.type === 'mark' && next.text === ',');
  }

  #sees(mark: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.type === 'mark' && token.text === mark;
  }

  #takes(mark: string): boolean {
    if (!this.#sees(mark)) return false;
    this.#at++;
    return true;
  }

  #expect(mark: string): void {
    if (!this.#takes(mark)) throw this.#unexpected(this.#tokens[this.#at], mark);
  }

  #name(): string {
    const token = this.#tokens[this.#at++];
    if (token?.type !== 'name') throw this.#unexpected(token);
    return token.text;
  }

  #number(): number {
    const token = this.#tokens[this.#at++];
    if (token?.type !== 'number' || !/^\d{1,6}$/.test(token.text)) throw this.#unexpected(token);
    return Number(token.text);
  }

  #unexpected(token: LarkToken | undefined, wanted?: string): Error {
    const instead = wanted === undefined ? '' : `, expected ${wanted}`;
    return token === undefined
      ? broken(this.#path, `the grammar ends unexpectedly${instead}`)
      : broken(
          this.#path,
          `${lineOf(this.#grammar, token.at)}: unexpected ${token.text.slice(0, 40)}${instead}`,
        );
  }
}
