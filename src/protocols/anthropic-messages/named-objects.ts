// Objects of an Anthropic account that a Messages request names: containers, skills, files. Source: "Files API", "Agent
// Skills" and "Code execution tool" of Anthropic's documentation, 2026-11.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { asArray, asObject } from '../../base/json/index.ts';
import { idsIn, idsInTools, idsInUnknownParts, type NamedObject } from '../members/named-objects.ts';

/** Returns the ids of objects in the vendor's account, except media. */
export function namedObjects(request: CanonicalRequest): readonly NamedObject[] {
  const { raw, items } = request;
  const ids = [...idsInTools(request), ...idsInUnknownParts(items)];
  for (const name of ['container', 'user_profile_id'] as const) {
    const value = raw[name];
    if (value === undefined || value === null) continue;
    const { skills, ...container } = asObject(value);
    ids.push(...idsIn(typeof value === 'string' ? value : container, name, () => true));
    asArray(skills).forEach((skill, index) => {
      // Anthropic's own skills are public.
      if (asObject(skill)['type'] === 'anthropic') return;
      ids.push(...idsIn(skill, `${name}.skills[${index}]`, (member) => member === 'skill_id'));
    });
  }
  return ids;
}
