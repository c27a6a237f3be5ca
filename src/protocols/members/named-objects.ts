// Finds ids of objects in a vendor's account in a request: files, containers, vector stores, caches, skills. All API
// keys share the operator's account, so access is checked elsewhere by these ids.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { isJsonObject } from '../../base/json/index.ts';
import { areTexts } from '../../canonical/index.ts';

export interface NamedObject {
  readonly id: string;
  /** JSON path in the client's body. */
  readonly path: string;
}

/** Returns whether the string in a member is an id. */
type IsId = (member: string, text: string) => boolean;

/** `file_id`, `vector_store_ids`, and a container that is named instead of described. */
const ID_MEMBER = /^(?:id|container|.*_ids?)$/;
/** Members whose contents belong to the client: its own account, names, text. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'connector_id',
  'headers',
  'allowed_tools',
  'require_approval',
  'user_location',
]);
const FILE_MEMBER = /^file_ids?$/;
const NONE: readonly NamedObject[] = [];

/** Returns the ids in a JSON value, with their paths. */
export function idsIn(value: JsonValue | undefined, path: string, isId: IsId): readonly NamedObject[] {
  const found: NamedObject[] = [];
  const visit = (inner: JsonValue | undefined, at: string, member: string): void => {
    if (typeof inner === 'string') {
      if (inner !== '' && isId(member, inner)) found.push({ id: inner, path: at });
    } else if (Array.isArray(inner)) inner.forEach((each, index) => visit(each, `${at}[${index}]`, member));
    else if (isJsonObject(inner))
      for (const key in inner) if (!OWN_MEMBERS.has(key)) visit(inner[key], `${at}.${key}`, key);
  };
  visit(value, path, '');
  return found;
}

/** Returns the ids in the vendor's tools. */
export function idsInTools({ tools }: CanonicalRequest, isId: IsId = isIdMember): readonly NamedObject[] {
  if (tools.length === 0) return NONE;
  const found: NamedObject[] = [];
  for (const tool of tools)
    if (tool.type === 'hosted') found.push(...idsIn(tool.source.raw, tool.path ?? 'tools', isId));
  return found;
}

/** Returns the file ids in parts whose type only the protocol knows. */
export function idsInUnknownParts(items: readonly Item[], isId: IsId = isFileMember): readonly NamedObject[] {
  if (areTexts(items)) return NONE;
  const found: NamedObject[] = [];
  for (const item of items)
    if ('parts' in item)
      for (const part of item.parts)
        if (part.type === 'unknown')
          found.push(
            ...idsIn(contentOf(part.source.raw, part.path), part.path ?? item.path ?? 'items', isId),
          );
  return found;
}

/** A part that was created from a member of a message has that member's path, which already ends in its name. */
function contentOf(raw: JsonObject, path: string | undefined): JsonValue | undefined {
  const { type } = raw;
  return typeof type === 'string' && path?.endsWith(`.${type}`) ? raw[type] : raw;
}

function isIdMember(member: string): boolean {
  return ID_MEMBER.test(member);
}

function isFileMember(member: string): boolean {
  return FILE_MEMBER.test(member);
}
