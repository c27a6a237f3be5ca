// Members of an answer's outer objects that no canonical event holds, such as a container, safety ratings or filter
// results. They travel with the finish event, so that clients of the same protocol receive them. Other protocols cannot
// express them.
import {
  asArray,
  asObject,
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type MutableJsonObject,
} from '../../base/json/index.ts';
import type { FinishEvent, ProtocolName, Source } from '../../canonical/index.ts';

/** Members that canonical events hold, or that the gateway writes itself. */
export interface HeldMembers {
  readonly protocol: ProtocolName;
  readonly outer: ReadonlySet<string>;
  /** List in the outer object whose only element is the answer, such as `choices`. Absent: the protocol has none. */
  readonly list?: { readonly name: string; readonly held: ReadonlySet<string> };
}

/**
 * Collects the remaining members of one answer's objects. Later values replace earlier ones, except empty ones: Azure's
 * last chunk has no filter results.
 */
export class AnswerRest {
  readonly #held: HeldMembers;
  #outer: MutableJsonObject | undefined;
  #element: MutableJsonObject | undefined;

  constructor(held: HeldMembers) {
    this.#held = held;
  }

  /** Takes an answer, or a chunk of it. @param element of its list, if the protocol has one */
  take(outer: JsonObject, element?: JsonObject): void {
    const { outer: held, list } = this.#held;
    this.#outer = withRest(this.#outer, outer, held);
    if (list && element) this.#element = withRest(this.#element, element, list.held);
  }

  /** Takes members that could not be converted, although canonical events usually hold them. */
  keep(outer: JsonObject, element?: JsonObject): void {
    this.#outer = { ...this.#outer, ...outer };
    if (element) this.#element = { ...this.#element, ...element };
  }

  /** Returns the members in their places; undefined if there are none. */
  get source(): Source | undefined {
    const { protocol, list } = this.#held;
    if (!this.#outer && !this.#element) return undefined;
    return {
      protocol,
      raw: { ...this.#outer, ...(list && this.#element && { [list.name]: [this.#element] }) },
    };
  }
}

/** Adds the remaining members of `object` to `kept`, which is created for the first one. */
function withRest(
  kept: MutableJsonObject | undefined,
  object: JsonObject,
  held: ReadonlySet<string>,
): MutableJsonObject | undefined {
  let rest = kept;
  for (const name in object) {
    const value = object[name];
    if (!isKept(name, value, held)) continue;
    rest ??= {};
    if (rest[name] === undefined || !isEmpty(value)) rest[name] = value;
  }
  return rest;
}

/** Members without a value are not kept, nor one whose name would change the prototype of a copy. */
function isKept(name: string, value: JsonValue | undefined, held: ReadonlySet<string>): boolean {
  return value !== null && value !== undefined && !held.has(name) && name !== '__proto__';
}

function isEmpty(value: JsonValue | undefined): boolean {
  return isJsonArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
}

/** Remaining members of the outer object, and of its list's element. */
export interface RestOfAnswer {
  readonly outer: JsonObject;
  readonly element: JsonObject;
}

export const NO_REST: RestOfAnswer = { outer: {}, element: {} };

/** Returns the remaining members of an answer from the client's own protocol. */
export function restOf(
  { source }: Pick<FinishEvent, 'source'>,
  { protocol, list }: HeldMembers,
): RestOfAnswer {
  if (source?.protocol !== protocol) return NO_REST;
  if (!list) return { outer: source.raw, element: NO_REST.element };
  const { [list.name]: elements, ...outer } = source.raw;
  return { outer, element: asObject(asArray(elements)[0]) };
}

/** Returns members as text that continues an object after its last member; '' if there are none. */
export function membersText(members: JsonObject): string {
  const text = JSON.stringify(members).slice(1, -1);
  return text === '' ? '' : `,${text}`;
}
