// Content that models read of a prompt: its texts, and the tokens that stand for other content. Counts no text
// itself.
import type { HostedCallItem, Item, Part, Tool } from '../../canonical/index.ts';

/** Tokens around each message and item (OpenAI cookbook, "How to count tokens with tiktoken", 2023). */
const TOKENS_PER_ITEM = 4;
/** An image of usual size at high detail (OpenAI, "Images and vision", 85 + 170 per tile of 512 pixels). */
const PER_IMAGE = 765;
/** A page of text, for files whose contents nobody has read. */
const PER_FILE = 1500;
/** Base64 has four characters for three bytes, and a token of text has about four. */
const BASE64_CHARS_PER_TOKEN = 5.3;

/** The texts that an item holds, in order. */
export function textsOf(item: Item): readonly string[] {
  switch (item.type) {
    case 'message':
    case 'tool_result':
      return item.parts.flatMap(textOfPart);
    case 'reasoning':
      return item.text;
    case 'tool_call':
      return [item.name, item.arguments];
    case 'hosted_call':
      return isImage(item) ? [] : [JSON.stringify(item.source?.raw ?? item.facts ?? null)];
    default:
      return item.source ? [JSON.stringify(item.source.raw)] : [];
  }
}

/** Tokens of an item that are not in its texts. */
export function tokensBesideText(item: Item): number {
  if (item.type === 'hosted_call') return TOKENS_PER_ITEM + (isImage(item) ? PER_IMAGE : 0);
  let tokens = TOKENS_PER_ITEM;
  if ('parts' in item) for (const part of item.parts) tokens += mediaTokens(part);
  return tokens;
}

/** Models read a tool as text; how it is written differs, how long it is hardly. */
export function textOfTool(tool: Tool): string {
  if (tool.type === 'hosted') return JSON.stringify(tool.source.raw);
  const { name, description } = tool;
  return JSON.stringify([name, description, tool.type === 'function' ? tool.parameters : tool.format]);
}

function textOfPart(part: Part): readonly string[] {
  if (part.type === 'text') return [part.text];
  return part.type === 'refusal' ? [part.refusal] : [];
}

function mediaTokens(part: Part): number {
  if (part.type === 'image') return PER_IMAGE;
  if (part.type !== 'file') return 0;
  const { media } = part;
  const isText = media.kind === 'base64' && media.mediaType?.startsWith('text/') === true;
  return isText ? Math.ceil(media.data.length / BASE64_CHARS_PER_TOKEN) : PER_FILE;
}

/**
 * A picture that was made stands in its call, as bytes that no model reads as text. What a client brings
 * back is known by its raw type as well.
 */
function isImage({ facts, kind }: HostedCallItem): boolean {
  return facts?.type === 'image' || kind === 'image_generation_call';
}
