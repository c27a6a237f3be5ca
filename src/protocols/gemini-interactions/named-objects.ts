// Objects of a Google account that a request names: files, caches, stores, environments. Previous interactions are not
// included, because the gateway knows their owners.
import { type CanonicalRequest, isAccountAddress, isOpenAddress } from '../../canonical/index.ts';
import { idsIn, type NamedObject } from '../members/named-objects.ts';

/** Resource names begin with their collection (API reference, 2026-11). */
const RESOURCE =
  /^(?:projects|locations|cachedContents|fileSearchStores|ragStores|corpora|ragCorpora|files|tunedModels|collections|dataStores|engines|environments|interactions)\//;
/** Members that contain content or settings, in which strings are not names. */
const TEXTS: ReadonlySet<string> = new Set([
  'model',
  'agent',
  'previous_interaction_id',
  'continuation_token',
  'system_instruction',
  'response_format',
  'labels',
]);
/** Members that are always ids. */
const ID_MEMBERS: ReadonlySet<string> = new Set(['environment', 'environment_id', 'cached_content']);
/** Members inside content that contain addresses. */
const LEADS: ReadonlySet<string> = new Set(['uri', 'file_uri']);
/** Value for a new environment, which is not an id. */
const FRESH_ENVIRONMENT = 'remote';

/** Returns the names of objects in the vendor's account. */
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
