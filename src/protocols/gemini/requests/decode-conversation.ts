// Decodes `contents` and `systemInstruction` into items of the flat conversation, including thoughts and signatures.
import type { JsonObject } from '../../../base/json/index.ts';
import {
  type Item,
  type OpaqueReasoning,
  type Part,
  type Problems,
  type Role,
  type Source,
  TEXTS,
} from '../../../canonical/index.ts';
import { asArray, isJsonObject } from '../../../base/json/index.ts';
import { CallMatcher } from '../../calls/call-ids.ts';
import { describe, readArray, readString, requireObject } from '../../members/read-member.ts';
import type { Member } from '../../members/read-member.ts';
import { camelMembers } from '../camel-members.ts';
import { decodeCall, decodeResult } from './decode-calls.ts';
import { decodeMedia } from './decode-media.ts';
import { HOSTED_PARTS } from '../hosted-parts.ts';
import { decodeSignature, FOREIGN_CALL_SIGNATURE, GEMINI_REASONING } from '../thought-signature.ts';

/** Roles in which clients send function responses; the latter two are from older clients. */
const USERS_ROLES: ReadonlySet<string> = new Set(['user', 'function', 'tool']);

/** Decodes `contents` into items. Every problem has its path. */
export function decodeContents(value: Member, problems: Problems): Item[] {
  if (value === undefined || value === null) {
    problems.add('contents', 'is required');
    return [];
  }
  // A single content counts as a list of one, as in Google's parser.
  const contents = isJsonObject(value) ? [value] : readArray(value, 'contents', problems);
  if (contents?.length === 0) problems.add('contents', 'must not be empty');
  const matcher = new CallMatcher('gemini_call_');
  const items: Item[] = [];
  contents?.forEach((content, index) => {
    const path = isJsonObject(value) ? 'contents' : `contents[${index}]`;
    if (!isJsonObject(content)) {
      problems.add(path, TEXTS.mustBeObject(describe(content)));
      return;
    }
    const role = decodeRole(content['role'], `${path}.role`, problems);
    const decoder = new ContentDecoder(role, path, items, matcher, problems);
    const parts = readArray(content['parts'], `${path}.parts`, problems);
    parts?.forEach((part, position) => {
      const at = `${path}.parts[${position}]`;
      if (isJsonObject(part)) decoder.part(part, at);
      else problems.add(at, TEXTS.mustBeObject(describe(part)));
    });
    decoder.end();
  });
  return items;
}

/** Decodes `systemInstruction`: a content, of which only text counts, or a string. */
export function decodeSystemInstruction(value: Member, problems: Problems): Item[] {
  const path = 'systemInstruction';
  if (value === undefined || value === null) return [];
  if (typeof value === 'string')
    return [{ type: 'message', role: 'system', parts: [{ type: 'text', text: value, path }], path }];
  const content = requireObject(value, path, problems);
  const given = content?.['parts'];
  const parts: Part[] = [];
  (isJsonObject(given) ? [given] : asArray(given)).forEach((part, index) => {
    const at = `${path}.parts[${index}]`;
    const text = isJsonObject(part) ? readString(part['text'], `${at}.text`, problems) : undefined;
    if (text === undefined) problems.add(at, 'must be a part with a text');
    else parts.push({ type: 'text', text, path: at });
  });
  return parts.length > 0 ? [{ type: 'message', role: 'system', parts, path }] : [];
}

function decodeRole(value: Member, path: string, problems: Problems): Role {
  const role = readString(value, path, problems) || 'user';
  if (role !== 'model' && !USERS_ROLES.has(role)) problems.add(path, 'must be user or model');
  return role === 'model' ? 'assistant' : 'user';
}

/** Members of a part that are not data. */
const BARE: ReadonlySet<string> = new Set(['thought', 'thoughtSignature']);

/** Decodes the parts of one content. Adjacent parts without a signature between them are one message. */
class ContentDecoder {
  readonly #role: Role;
  readonly #path: string;
  readonly #items: Item[];
  readonly #matcher: CallMatcher;
  readonly #problems: Problems;
  #parts: Part[] = [];
  /** Thought whose signature may follow: streams send it after the text. */
  #thought: { text: string; readonly path: string } | undefined;

  constructor(role: Role, path: string, items: Item[], matcher: CallMatcher, problems: Problems) {
    this.#role = role;
    this.#path = path;
    this.#items = items;
    this.#matcher = matcher;
    this.#problems = problems;
  }

