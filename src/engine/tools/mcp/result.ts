// Decodes tool results of MCP servers: all content types of the specification, and others as JSON text. Text is
// truncated at a limit. Source: MCP specification 2025-11-25, "Tools", "Tool Result".
import {
  asObject,
  asString,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '../../../base/json/index.ts';

export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  /** `data` is base64. */
  | { readonly type: 'image' | 'audio'; readonly data: string; readonly mimeType: string }
  /** Embedded resource: `text`, or `blob` in base64. */
  | {
      readonly type: 'resource';
      readonly uri: string;
      readonly mimeType?: string;
      readonly text?: string;
      readonly blob?: string;
    }
  /** Reference to a resource. */
  | {
      readonly type: 'resource_link';
      readonly uri: string;
      readonly name?: string;
      readonly description?: string;
      readonly mimeType?: string;
    };

export interface McpResult {
  readonly parts: readonly McpContent[];
  /** `structuredContent`, if it is an object within the limit. */
  readonly structured?: JsonObject;
  /** True: the tool reports a failure, for the model to read. */
  readonly isError: boolean;
  /** True: text was truncated or omitted because of the limit. */
  readonly truncated: boolean;
}

/** Maximum content blocks of one result, because each becomes a part of the conversation. */
const MOST_BLOCKS = 1_000;

/**
 * Decodes the result of `tools/call`. Never fails: invalid content is kept as JSON text.
 * @param maxBytes maximum UTF-8 bytes of all text, including metadata of other parts; images and audio are limited by
 * the response size
 */
export function decodeResult(raw: JsonObject, maxBytes: number): McpResult {
  let left = maxBytes;
  let truncated = false;
  const take = (text: string): string => {
    const cut = startInBytes(text, left);
    left -= Buffer.byteLength(cut);
    truncated ||= cut.length < text.length;
    return cut;
  };
  const parts: McpContent[] = [];
  const blocks = contentOf(raw);
  truncated ||= blocks.length > MOST_BLOCKS;
  for (const block of blocks.slice(0, MOST_BLOCKS)) {
    const part = decodeBlock(block);
    if (!('text' in part) || part.text === undefined) {
      const bytes = describedBytes(part);
      if (bytes > left) truncated = true;
      else parts.push(part);
      left -= Math.min(left, bytes);
    } else if (left > 0 || part.text === '') parts.push({ ...part, text: take(part.text) });
    else truncated = true;
  }
  const structured = raw['structuredContent'];
  const json = structured === undefined ? '' : JSON.stringify(structured);
  const kept = isJsonObject(structured) && Buffer.byteLength(json) <= maxBytes ? structured : undefined;
  if (structured !== undefined && !kept) {
    // Servers should repeat it as text ("Structured Content"); otherwise it is added here.
    if (!hasText(parts)) parts.push({ type: 'text', text: take(json) });
    else truncated = true;
  }
  return { parts, ...(kept && { structured: kept }), isError: raw['isError'] === true, truncated };
}

/** True if a part is a text that is not blank. */
export function hasText(parts: readonly McpContent[]): boolean {
  return parts.some((part) => part.type === 'text' && part.text.trim() !== '');
}

/** Content blocks. A result in another form, such as that of a task, is one block. */
function contentOf(raw: JsonObject): readonly JsonValue[] {
  const { content, structuredContent, isError: _, _meta, ...rest } = raw;
  if (isJsonArray(content)) return content;
  if (content !== undefined && content !== null) return [content];
  return structuredContent === undefined && Object.keys(rest).length > 0 ? [rest] : [];
}

/** Bytes of a part's metadata. */
function describedBytes(part: McpContent): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(part))
    if (name !== 'data' && name !== 'blob') bytes += Buffer.byteLength(value ?? '');
  return bytes;
}

function decodeBlock(block: JsonValue): McpContent {
  const raw = asObject(block);
  const type = raw['type'];
  const text = asString(raw['text']);
  const data = asString(raw['data']);
  const mimeType = asString(raw['mimeType']);
  if (type === 'text' && text !== undefined) return { type, text };
  if ((type === 'image' || type === 'audio') && data !== undefined && mimeType !== undefined)
    return { type, data, mimeType };
  if (type === 'resource') {
    const resource = decodeResource(asObject(raw['resource']));
    if (resource) return resource;
  }
  const uri = asString(raw['uri']);
  if (type === 'resource_link' && uri !== undefined)
    return { type, uri, ...strings(raw, ['name', 'description', 'mimeType']) };
  return { type: 'text', text: asString(block) ?? JSON.stringify(block) };
}

function decodeResource(raw: JsonObject): McpContent | undefined {
  const uri = asString(raw['uri']);
  const content = strings(raw, ['mimeType', 'text', 'blob']);
  if (uri === undefined || (content.text === undefined && content.blob === undefined)) return undefined;
  return { type: 'resource', uri, ...content };
}

/** Members with string values. */
function strings<Name extends string>(
  raw: JsonObject,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const found: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = asString(raw[name]);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

// Truncation by bytes.

/** Beginning of a text, cut at a character boundary. @param most maximum UTF-8 bytes */
function startInBytes(text: string, most: number): string {
  if (text.length <= most && Buffer.byteLength(text) <= most) return text;
  const bytes = Buffer.from(text.slice(0, most));
  let end = Math.min(most, bytes.length);
  // Continuation bytes of a character begin with the bits 10 (RFC 3629 section 3).
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.toString('utf8', 0, end);
}
