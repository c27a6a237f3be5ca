// Objects in a vendor's account that a request names by id: files, containers, stores of vectors, caches, skills. The
// account is the operator's, and everybody's who has a key here. Finds the ids; who may use them is not decided here.
import type { JsonObject, JsonValue } from '../../base/json/index.ts';
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { isJsonObject } from '../../base/json/index.ts';
import { areTexts } from '../../canonical/index.ts';

export interface NamedObject {
  readonly id: string;
  /** JSON path in the client's body. */
  readonly path: string;
}

/** Whether a text under a member is an id. */
type IsId = (member: string, text: string) => boolean;

/** `file_id`, `vector_store_ids`, and a container that is named and not described. */
const ID_MEMBER = /^(?:id|container|.*_ids?)$/;
/** Contents of these are the client's own: an account of its own, names, words. */
const OWN_MEMBERS: ReadonlySet<string> = new Set([
  'connector_id',
  'headers',
  'allowed_tools',
  'require_approval',
  'user_location',
]);
const FILE_MEMBER = /^file_ids?$/;
const NONE: readonly NamedObject[] = [];

/** The ids in a JSON value, each with its path. */
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

/** The ids that tools of the vendor name. */
export function idsInTools({ tools }: CanonicalRequest, isId: IsId = isIdMember): readonly NamedObject[] {
  if (tools.length === 0) return NONE;
  const found: NamedObject[] = [];
  for (const tool of tools)
    if (tool.type === 'hosted') found.push(...idsIn(tool.source.raw, tool.path ?? 'tools', isId));
  return found;
}

/** The ids of files in parts of types that only the protocol knows. */
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

/** A part that a member of a message was made of stands at that member, which names it already. */
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
