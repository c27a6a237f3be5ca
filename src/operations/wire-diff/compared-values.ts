// The values of one side in canonical terms, each with its path in the body if known.
import { isJsonObject, type JsonValue, parseJson } from '../../base/json/index.ts';
import type { Item, Media, Part, Tool } from '../../canonical/index.ts';
import { placeBelow } from './json-path.ts';

/** One value of a side. */
export interface ComparedValue {
  /** Label for people: owner and kind. */
  readonly what: string;
  /** Values are equal only within the same kind. */
  readonly kind: string;
  /** Item or tool that it belongs to. Values of one owner stay together. Null: none. */
  readonly owner: string | null;
  /** Canonical value, which is compared. */
  readonly value: JsonValue;
  /** The protocol's word for it, if different. */
  readonly word?: string | undefined;
  /** Path in the body; null: elsewhere, as in a URL. */
  readonly path: string | null;
}

/** Values of a body's items. */
export function valuesInItems(items: readonly Item[], body: JsonValue | null): readonly ComparedValue[] {
  const names = new Map<string, string>();
  return items.flatMap((item, place) => {
    const owner = `items[${place}]`;
    const one = (what: string, kind: string, value: JsonValue, path: string | undefined): ComparedValue => ({
      what,
      kind,
      owner,
      value,
      path: exactPath(body, path ?? item.path, value),
    });
    switch (item.type) {
      case 'message':
        return item.parts.map((part) => {
          const [kind, value] = contentOf(part);
          return one(`${item.role} · ${kind}`, kind, value, part.path);
        });
      case 'reasoning': {
        const { text, summary, opaque } = item;
        return [
          ...text.map((each) => one('reasoning', 'reasoning', each, undefined)),
          ...summary.map((each) => one('reasoning · summary', 'reasoning', each, undefined)),
          ...(opaque ? [one(`reasoning · ${opaque.kind}`, 'opaque', opaque.data, undefined)] : []),
        ];
      }
      case 'tool_call': {
        names.set(item.callId, item.name);
        const whose = `call of ${item.name}`;
        const id = item.isIdMade ? [] : [one(`${whose} · id`, 'call id', item.callId, undefined)];
        return [
          one(`${whose} · name`, 'call name', item.name, undefined),
          one(`${whose} · arguments`, 'arguments', argumentsOf(item.arguments), undefined),
          ...id,
        ];
      }
      case 'tool_result': {
        const whose = `result of ${item.name ?? names.get(item.callId) ?? item.callId}`;
        return item.parts.map((part) => {
          const [kind, value] = contentOf(part);
          return one(`${whose} · ${kind}`, `result ${kind}`, value, part.path);
        });
      }
      case 'compaction':
        return [one('compaction', 'opaque', item.encrypted, undefined)];
      case 'reference':
        return [one('reference', 'reference', item.id, undefined)];
      case 'hosted_call':
        return [one(`hosted · ${item.kind}`, 'hosted', item.source?.raw ?? item.kind, undefined)];
      case 'unknown':
        return [one('of its own protocol', 'unknown', item.source.raw, undefined)];
    }
  });
}

/** Values of a body's tools. */
export function valuesInTools(tools: readonly Tool[], body: JsonValue | null): readonly ComparedValue[] {
  return tools.flatMap((tool, place): readonly ComparedValue[] => {
    const owner = `tools[${place}]`;
    const one = (what: string, kind: string, value: JsonValue | undefined): readonly ComparedValue[] =>
      value === undefined ? [] : [{ what, kind, owner, value, path: exactPath(body, tool.path, value) }];
    if (tool.type === 'hosted') return one(`tool ${tool.kind}`, 'hosted tool', tool.source.raw);
    const whose = `tool ${tool.name}`;
    return [
      ...one(`${whose} · name`, 'tool name', tool.name),
      ...one(`${whose} · description`, 'tool description', tool.description),
      ...(tool.type === 'function'
        ? one(`${whose} · parameters`, 'tool parameters', tool.parameters)
        : one(`${whose} · format`, 'tool format', tool.format)),
    ];
  });
}

/** Kind and value of a part. */
function contentOf(part: Part): readonly [kind: string, value: JsonValue] {
  switch (part.type) {
    case 'text':
      return ['text', part.text];
    case 'refusal':
      return ['refusal', part.refusal];
    case 'audio':
      return ['audio', part.data];
    case 'image':
    case 'file':
      return [part.type, mediaOf(part.media)];
    case 'unknown':
      return ['unknown', part.source.raw];
  }
}

function mediaOf(media: Media): string {
  switch (media.kind) {
    case 'base64':
      return media.data;
    case 'url':
      return media.url;
    case 'file_id':
      return media.id;
  }
}

/** Parsed as JSON if possible, because protocols differ in whether arguments are text. */
function argumentsOf(text: string): JsonValue {
  const json = parseJson(text);
  return isJsonObject(json) ? json : text;
}

/** Finds the path of a value below a path: decoders report that of the enclosing node. */
function exactPath(body: JsonValue | null, path: string | undefined, value: JsonValue): string | null {
  if (path === undefined) return null;
  if (body === null) return path;
  const wanted = JSON.stringify(value);
  const isIt = (found: JsonValue): boolean => {
    if (found === value) return true;
    if (typeof found !== 'string') return typeof value === 'object' && JSON.stringify(found) === wanted;
    if (typeof value === 'string') return found.endsWith(value) && isDataAddress(found, value);
    return JSON.stringify(parseJson(found) ?? null) === wanted;
  };
  return placeBelow(body, path, isIt) ?? path;
}

/** True for a data URL such as `data:image/png;base64,…` with these bytes. */
function isDataAddress(found: string, bytes: string): boolean {
  return found.startsWith('data:') && found[found.length - bytes.length - 1] === ',';
}
