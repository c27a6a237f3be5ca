// Decodes content blocks of a client into parts of messages and tool results.
import type { JsonObject } from '../../../base/json/index.ts';
import type { FilePart, ImagePart, Media, Part, TextPart } from '../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonArray, isJsonObject } from '../../../base/json/index.ts';
import {
  readContent,
  describe,
  readObject,
  readString,
  requireObject,
  requireString,
  requireStringOrEmpty,
  type Member,
} from '../../members/read-member.ts';
import { decodeCitation, isForeignCitation } from '../citations.ts';
import { addTranslationLoss, messagesSource } from './decode-scope.ts';
import type { DecodeScope } from './decode-scope.ts';

/** Decodes content that is a string or a list of blocks; undefined if absent or null. */
export function decodeContent(content: Member, path: string, scope: DecodeScope): Part[] | undefined {
  return readContent(content, path, scope.problems, (element, at) => {
    const raw = readBlock(element, at, scope);
    return raw && decodePart(raw, at, scope);
  });
}

/** Reads a block as an object with a type; anything else is a problem. */
export function readBlock(element: Member, path: string, scope: DecodeScope): JsonObject | undefined {
  if (!isJsonObject(element)) {
    scope.problems.add(path, `must be a content block, not ${describe(element)}`);
    return undefined;
  }
  return requireString(element['type'], `${path}.type`, scope.problems) === undefined ? undefined : element;
}

/** Reads a prompt-cache breakpoint. Anthropic validates its content. */
export function decodeCache(raw: JsonObject, path: string, scope: DecodeScope): JsonObject | undefined {
  return readObject(raw['cache_control'], `${path}.cache_control`, scope.problems);
}

/** Returns the part for a content block. Blocks without a canonical form are kept as they are. */
export function decodePart(raw: JsonObject, path: string, scope: DecodeScope): Part | undefined {
  switch (raw['type']) {
    case 'text':
      return decodeText(raw, path, scope);
    case 'image':
      return decodeImage(raw, path, scope);
    case 'document':
      return decodeDocument(raw, path, scope);
    case 'search_result':
      return decodeSearchResult(raw, path, scope);
    case 'tool_reference':
      return announceTool(raw, asString(raw['tool_name']), path, scope);
    case 'tool_addition':
    case 'tool_removal':
      return {
        type: 'text',
        text: wordsOfChange(raw),
        path,
        cache: decodeCache(raw, path, scope),
        source: messagesSource(raw),
      };
    default:
      return unknownPart(raw, path, scope);
  }
}

/** Decodes a tool that is added inside the conversation. For upstreams with one list of tools, it becomes text. */
function announceTool(raw: JsonObject, name: string | undefined, path: string, scope: DecodeScope): Part {
  if (name === undefined) return unknownPart(raw, path, scope);
  addTranslationLoss(scope, path, 'approximated', 'the upstream cannot load tools later: sent as text');
  const cache = decodeCache(raw, path, scope);
  return { type: 'text', text: `The tool ${name} is available.`, path, cache, source: messagesSource(raw) };
}

/** Returns the text for a tool change, for upstreams with one list of tools for all turns. */
function wordsOfChange({ type, tool }: JsonObject): string {
  const { definition, name, server_name: server } = asObject(tool);
  const own = asString(name) ?? asString(asObject(definition)['name']);
  const what =
    own === undefined ? `The tools of ${asString(server) ?? 'a server'} are` : `The tool ${own} is`;
  return `${what} ${type === 'tool_addition' ? 'available' : 'no longer available'}.`;
}

function unknownPart(raw: JsonObject, path: string, scope: DecodeScope): Part {
  return { type: 'unknown', path, cache: decodeCache(raw, path, scope), source: messagesSource(raw) };
}

function decodeText(raw: JsonObject, path: string, scope: DecodeScope): TextPart | undefined {
  const text = requireStringOrEmpty(raw['text'], `${path}.text`, scope.problems);
  if (text === undefined) return undefined;
  const base = { type: 'text', text, path, cache: decodeCache(raw, path, scope) } as const;
  const citations = asArray(raw['citations']).filter(isJsonObject);
  if (citations.length === 0) return { ...base, source: messagesSource(raw) };
  const own = citations.filter((citation) => !isForeignCitation(citation));
  const foreign = citations.filter(isForeignCitation);
  if (own.length > 0)
    addTranslationLoss(
      scope,
      `${path}.citations`,
      'dropped',
      'only Claude accepts citations of earlier responses',
    );
  if (foreign.length > 0)
    scope.report.add(`${path}.citations`, 'dropped', 'citations by other models are not sent back');
  const annotations = [
    ...own.map((citation) => decodeCitation(citation, text.length)),
    ...foreign.map((citation) => ({
      type: 'url_citation' as const,
      url: asString(citation['url']) ?? '',
      title: asString(citation['title']) ?? '',
      start: 0,
      end: text.length,
    })),
  ];
  const { citations: _, ...rest } = raw;
  return {
    ...base,
    annotations,
    source: messagesSource(own.length > 0 ? { ...rest, citations: own } : rest),
  };
}