  part(raw: JsonObject, path: string): void {
    const part = camelMembers(raw);
    const given =
      readString(part['thoughtSignature'], `${path}.thoughtSignature`, this.#problems) || undefined;
    // The placeholder for a missing signature is ignored here. It stays in the raw form for Gemini upstreams.
    const signature = given === FOREIGN_CALL_SIGNATURE ? undefined : given;
    // Google's Go library returns an empty text as a part without data.
    const isBare = Object.keys(part).every((name) => BARE.has(name));
    if (isBare && signature === undefined) return;
    const text = isBare ? '' : readString(part['text'], `${path}.text`, this.#problems);
    if (part['thought'] === true && text !== undefined) {
      this.#onThought(text, signature, path);
      return;
    }
    const source: Source = { protocol: 'gemini', raw: signature === undefined ? raw : unsigned(raw) };
    if (text !== undefined) {
      this.#onText(text, signature, path, source);
      return;
    }
    if (part['functionCall'] !== undefined) {
      this.#sign(signature, path, false, 'call');
      this.#push(
        decodeCall(part['functionCall'], `${path}.functionCall`, source, this.#matcher, this.#problems),
      );
      return;
    }
    const response = part['functionResponse'];
    if (response !== undefined) {
      this.#closeThought();
      this.#push(decodeResult(response, `${path}.functionResponse`, source, this.#matcher, this.#problems));
      return;
    }
    if (part['inlineData'] !== undefined || part['fileData'] !== undefined) {
      this.#sign(signature, path);
      const media = decodeMedia(part, path, source, this.#problems);
      if (media) this.#parts.push(media);
      return;
    }
    this.#closeThought();
    const kind = HOSTED_PARTS.find((name) => part[name] !== undefined);
    const whole: Source = { protocol: 'gemini', raw };
    if (kind !== undefined) this.#push({ type: 'hosted_call', kind, path, source: whole });
    else this.#parts.push({ type: 'unknown', path, source: whole });
  }

  end(): void {
    this.#closeThought();
    this.#closeMessage();
  }

  #onThought(text: string, signature: string | undefined, path: string): void {
    this.#closeMessage();
    const thought = (this.#thought ??= { text: '', path });
    thought.text += text;
    if (signature !== undefined) this.#closeThought(signature, 'signature');
  }

  #closeThought(
    signature?: string,
    kind: OpaqueReasoning['kind'] = 'encrypted',
    standsOn?: OpaqueReasoning['standsOn'],
  ): void {
    const thought = this.#thought;
    if (thought === undefined) return;
    this.#thought = undefined;
    this.#reason(thought.text, thought.path, signature, kind, false, standsOn);
  }

  /** @param alone true if the signature's part contains nothing else */
  #reason(
    text: string,
    path: string,
    signature: string | undefined,
    kind: OpaqueReasoning['kind'],
    alone = false,
    standsOn?: OpaqueReasoning['standsOn'],
  ): void {
    const format = signature === undefined ? undefined : GEMINI_REASONING;
    this.#items.push({
      type: 'reasoning',
      text: [],
      summary: text === '' ? [] : [text],
      opaque:
        signature === undefined
          ? undefined
          : {
              format: GEMINI_REASONING,
              kind,
              data: decodeSignature(signature),
              ...(standsOn && { standsOn }),
            },
      format,
      path,
      source: { protocol: 'gemini', raw: alone ? { text: '' } : {} },
    });
  }

  #onText(text: string, signature: string | undefined, path: string, source: Source): void {
    this.#sign(signature, path, text === '');
    // An empty text has no meaning in addition to other content, and other upstreams refuse it.
    if (text === '' && (signature !== undefined || this.#role === 'assistant')) return;
    this.#parts.push({ type: 'text', text, path, source });
  }

  /**
   * Adds a signature before the item that carries it, to the thought before it if there is one.
   * @param alone true if its part contains nothing else
   */
  #sign(
    signature: string | undefined,
    path: string,
    alone = false,
    standsOn?: OpaqueReasoning['standsOn'],
  ): void {
    if (signature === undefined || this.#thought !== undefined) {
      this.#closeThought(signature, 'encrypted', standsOn);
      return;
    }
    this.#closeMessage();
    this.#reason('', `${path}.thoughtSignature`, signature, 'encrypted', alone, standsOn);
  }

  #push(item: Item | undefined): void {
    this.#closeMessage();
    if (item) this.#items.push(item);
  }

  #closeMessage(): void {
    if (this.#parts.length === 0) return;
    this.#items.push({ type: 'message', role: this.#role, parts: this.#parts, path: this.#path });
    this.#parts = [];
  }
}

/** Returns the part without its signature, which is a separate item. */
function unsigned(raw: JsonObject): JsonObject {
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = raw;
  return rest;
}
