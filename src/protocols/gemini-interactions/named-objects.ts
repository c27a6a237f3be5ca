// Objects of a Google account that a request names: files, caches, stores, environments. What went on before is not among them:
// the gateway knows whose it is.
import { type CanonicalRequest, isAccountAddress, isOpenAddress } from '../../canonical/index.ts';
import { idsIn, type NamedObject } from '../members/named-objects.ts';

/** Names of resources begin with their collection (API reference, 2026-11). */
const RESOURCE =
  /^(?:projects|locations|cachedContents|fileSearchStores|ragStores|corpora|ragCorpora|files|tunedModels|collections|dataStores|engines|environments|interactions)\//;
/** Members that hold what is said or how to say it, in which a text names nothing. */
const TEXTS: ReadonlySet<string> = new Set([
  'model',
  'agent',
  'previous_interaction_id',
  'continuation_token',
  'system_instruction',
  'response_format',
  'labels',
]);
/** Members that are ids whatever they look like. */
const ID_MEMBERS: ReadonlySet<string> = new Set(['environment', 'environment_id', 'cached_content']);
/** Members inside of what is said that lead somewhere. */
const LEADS: ReadonlySet<string> = new Set(['uri', 'file_uri']);
/** Not an id: a fresh one. */
const FRESH_ENVIRONMENT = 'remote';

/** The names of objects in the vendor's account. */
export function namedObjects({ raw }: CanonicalRequest): readonly NamedObject[] {
  return Object.keys(raw).flatMap((name) => {
    if (TEXTS.has(name)) return [];
    return idsIn(
      raw[name],
      name,
      name === 'input' ? isLead : (member, text) => isObject(member || name, text),
    );
  });
}

function isObject(member: string, text: string): boolean {
  if (ID_MEMBERS.has(member)) return text !== FRESH_ENVIRONMENT;
  return RESOURCE.test(text) || isAccountAddress(text);
}

function isLead(member: string, text: string): boolean {
  return LEADS.has(member) && !isOpenAddress(text);
}