function decodeImage(raw: JsonObject, path: string, scope: DecodeScope): ImagePart | undefined {
  const source = requireObject(raw['source'], `${path}.source`, scope.problems);
  const media = source && decodeMedia(source, `${path}.source`, scope);
  if (!media) return undefined;
  return { type: 'image', media, path, cache: decodeCache(raw, path, scope), source: messagesSource(raw) };
}

/** Members of a source, one per type. */
const SOURCES = ['data', 'url', 'file_id'];

/** Decodes the source of an image or document: inline bytes, a URL, or an id of Anthropic's Files API. */
function decodeMedia(source: JsonObject, path: string, scope: DecodeScope): Media | undefined {
  const { problems } = scope;
  const type = requireString(source['type'], `${path}.type`, problems);
  if (SOURCES.filter((member) => source[member] != null).length > 1) {
    problems.add(path, 'must have only one of data, url and file_id');
    return undefined;
  }
  switch (type) {
    case undefined:
      return undefined;
    case 'base64': {
      const mediaType = requireString(source['media_type'], `${path}.media_type`, problems);
      const data = requireString(source['data'], `${path}.data`, problems);
      return data === undefined ? undefined : { kind: 'base64', data, mediaType };
    }
    case 'url': {
      const url = requireString(source['url'], `${path}.url`, problems);
      if (url === undefined) return undefined;
      if (URL.canParse(url)) return { kind: 'url', url };
      problems.add(`${path}.url`, 'is not a valid URL');
      return undefined;
    }
    case 'file': {
      const id = requireString(source['file_id'], `${path}.file_id`, problems);
      return id === undefined ? undefined : { kind: 'file_id', id };
    }
    default:
      problems.add(`${path}.type`, 'must be one of base64, url, file');
      return undefined;
  }
}

/** Decodes a document. A text document becomes text under its title, which every model reads. */
function decodeDocument(raw: JsonObject, path: string, scope: DecodeScope): Part | undefined {
  const { problems } = scope;
  const source = requireObject(raw['source'], `${path}.source`, problems);
  const title = readString(raw['title'], `${path}.title`, problems) || undefined;
  const context = asString(raw['context']);
  if (!source) return undefined;
  switch (source['type']) {
    case 'text': {
      const text = requireStringOrEmpty(source['data'], `${path}.source.data`, problems);
      return text === undefined ? undefined : documentText(raw, [title, context, text], path, scope);
    }
    case 'content': {
      const text = plainText(source['content']);
      if (text === undefined) return unknownPart(raw, path, scope);
      return documentText(raw, [title, context, text], path, scope);
    }
    default: {
      const media = decodeMedia(source, `${path}.source`, scope);
      if (!media) return undefined;
      const cache = decodeCache(raw, path, scope);
      return {
        type: 'file',
        media,
        filename: title,
        ...(context ? { context } : {}),
        path,
        cache,
        source: messagesSource(raw),
      } satisfies FilePart;
    }
  }
}

function decodeSearchResult(raw: JsonObject, path: string, scope: DecodeScope): Part | undefined {
  const { problems } = scope;
  const title = requireStringOrEmpty(raw['title'], `${path}.title`, problems);
  const origin = requireStringOrEmpty(raw['source'], `${path}.source`, problems);
  const text = plainText(raw['content']);
  if (text === undefined) problems.add(`${path}.content`, 'must be a list of text blocks');
  return text === undefined ? undefined : documentText(raw, [title, origin, text], path, scope);
}

function documentText(
  raw: JsonObject,
  lines: readonly (string | undefined)[],
  path: string,
  scope: DecodeScope,
): TextPart {
  const isDocument = raw['type'] === 'document';
  const what = isDocument ? 'a document of text' : 'a search result';
  const reason = `${what} is sent as plain text`;
  addTranslationLoss(scope, path, 'approximated', reason, isDocument ? 'bedrock-converse' : undefined);
  const text = lines.filter((line) => line !== undefined && line !== '').join('\n\n');
  return { type: 'text', text, path, cache: decodeCache(raw, path, scope), source: messagesSource(raw) };
}

/** Returns the text of a string or of text blocks; undefined if any block is not text. */
function plainText(content: Member): string | undefined {
  if (typeof content === 'string') return content;
  if (!isJsonArray(content)) return undefined;
  const texts: string[] = [];
  for (const block of content) {
    const text = isJsonObject(block) && block['type'] === 'text' ? block['text'] : undefined;
    if (typeof text !== 'string') return undefined;
    texts.push(text);
  }
  return texts.join('\n\n');
}
