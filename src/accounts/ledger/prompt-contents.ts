// Contents of a prompt for token counting: its texts, and fixed token numbers for other content.
import type { HostedCallItem, Item, Part, Tool } from '../../canonical/index.ts';

/** Tokens around each message and item (OpenAI cookbook, "How to count tokens with tiktoken", 2023). */
const TOKENS_PER_ITEM = 4;
/** Tokens of an image of usual size at high detail (OpenAI, "Images and vision", 85 + 170 per tile of 512 pixels). */
const PER_IMAGE = 765;
/** Tokens of a file whose contents are unknown: a page of text. */
const PER_FILE = 1500;
/** Base64 characters per token: four characters encode three bytes, and a token has about four bytes. */
const BASE64_CHARS_PER_TOKEN = 5.3;

/** Texts of an item, in order. */
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

/** Text form of a tool. Models receive tools as text; formats differ, lengths hardly do. */
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
 * True for a generated image. Its call contains bytes that models do not read as text. Calls that a client sends back are
 * recognised by their raw type.
 */
function isImage({ facts, kind }: HostedCallItem): boolean {
  return facts?.type === 'image' || kind === 'image_generation_call';
}
